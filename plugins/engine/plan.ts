// Plan of what the core should run, with digests to compare it with what the core runs.
import { createHash } from 'node:crypto';
import { baseConfig, type Openness } from './base-config.js';
import type { Part } from './claims.js';
import type { AppliedDigests, CoreBase, CoreInbound, CoreUser, Json } from './driver.js';

export interface PlannedInbound extends CoreInbound {
  readonly id: number;
  readonly digest: string;
  /** the third-party plugin that added it */
  readonly plugin?: string;
  /** Users that stand in its config, as they were when the plan was made; absent when the core's API changes them. */
  readonly users?: readonly CoreUser[];
}
export interface Plan {
  readonly base: CoreBase;
  readonly baseDigest: string;
  /** by tag */
  readonly inbounds: ReadonlyMap<string, PlannedInbound>;
  /** its parts, with the plugins that added them */
  readonly parts: readonly Part[];
  /** parts that are left out: those of built-in plugins that clash, and those that the guard blocks; with the reasons */
  readonly leftOut: readonly string[];
}

const canonical = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner as Json)]),
  );
};
export const digestOf = (value: Json): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(value)))
    .digest('hex')
    .slice(0, 32);

/** Third-party plugins that added parts. */
export const thirdPartyPlugins = (parts: readonly Part[]): string[] => [
  ...new Set(parts.flatMap(({ plugin, outside }) => (outside ? [plugin] : []))),
];

export interface InboundIdentity extends Pick<CoreInbound, 'tag' | 'protocol'> {
  readonly id: number;
}
/** Users that must be in an inbound's config; undefined when the core's API changes its users. */
export type UsersInConfig = (inbound: InboundIdentity) => readonly CoreUser[] | undefined;

/** `parts` have unique tags. */
export function planOf(
  parts: readonly Part[],
  open: Openness,
  usersInConfig: UsersInConfig,
  leftOut: readonly string[] = [],
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
  return { base, baseDigest: digestOf(base), inbounds, parts, leftOut };
}

/** Returns the digests of a core that runs all of this plan. */
export const digestsOf = ({ baseDigest, inbounds }: Plan): AppliedDigests => ({
  base: baseDigest,
  inbounds: Object.fromEntries([...inbounds.values()].map(({ tag, digest }) => [tag, digest])),
});

/** Returns tags to put (new or changed) and tags to remove. */
export function difference(plan: Plan, digests: AppliedDigests): { put: PlannedInbound[]; remove: string[] } {
  return {
    put: [...plan.inbounds.values()].filter(({ tag, digest }) => digests.inbounds[tag] !== digest),
    remove: Object.keys(digests.inbounds).filter((tag) => !plan.inbounds.has(tag)),
  };
}
