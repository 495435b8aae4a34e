// Balancers that choose from no outbound, such as those of a list that is gone: the core would let their traffic leave by its
// first outbound, mostly directly.
import type { Json, JsonObject } from '../driver.js';

const textsOf = (value: Json | undefined): string[] =>
  [value].flat().filter((text): text is string => typeof text === 'string');

/** Returns the balancers; one without an outbound to choose, and without a fallback, chooses `nowhere`. An override still applies. */
export function withoutLeaks(
  balancers: readonly JsonObject[],
  outbounds: readonly string[],
  nowhere: string,
): readonly JsonObject[] {
  return balancers.map((balancer) => {
    const { selector, fallbackTag, strategy: _, ...rest } = balancer as Readonly<Record<string, Json>>;
    const falls = fallbackTag !== undefined && fallbackTag !== '';
    const chooses = textsOf(selector).some((text) => outbounds.some((tag) => tag.startsWith(text)));
    // Strategies that observe outbounds would not choose one that they do not observe.
    return falls || chooses ? balancer : { ...rest, selector: [nowhere], strategy: { type: 'random' } };
  });
}
