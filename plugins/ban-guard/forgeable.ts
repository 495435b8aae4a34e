// Inbounds that take an address from whoever sends a packet. What the core logs there may be the address of anybody.
import type { Inbound } from '../inbounds/contract.js';

/** WireGuard follows its peers to any address; mKCP answers before it knows that the sender is there. */
const PROTOCOLS = new Set(['wireguard', 'amneziawg']);
const NETWORKS = new Set(['kcp', 'mkcp']);

/** The core reads names in any case. An inbound that accepts the PROXY protocol accepts it from everybody who reaches the port. */
const acceptsProxyProtocol = (stream: object): boolean =>
  Object.entries(stream).some(
    ([key, value]) =>
      (key.toLowerCase() === 'acceptproxyprotocol' && value === true) ||
      (typeof value === 'object' && value !== null && acceptsProxyProtocol(value as object)),
  );

export const isForgeable = ({
  protocol,
  streamSettings,
}: Pick<Inbound, 'protocol' | 'streamSettings'>): boolean =>
  PROTOCOLS.has(protocol) ||
  NETWORKS.has(String((streamSettings as { network?: unknown }).network ?? '').toLowerCase()) ||
  acceptsProxyProtocol(streamSettings);
