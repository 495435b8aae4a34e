// What the core should run, composed anew from what plugins say, with digests to compare it with what it does run.
import { createHash } from 'node:crypto';
import { baseConfig, type Openness } from './base-config.js';
import type { Part } from './claims.js';
import type { CoreBase, CoreInbound, CoreRecord, CoreUser, Json } from './driver.js';

export interface PlannedInbound extends CoreInbound {
  readonly id: number;
  readonly digest: string;
  /** the plugin from outside that added it */
  readonly plugin?: string;
  /** Users that stand in its config, as they were when the plan was made; absent when the core's API changes them. */
  readonly users?: readonly CoreUser[];
}
export interface Plan {
  readonly base: CoreBase;
  readonly baseDigest: string;
  /** by tag */
  readonly inbounds: ReadonlyMap<string, PlannedInbound>;
  /** of which it was made, with who added them */
  readonly parts: readonly Part[];
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
export const digestOf = (value: Json): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
    .slice(0, 32);

/** Plugins from outside that have added parts. */
export const outsiders = (parts: readonly Part[]): string[] => [
  ...new Set(parts.flatMap(({ plugin, outside }) => (outside ? [plugin] : []))),
];

export interface InboundIdentity extends Pick<CoreInbound, 'tag' | 'protocol'> {
  readonly id: number;
}
/** Users that an inbound has to have in its config; undefined for one whose users the core's API changes. */
export type UsersInConfig = (inbound: InboundIdentity) => readonly CoreUser[] | undefined;

/** `parts` have tags of their own. */
export function planOf(
  parts: readonly Part[],
  open: Openness,
  usersInConfig: UsersInConfig,
  keptOut: readonly string[] = [],
): Plan {
  const inbounds = new Map<string, PlannedInbound>();
  for (const { entry, plugin, outside } of parts)
    if ('inbound' in entry) {
      const users = usersInConfig(entry.inbound);
      inbounds.set(entry.inbound.tag, {
        ...entry.inbound,
        ...(outside && { plugin }),
        ...(users && { users }),
        digest: digestOf([
          entry.inbound.config,
          entry.inbound.accounts ?? '',
          ...(users ? [users as unknown as Json] : []),
        ]),
      });
    }
  const entries = parts.map(({ entry }) => entry);
  const base = baseConfig({
    outbounds: entries.flatMap((part) => ('outbound' in part ? [part.outbound] : [])),
    rules: entries.flatMap((part) => ('rule' in part ? [part.rule] : [])),
    nameServers: entries.flatMap((part) => ('nameServer' in part ? [part.nameServer] : [])),
    open,
  });
  return { base, baseDigest: digestOf(base), inbounds, parts, keptOut };
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
