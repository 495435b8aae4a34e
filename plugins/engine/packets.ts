// UDP: the core's rules judge the first packet of a session, its freedom sends every packet to that packet's own address.
// Where a freedom dials through another outbound it hands over the bytes of a packet and not its address, so that all
// packets of a session go where the first one was let go.
import type { Json, JsonObject } from './driver.js';

const packetsOf = (tag: string): string => `weir.udp.${tag}`;

/** The outbound that takes the packets in the place of this freedom. IPv4 first is how the core looked names up before. */
export const forPackets = (freedom: string): JsonObject => ({
  tag: packetsOf(freedom),
  protocol: 'freedom',
  settings: { domainStrategy: 'ForceIPv4v6' },
  streamSettings: { sockopt: { dialerProxy: freedom } },
});

const networksOf = (rule: JsonObject): readonly string[] => {
  const { network = 'tcp,udp' } = rule as { readonly network?: Json };
  const names = Array.isArray(network) ? (network as readonly Json[]) : String(network).split(',');
  return names.map((name) => String(name).trim().toLowerCase());
};

/** The rule, and where it leads to a freedom, one rule for each network. */
export function splitByNetwork(rule: JsonObject, freedoms: ReadonlySet<string>): JsonObject[] {
  const { outboundTag, ruleTag } = rule as { readonly outboundTag?: Json; readonly ruleTag?: Json };
  if (typeof outboundTag !== 'string' || !freedoms.has(outboundTag)) return [rule];
  const networks = networksOf(rule);
  const others = networks.filter((network) => network !== 'udp');
  const packets = {
    ...rule,
    network: 'udp',
    outboundTag: packetsOf(outboundTag),
    // The core refuses a second rule with the same tag.
    ...(typeof ruleTag === 'string' && { ruleTag: packetsOf(ruleTag) }),
  };
  return [
    ...(networks.includes('udp') ? [packets] : []),
    ...(others.length > 0 ? [{ ...rule, network: others.join(',') }] : []),
  ];
}

/**
 * What no rule takes leaves by the first outbound, which is the one for packets: whatever comes to it is safe. Streams
 * need no second outbound in between and go past it. Where added rules ask for addresses, the rule waits for the address
 * of a name like those, for the core looks names up only when no rule takes the name itself.
 */
export const remainingStreams = (freedom: string, rulesAskForAddresses: boolean): JsonObject => ({
  type: 'field',
  network: 'tcp',
  ...(rulesAskForAddresses && { ip: ['0.0.0.0/0', '::/0'] }),
  outboundTag: freedom,
});
