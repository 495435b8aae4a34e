// UDP: the core's rules check the first packet of a session, but a freedom outbound sends each packet to its own address.
// A freedom that dials through another outbound passes on the bytes of a packet without its address, so all packets of a
// session go to the checked address of the first one.
import type { Json, JsonObject } from '../driver.js';

/** Tag of the outbound that takes the packets of a freedom. */
const PACKETS = 'weir.udp.';
export const packetsOf = (tag: string): string => `${PACKETS}${tag}`;
/** Returns the tag of the freedom whose packets an outbound takes, or the same tag. */
export const plainOutboundTag = (tag: string): string =>
  tag.startsWith(PACKETS) ? tag.slice(PACKETS.length) : tag;

/** Returns the outbound that takes the packets instead of this freedom. IPv4 first, as without it. */
export const forPackets = (freedom: string): JsonObject => ({
  tag: packetsOf(freedom),
  protocol: 'freedom',
  settings: { domainStrategy: 'ForceIPv4v6' },
  streamSettings: { sockopt: { dialerProxy: freedom } },
});

/** For an outbound that leads elsewhere, which gets names as they are. */
export const passingPackets = (tag: string): JsonObject => ({
  ...forPackets(tag),
  settings: { domainStrategy: 'AsIs' },
});

const networksOf = (rule: JsonObject): readonly string[] => {
  const { network = 'tcp,udp' } = rule as { readonly network?: Json };
  const names = Array.isArray(network) ? (network as readonly Json[]) : String(network).split(',');
  return names.map((name) => String(name).trim().toLowerCase());
};

/** Where the packets of a rule go instead; undefined when they go where its streams do. */
function packetTarget(
  { outboundTag, balancerTag }: { readonly outboundTag?: Json; readonly balancerTag?: Json },
  freedoms: ReadonlySet<string>,
  pools: ReadonlySet<string>,
): JsonObject | undefined {
  // The core reads the outbound first.
  if (typeof outboundTag === 'string' && outboundTag !== '')
    return freedoms.has(outboundTag) ? { outboundTag: packetsOf(outboundTag) } : undefined;
  return typeof balancerTag === 'string' && pools.has(balancerTag)
    ? { balancerTag: packetsOf(balancerTag) }
    : undefined;
}

/** Returns the rule; where it leads to a freedom, or to a balancer that may choose one, one rule per network. */
export function splitByNetwork(
  rule: JsonObject,
  freedoms: ReadonlySet<string>,
  pools: ReadonlySet<string> = new Set(),
): JsonObject[] {
  const { ruleTag } = rule as { readonly ruleTag?: Json };
  const target = packetTarget(rule, freedoms, pools);
  if (!target) return [rule];
  const networks = networksOf(rule);
  const others = networks.filter((network) => network !== 'udp');
  const packets = {
    ...rule,
    network: 'udp',
    ...target,
    // The core rejects a second rule with the same tag.
    ...(typeof ruleTag === 'string' && { ruleTag: packetsOf(ruleTag) }),
  };
  return [
    ...(networks.includes('udp') ? [packets] : []),
    ...(others.length > 0 ? [{ ...rule, network: others.join(',') }] : []),
  ];
}

/**
 * The rule for traffic that no other rule takes. Where added rules match addresses, it also waits for the address of a
 * name: the core looks names up only when no rule matches the name itself. A name without an address matches no rule then,
 * and leaves by the first outbound.
 */
export const remaining = (
  outboundTag: string,
  network: 'tcp' | 'udp' | 'tcp,udp',
  rulesAskForAddresses: boolean,
): JsonObject => ({
  type: 'field',
  network,
  ...(rulesAskForAddresses && { ip: ['0.0.0.0/0', '::/0'] }),
  outboundTag,
});
