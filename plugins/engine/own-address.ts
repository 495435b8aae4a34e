// The panel does not listen to users of the core: one who goes through it to a public address of this machine comes from
// that same address, and no firewall stands in between. Loopback and private addresses are closed to them anyway.
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalAddress } from '../../kernel/index.js';
import { isPrivate } from '../core-guard/contract.js';

/** Addresses come and go while the panel runs, so they are read again each time. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

/** Whether this connection comes from a public address of this machine itself. */
export function comesFromOurAddress({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): boolean {
  const address = canonicalAddress(remoteAddress) ?? remoteAddress;
  return !isPrivate(address) && ownAddresses().includes(address);
}
