// What the core should run, composed anew from what plugins say, with digests to compare it with what it does run.
import { createHash } from 'node:crypto';
import type { Hooks } from '../../kernel/index.js';
import type { CoreGuardApi } from '../core-guard/contract.js';
import { baseConfig } from './base-config.js';
import { composeCoreConfig } from './contract.js';
import type { CoreBase, CoreInbound, CoreRecord, Json } from './driver.js';
import { keepOut } from './keep-out.js';

export interface PlannedInbound extends CoreInbound {
  readonly id: number;
  readonly digest: string;
}
export interface Plan {
  readonly base: CoreBase;
  readonly baseDigest: string;
  /** by tag */
  readonly inbounds: ReadonlyMap<string, PlannedInbound>;
  /** what is kept out of the core, each with the reason */
  readonly keptOut: readonly string[];
}

const sorted = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner as Json)]),
  );
};
const digestOf = (value: Json): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
    .slice(0, 32);

export async function composePlan(hooks: Hooks, guard: CoreGuardApi, allowPrivate: boolean): Promise<Plan> {
  const composed = (await hooks.compose(composeCoreConfig, undefined)).map(({ entry }) => entry);
  const { parts, keptOut } = await keepOut(composed, guard);
  const inbounds = new Map<string, PlannedInbound>();
  for (const part of parts)
    if ('inbound' in part)
      inbounds.set(part.inbound.tag, {
        ...part.inbound,
        digest: digestOf([part.inbound.config, part.inbound.accounts ?? '']),
      });
  const base = baseConfig({
    outbounds: parts.flatMap((part) => ('outbound' in part ? [part.outbound] : [])),
    rules: parts.flatMap((part) => ('rule' in part ? [part.rule] : [])),
    allowPrivate,
  });
  return { base, baseDigest: digestOf(base), inbounds, keptOut };
}

/** The record of a core that runs this plan whole. */
export const recordOf = ({ baseDigest, inbounds }: Plan): CoreRecord => ({
  base: baseDigest,
  inbounds: Object.fromEntries([...inbounds.values()].map(({ tag, digest }) => [tag, digest])),
});

/** Tags to put (new or changed) and tags to remove. */
export function difference(plan: Plan, record: CoreRecord): { put: PlannedInbound[]; remove: string[] } {
  return {
    put: [...plan.inbounds.values()].filter(({ tag, digest }) => record.inbounds[tag] !== digest),
    remove: Object.keys(record.inbounds).filter((tag) => !plan.inbounds.has(tag)),
  };
}
