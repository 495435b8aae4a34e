// Rules and balancers that lead to something that no part adds. The core takes such a rule and closes every connection that
// it applies to; a rule for a missing balancer it rejects.
import { OWN_OUTBOUNDS } from './base-config.js';
import type { Part } from './claims.js';
import type { CorePart, PartProblem } from '../contract.js';
import type { Json, JsonObject } from '../driver.js';

interface Names {
  readonly outbounds: ReadonlySet<Json | undefined>;
  readonly balancers: ReadonlySet<Json | undefined>;
}

function namesIn(parts: readonly Part[]): Names {
  const entries = parts.map(({ entry }) => entry);
  const tagOf = ({ tag }: JsonObject): Json | undefined => tag;
  return {
    outbounds: new Set([
      ...OWN_OUTBOUNDS,
      ...entries.flatMap((part) => ('outbound' in part ? [tagOf(part.outbound)] : [])),
    ]),
    balancers: new Set(entries.flatMap((part) => ('balancer' in part ? [tagOf(part.balancer)] : []))),
  };
}

const listed = (names: ReadonlySet<Json | undefined>): string =>
  names.size === 0 ? 'there are none' : `there are ${[...names].slice(0, 20).join(', ')}`;

function reason(part: CorePart, { outbounds, balancers }: Names): string | undefined {
  if ('balancer' in part) {
    const { fallbackTag } = part.balancer as { readonly fallbackTag?: Json };
    return fallbackTag === undefined || fallbackTag === '' || outbounds.has(fallbackTag)
      ? undefined
      : `fallbackTag: no outbound has the tag ${JSON.stringify(fallbackTag)}; ${listed(outbounds)}`;
  }
  if (!('rule' in part)) return undefined;
  const { outboundTag, balancerTag } = part.rule as { outboundTag?: Json; balancerTag?: Json };
  // The core reads the outbound first.
  if (outboundTag !== undefined && outboundTag !== '')
    return outbounds.has(outboundTag)
      ? undefined
      : `outboundTag: no outbound has the tag ${JSON.stringify(outboundTag)}; ${listed(outbounds)}`;
  if (balancerTag === undefined || balancerTag === '') return 'it needs an outboundTag or a balancerTag';
  return balancers.has(balancerTag)
    ? undefined
    : `balancerTag: no balancer has the tag ${JSON.stringify(balancerTag)}; ${listed(balancers)}`;
}

/** Returns the reasons against those of the parts that are in `among`. */
export function deadEnds(parts: readonly Part[], among: ReadonlySet<CorePart>): PartProblem[] {
  const names = namesIn(parts);
  return parts.flatMap(({ entry }) => {
    const found = among.has(entry) ? reason(entry, names) : undefined;
    return found === undefined ? [] : [{ part: entry, reason: found }];
  });
}

export function withoutDeadEnds(parts: readonly Part[]): Part[] {
  const names = namesIn(parts);
  return parts.filter(({ entry }) => reason(entry, names) === undefined);
}
