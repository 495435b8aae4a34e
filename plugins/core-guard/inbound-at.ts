// Which inbound answers at a destination of a fallback.
import { isIPv4 } from 'node:net';
import { hostOf, reachOf } from './address.js';
import type { ListeningPlace } from './contract.js';
import { destinationOf } from './destination.js';
import { socketName } from './socket-name.js';

/** Whether a connection to this address of this machine arrives at the inbound, if it is enabled. */
export function listensAt(
  { listen, port }: ListeningPlace,
  to: { readonly address: string; readonly port: number },
): boolean {
  if (port !== to.port) return false;
  const at = hostOf(typeof listen === 'string' && listen !== '' ? listen : '0.0.0.0');
  if (!at || !('address' in at)) return false;
  const target = { '0.0.0.0': '127.0.0.1', '::': '::1' }[to.address] ?? to.address;
  return at.address === '::' || at.address === target || (at.address === '0.0.0.0' && isIPv4(target));
}

/** Returns the inbound, enabled or not, at which a connection to this destination of a fallback arrives. */
export function inboundAt<I extends ListeningPlace>(
  destination: unknown,
  inbounds: readonly I[],
): I | undefined {
  const to = destinationOf(destination);
  if (to.kind === 'socket') {
    const name = socketName(to.path);
    return inbounds.find(({ listen }) => socketName(listen) === name);
  }
  if (to.kind !== 'address' || reachOf(to.address) !== 'own') return undefined;
  return inbounds.find((inbound) => listensAt(inbound, to));
}
