// Plan of what the core should run, with digests to compare it with what the core runs.
import { baseConfig, type Openness, type SectionName } from './base-config.js';
import type { Part } from './claims.js';
import { digestOf } from './digest.js';
import type {
  AppliedDigests,
  BaseChange,
  BaseDigests,
  CoreBase,
  CoreInbound,
  CoreUser,
  Json,
  JsonObject,
} from '../driver.js';

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
  readonly digests: BaseDigests;
  /** by tag */
  readonly inbounds: ReadonlyMap<string, PlannedInbound>;
  /** its parts, with the plugins that added them */
  readonly parts: readonly Part[];
  /** parts that are left out: those of built-in plugins that clash, and those that the guard blocks; with the reasons */
  readonly leftOut: readonly string[];
}

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
  const base = baseOf(parts, open);
  return { base, digests: baseDigests(base), inbounds, parts, leftOut };
}

function baseOf(parts: readonly Part[], open: Openness): CoreBase {
  const entries = parts.map(({ entry }) => entry);
  const first = entries.find((part) => 'outbound' in part && part.isDefault);
  const sections: Partial<Record<SectionName, Json>> = {};
  for (const { entry, madeOf } of parts)
    if ('section' in entry)
      sections[entry.section] =
        madeOf === undefined || Array.isArray(entry.value)
          ? entry.value
          : { ...(entry.value as JsonObject), madeOf };
  return baseConfig({
    outbounds: entries.flatMap((part) => ('outbound' in part ? [part.outbound] : [])),
    // The core does not know the key; it changes the digest of the rule, which is then given to the core again.
    rules: parts.flatMap(({ entry, madeOf }) =>
      'rule' in entry ? [madeOf === undefined ? entry.rule : { ...entry.rule, madeOf }] : [],
    ),
    balancers: entries.flatMap((part) => ('balancer' in part ? [part.balancer] : [])),
    nameServers: parts.flatMap(({ entry, madeOf }) =>
      'nameServer' in entry ? [markedServer(entry.nameServer, madeOf)] : [],
    ),
    sections,
    defaultTag: first && 'outbound' in first ? String(first.outbound['tag']) : undefined,
    looksUp: entries.some((part) => 'rule' in part && 'ip' in part.rule && part.looksUp !== false),
    open,
  });
}

const markedServer = (server: string | JsonObject, madeOf: string | undefined): string | JsonObject =>
  madeOf === undefined || typeof server === 'string' ? server : { ...server, madeOf };

interface Routing {
  readonly rules: readonly { readonly ruleTag: string }[];
  readonly balancers: readonly { readonly tag: string }[];
}
const tagOf = ({ tag }: JsonObject): string => String(tag);

/** Digests of a base that `baseConfig` has made: its tags of rules and balancers contain digests. */
function baseDigests({ outbounds, routing, ...fixed }: CoreBase): BaseDigests {
  const list = outbounds as readonly JsonObject[];
  const { rules, balancers } = routing as unknown as Routing;
  return {
    base: digestOf(fixed),
    outbounds: Object.fromEntries(list.map((outbound) => [tagOf(outbound), digestOf(outbound)])),
    first: list[0] ? tagOf(list[0]) : '',
    rules: digestOf([rules.map(({ ruleTag }) => ruleTag), balancers.map(({ tag }) => tag)]),
  };
}

/** Returns the digests of a core that runs all of this plan. */
export const digestsOf = ({ digests, inbounds }: Plan): AppliedDigests => ({
  ...digests,
  inbounds: Object.fromEntries([...inbounds.values()].map(({ tag, digest }) => [tag, digest])),
});

/** What differs in the base: nothing, what a running core can change, or more. */
export type BaseDifference = 'none' | 'restart' | BaseChange;
export function baseDifference({ digests: next }: Plan, running: BaseDigests): BaseDifference {
  if (next.base !== running.base) return 'restart';
  const put = Object.keys(next.outbounds).filter((tag) => next.outbounds[tag] !== running.outbounds[tag]);
  const remove = Object.keys(running.outbounds).filter((tag) => !Object.hasOwn(next.outbounds, tag));
  const rules = next.rules !== running.rules;
  if (next.first === running.first)
    return put.length + remove.length > 0 || rules ? { put, remove, rules } : 'none';
  return { put, remove, rules, previousFirst: running.first };
}

/** Returns tags to put (new or changed) and tags to remove. */
export function difference(plan: Plan, digests: AppliedDigests): { put: PlannedInbound[]; remove: string[] } {
  return {
    put: [...plan.inbounds.values()].filter(({ tag, digest }) => digests.inbounds[tag] !== digest),
    remove: Object.keys(digests.inbounds).filter((tag) => !plan.inbounds.has(tag)),
  };
}
