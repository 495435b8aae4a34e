// Keeps users of the core away from the panel. One who connects through the core to a public address of this machine
// comes from that same address, past any firewall, or from another address of this machine that an outbound names in
// `sendThrough`. Loopback and private addresses are blocked for them anyway.
import type { Socket } from 'node:net';
import { canonicalAddress } from '../../kernel/index.js';
import { isPrivate, plainAddress, reachOf } from '../core-guard/contract.js';

const isPublic = (address: string): boolean => !isPrivate(canonicalAddress(address) ?? address);

/** Whether this connection comes from this machine itself and has a public address at one of its ends. The addresses are read again each time: they change while the panel runs. */
export function comesFromOurAddress({
  remoteAddress = '',
  localAddress = '',
}: Pick<Socket, 'remoteAddress' | 'localAddress'>): boolean {
  if (remoteAddress === '' || reachOf(plainAddress(remoteAddress)) !== 'own') return false;
  return isPublic(remoteAddress) || (localAddress !== '' && isPublic(localAddress));
}
