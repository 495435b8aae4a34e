// Where an inbound listens: on a port of an address over TCP, UDP or both, or on a Unix socket, of its machine.
import { canonicalAddress } from '../../../kernel/index.js';
import { isSocket, socketName } from '../../core-guard/contract.js';
import type { L4, Protocol } from '../contract.js';
import type { Inbound } from '../fields.js';
import { transportL4 } from '../stream/stream.js';

export type Place = Pick<Inbound, 'listen' | 'port' | 'nodeId'> & { readonly originGuid?: string };

const EVERYWHERE = new Set(['', '0.0.0.0', '::']);

/** Returns one spelling for each address: IPv6 has many, and the core reads localhost as 127.0.0.1. */
function addressOf(listen: string): string {
  const name = listen.toLowerCase();
  if (name === 'localhost') return '127.0.0.1';
  return canonicalAddress(name) ?? name;
}

/** Returns the key of all inbounds that may be in each other's way; undefined for one that listens nowhere. */
export function placeKey({ listen, port, nodeId, originGuid = '' }: Place): string | number | undefined {
  const key = socketName(listen) ?? (port === 0 ? undefined : port);
  return nodeId === null || key === undefined ? key : `node ${nodeId} ${originGuid} ${key}`;
}

/** Whether one of two that have the same key is in the way of the other. */
export function overlaps(a: Place, b: Place): boolean {
  if (placeKey(a) === undefined || placeKey(a) !== placeKey(b)) return false;
  if (isSocket(a.listen)) return true;
  const [one, other] = [addressOf(a.listen), addressOf(b.listen)];
  return one === other || EVERYWHERE.has(one) || EVERYWHERE.has(other);
}

/** Returns what an inbound listens on; nothing for a socket, and where the protocol listens on no port. */
export function l4Of(
  protocol: Protocol | undefined,
  inbound: Pick<Inbound, 'listen' | 'settings' | 'streamSettings'>,
): readonly L4[] {
  if (isSocket(inbound.listen)) return [];
  return protocol?.l4?.(inbound) ?? [transportL4(inbound.streamSettings)];
}

/** `tcp`, `udp` or `tcpudp`; `tcp` for one that listens on neither. */
export const l4Name = (l4: readonly L4[]): string =>
  (['tcp', 'udp'] as const).filter((one) => l4.includes(one)).join('') || 'tcp';
