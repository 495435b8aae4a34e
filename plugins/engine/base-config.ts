// The core's config without inbounds: where traffic leaves, and what users of the core must not reach.
import { PRIVATE_RANGES } from '../core-guard/contract.js';
import type { CoreBase, JsonObject } from './driver.js';
import { checkedDns, nameServerOutbound, nameServerRule, withCheckedNames } from './checked-dns.js';
import { forPackets, remainingTcp, splitByNetwork } from './udp-outbounds.js';

/** Which addresses users of the core may reach. */
export interface Openness {
  /** loopback and private addresses of this machine and its network, and all that follows from it */
  readonly private: 'allow' | 'block';
  /** `single`: all packets of a UDP session go to the checked address of its first one; `cone`: each to its own, unchecked */
  readonly udp: 'single' | 'cone';
}

export interface BaseParts {
  readonly outbounds: readonly JsonObject[];
  readonly rules: readonly JsonObject[];
  /** instead of the system's resolver */
  readonly nameServers: readonly (string | JsonObject)[];
  readonly open: Openness;
}

const DIRECT = 'direct';
const own: readonly JsonObject[] = [
  { tag: DIRECT, protocol: 'freedom' },
  { tag: 'blocked', protocol: 'blackhole' },
];
/** Tags of the outbounds that are always there. */
export const OWN_OUTBOUNDS: readonly string[] = own.map(({ tag }) => String(tag));
const blockPrivate: readonly JsonObject[] = [
  { type: 'field', domain: ['full:localhost', 'domain:localhost'], outboundTag: 'blocked' },
  { type: 'field', ip: PRIVATE_RANGES, outboundTag: 'blocked' },
];

const protocolOf = ({ protocol }: JsonObject): string => String(protocol).toLowerCase();
const isFreedom = (outbound: JsonObject): boolean => ['freedom', 'direct'].includes(protocolOf(outbound));
const dialsForUsers = (outbound: JsonObject): boolean =>
  isFreedom(outbound) || protocolOf(outbound) === 'dns';

export function baseConfig(parts: BaseParts): CoreBase {
  return parts.open.private === 'allow' ? openBase(parts) : guardedBase(parts);
}

function openBase({ outbounds, rules, nameServers }: BaseParts): CoreBase {
  return {
    outbounds: [...own, ...outbounds],
    ...(nameServers.length > 0 && { dns: { servers: nameServers } }),
    routing: { domainStrategy: 'AsIs', rules },
  };
}

/** Blocks private targets before all added rules, and protects added outbounds like our own. */
function guardedBase({ outbounds, rules, nameServers, open }: BaseParts): CoreBase {
  const guarded = [...own, ...outbounds].map((outbound) =>
    dialsForUsers(outbound) ? withCheckedNames(outbound) : outbound,
  );
  const single = open.udp === 'single';
  const tags = single ? guarded.filter(isFreedom).flatMap(({ tag }) => (tag ? [String(tag)] : [])) : [];
  const asksServers = nameServers.length > 0;
  const asksForAddresses = rules.some((rule) => 'ip' in rule);
  return {
    outbounds: [...tags.map(forPackets), ...guarded, ...(asksServers ? [nameServerOutbound] : [])],
    dns: checkedDns(nameServers),
    routing: {
      // Names need no rule to be safe; added rules on addresses need names looked up. Never on demand: with a sniffed
      // name the core would check the addresses of that name and then dial another address.
      domainStrategy: asksForAddresses ? 'IPIfNonMatch' : 'AsIs',
      rules: [
        ...(asksServers ? [nameServerRule] : []),
        ...blockPrivate,
        ...rules.flatMap((rule) => splitByNetwork(rule, new Set(tags))),
        ...(single ? [remainingTcp(DIRECT, asksForAddresses)] : []),
      ],
    },
  };
}
