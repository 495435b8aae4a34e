// UDP of balancers: each has a second one for packets, which chooses the outbound for packets of a freedom instead of the
// freedom (see udp-outbounds.ts). Also one that chooses no freedom: an admin may override its choice.
import type { CoreBase, Json, JsonObject } from '../driver.js';
import { packetsOf } from './udp-outbounds.js';

export interface PacketPools {
  /** for packets only */
  readonly balancers: readonly JsonObject[];
  /** of the balancers that have one */
  readonly tags: ReadonlySet<string>;
  /** tags of outbounds that lead elsewhere and need an outbound for packets all the same */
  readonly passing: readonly string[];
}

const listOf = (value: Json | undefined): string[] =>
  [value].flat().filter((text): text is string => typeof text === 'string');

/** @param outbounds tags of all */
export function packetPools(
  balancers: readonly JsonObject[],
  outbounds: readonly string[],
  freedoms: readonly string[],
): PacketPools {
  const direct = new Set(freedoms);
  const passing = new Set<string>();
  const pools: JsonObject[] = [];
  const tags = new Set<string>();
  /** Many balancers name the same beginnings. */
  const known = new Map<string, { readonly isWide: boolean; readonly chosen: readonly string[] }>();
  const beginning = (text: string) => {
    const found = known.get(text) ?? {
      isWide: freedoms.some((freedom) => freedom.startsWith(text)),
      chosen: outbounds.filter((one) => one.startsWith(text)),
    };
    known.set(text, found);
    return found;
  };
  const forOne = (tag: string): string => {
    if (direct.has(tag)) return packetsOf(tag);
    // The core chooses by beginnings: this tag alone would take the freedom in.
    if (!beginning(tag).isWide) return tag;
    passing.add(tag);
    return packetsOf(tag);
  };
  for (const balancer of freedoms.length > 0 ? balancers : []) {
    const { tag, selector, fallbackTag } = balancer as Readonly<Record<string, Json>>;
    const wide = new Set(listOf(selector).filter((text) => beginning(text).isWide));
    const fallsBack = typeof fallbackTag === 'string' && direct.has(fallbackTag);
    const chosen = new Set([...wide].flatMap((text) => beginning(text).chosen));
    const narrow = outbounds.filter((one) => chosen.has(one)).map(forOne);
    tags.add(String(tag));
    pools.push({
      ...balancer,
      tag: packetsOf(String(tag)),
      selector: [...listOf(selector).filter((text) => !wide.has(text)), ...narrow],
      ...(fallsBack && { fallbackTag: packetsOf(fallbackTag) }),
    });
  }
  return { balancers: pools, tags, passing: [...passing] };
}

/** Sections that observe outbounds, which observe those for packets of balancers as well: else none of them is known to work. */
export function observedPackets(sections: Readonly<Record<string, Json>>, base: CoreBase): JsonObject {
  const { balancers = [] } = base['routing'] as { readonly balancers?: readonly JsonObject[] };
  const chosen = balancers.flatMap(({ selector }) =>
    listOf(selector).filter((text) => text.startsWith(packetsOf(''))),
  );
  if (chosen.length === 0) return {};
  const more = ([name, section]: [string, Json]): [string, Json][] => {
    if (name !== 'observatory' && name !== 'burstObservatory') return [];
    const { subjectSelector } = section as { readonly subjectSelector?: Json };
    const subjects = listOf(subjectSelector);
    const unseen = chosen.filter((tag) => subjects.some((text) => tag.startsWith(packetsOf(text))));
    return unseen.length === 0
      ? []
      : [[name, { ...(section as JsonObject), subjectSelector: [...new Set([...subjects, ...unseen])] }]];
  };
  return Object.fromEntries(Object.entries(sections).flatMap(more));
}
