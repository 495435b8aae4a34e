// The core's config without inbounds: where traffic leaves, and what users of the core must not reach.
import { PRIVATE_RANGES } from '../../core-guard/contract.js';
import type { CoreBase, Json, JsonObject } from '../driver.js';
import { checkedDns, nameServerOutbound, nameServerRule, withCheckedNames } from './checked-dns.js';
import { withoutLeaks } from './empty-balancers.js';
import { taggedRouting } from './routing-tags.js';
import { observedPackets, packetPools } from './udp-balancers.js';
import { forPackets, packetsOf, passingPackets, remaining, splitByNetwork } from './udp-outbounds.js';

/** Which addresses users of the core may reach. */
export interface Openness {
  /** loopback and private addresses of this machine and its network, and all that follows from it */
  readonly private: 'allow' | 'block';
  /** `single`: all packets of a UDP session go to the checked address of its first one; `cone`: each to its own, unchecked */
  readonly udp: 'single' | 'cone';
}

/** Parts of the config of which there is one each. */
export const SECTIONS = [
  'dns',
  'policy',
  'log',
  'observatory',
  'burstObservatory',
  'fakeDns',
  'reverse',
] as const;
export type SectionName = (typeof SECTIONS)[number];

export interface BaseParts {
  readonly outbounds: readonly JsonObject[];
  readonly rules: readonly JsonObject[];
  readonly balancers?: readonly JsonObject[];
  /** instead of the system's resolver */
  readonly nameServers: readonly (string | JsonObject)[];
  readonly sections?: Readonly<Partial<Record<SectionName, Json>>>;
  /** tag of the outbound for what no rule takes; `direct` without it */
  readonly defaultTag?: string | undefined;
  /** whether the addresses of a name are looked up for rules that match addresses */
  readonly looksUp?: boolean;
  readonly open: Openness;
}

const DIRECT = 'direct';
const own: readonly JsonObject[] = [
  { tag: DIRECT, protocol: 'freedom' },
  { tag: 'blocked', protocol: 'blackhole' },
];
/** Tags of outbounds that are always there; a built-in plugin may add its own in their place. */
export const OWN_OUTBOUNDS: readonly string[] = own.map(({ tag }) => String(tag));
/** For our own rules: what is called `blocked` may be replaced. */
const NOWHERE = 'weir.blocked';
/** Beginning of the tag of an outbound that blocks all. */
export const nowhere = (open: Openness): string => (open.private === 'allow' ? 'blocked' : NOWHERE);
const blockPrivate: readonly JsonObject[] = [
  { type: 'field', domain: ['full:localhost', 'domain:localhost'], outboundTag: NOWHERE },
  { type: 'field', ip: PRIVATE_RANGES, outboundTag: NOWHERE },
];

const protocolOf = ({ protocol }: JsonObject): string => String(protocol).toLowerCase();
const tagOf = ({ tag }: JsonObject): string => String(tag);
const isFreedom = (outbound: JsonObject): boolean => ['freedom', 'direct'].includes(protocolOf(outbound));
const dialsForUsers = (outbound: JsonObject): boolean =>
  isFreedom(outbound) || protocolOf(outbound) === 'dns';

/**
 * Composes the base. Its first outbound is the core's default. The last rules lead there too, so that traffic has a way
 * while an outbound is replaced in a running core, and the order of the other outbounds does not matter.
 */
export function baseConfig(parts: BaseParts): CoreBase {
  const { outbounds, sections, defaultTag = DIRECT } = parts;
  const taken = new Set(outbounds.map(({ tag }) => tag));
  const all = [...own.filter(({ tag }) => !taken.has(tag ?? '')), ...outbounds];
  const first = all.find(({ tag }) => tag === defaultTag) ?? all[0];
  const ordered = [...(first ? [first] : []), ...all.filter((outbound) => outbound !== first)];
  const { dns, ...others } = sections ?? {};
  const compose = parts.open.private === 'allow' ? openBase : guardedBase;
  const balancers = withoutLeaks(parts.balancers ?? [], ordered.map(tagOf), NOWHERE);
  const base = compose({ ...parts, outbounds: ordered, balancers }, dns);
  return { ...others, ...observedPackets(others, base), ...base };
}

/** Names need no look-up to be safe. It happens only where the last rule waits for addresses; see `remaining`. */
const LOOK_UP = 'IPIfNonMatch';
const asksForAddresses = ({ rules, looksUp = true }: BaseParts): boolean =>
  looksUp && rules.some((rule) => 'ip' in rule);

function openBase(parts: BaseParts, dns: Json | undefined): CoreBase {
  const { outbounds, rules, balancers = [], nameServers } = parts;
  const settings = {
    ...(dns as JsonObject | undefined),
    ...(nameServers.length > 0 && { servers: nameServers }),
  };
  const isUsed = balancers.some(({ selector }) => String(selector) === NOWHERE);
  return {
    outbounds: isUsed ? [...outbounds, { tag: NOWHERE, protocol: 'blackhole' }] : outbounds,
    ...(Object.keys(settings).length > 0 && { dns: settings }),
    routing: {
      domainStrategy: LOOK_UP,
      ...taggedRouting(
        [...rules, remaining(String(outbounds[0]?.['tag']), 'tcp,udp', asksForAddresses(parts))],
        balancers,
      ),
    },
  };
}

/** Blocks private targets before all added rules, and protects added outbounds like our own. */
function guardedBase(parts: BaseParts, dns: Json | undefined): CoreBase {
  const { outbounds, rules, balancers = [], nameServers, open } = parts;
  const guarded = outbounds.map((outbound) =>
    dialsForUsers(outbound) ? withCheckedNames(outbound) : outbound,
  );
  const single = open.udp === 'single';
  const freedoms = single ? guarded.filter(isFreedom).map(tagOf) : [];
  const first = String(guarded[0]?.['tag']);
  const asksServers = nameServers.length > 0;
  const asks = asksForAddresses(parts);
  const pools = packetPools(balancers, guarded.map(tagOf), freedoms);
  const twins = [...freedoms.map(forPackets), ...pools.passing.map(passingPackets)];
  const leading = freedoms.includes(first) ? [] : guarded.slice(0, 1);
  return {
    outbounds: [
      ...leading,
      ...twins,
      ...guarded.slice(leading.length),
      { tag: NOWHERE, protocol: 'blackhole' },
      ...(asksServers ? [nameServerOutbound] : []),
    ],
    dns: checkedDns(nameServers, dns as JsonObject | undefined),
    routing: {
      // Never on demand: with a sniffed name the core would check the addresses of that name and then dial another address.
      domainStrategy: LOOK_UP,
      ...taggedRouting(
        [
          ...(asksServers ? [nameServerRule] : []),
          ...blockPrivate,
          ...rules.flatMap((rule) => splitByNetwork(rule, new Set(freedoms), pools.tags)),
          ...(freedoms.includes(first)
            ? [remaining(packetsOf(first), 'udp', asks), remaining(first, 'tcp', asks)]
            : [remaining(first, 'tcp,udp', asks)]),
        ],
        [...balancers, ...pools.balancers],
      ),
    },
  };
}
