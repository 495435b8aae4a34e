// Keeps users of the core away from the panel. One who connects through the core to a public address of this machine
// comes from that same address, past any firewall. Loopback and private addresses are blocked for them anyway.
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalAddress } from '../../kernel/index.js';
import { isPrivate } from '../core-guard/contract.js';

/** Read again each time: addresses change while the panel runs. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

/** Whether this connection comes from a public address of this machine itself. */
export function comesFromOurAddress({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): boolean {
  const address = canonicalAddress(remoteAddress) ?? remoteAddress;
  return !isPrivate(address) && ownAddresses().includes(address);
}
