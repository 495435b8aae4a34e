// Balancers that choose from no outbound, such as those of a list that is gone: the core would let their traffic leave by its
// first outbound, mostly directly.
import type { Json, JsonObject } from '../driver.js';

const textsOf = (value: Json | undefined): string[] =>
  [value].flat().filter((text): text is string => typeof text === 'string');

/** They choose only among outbounds that are observed, and need no more than that for a fallback. */
const observes = (strategy: Json | undefined): boolean => {
  const { type } = Object(strategy) as { readonly type?: unknown };
  return ['leastping', 'leastload'].includes(String(type).toLowerCase());
};

/**
 * Returns the balancers; one without an outbound to choose, and without a fallback, chooses `nowhere`. An override still
 * applies. The strategy stays, so that the core tests it.
 */
export function withoutLeaks(
  balancers: readonly JsonObject[],
  outbounds: readonly string[],
  nowhere: string,
): readonly JsonObject[] {
  return balancers.map((balancer) => {
    const { selector, fallbackTag, strategy } = balancer as Readonly<Record<string, Json>>;
    const falls = fallbackTag !== undefined && fallbackTag !== '';
    const chooses = textsOf(selector).some((text) => outbounds.some((tag) => tag.startsWith(text)));
    if (falls || chooses) return balancer;
    return { ...balancer, selector: [nowhere], ...(observes(strategy) && { fallbackTag: nowhere }) };
  });
}
