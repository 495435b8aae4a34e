// Addresses that are never banned: of this machine, of its network, of proxies in front of it, those that an admin lists,
// and those from which admins use the panel now.
import { networkInterfaces } from 'node:os';
import { canonicalAddress, type ListenersApi, networkOf, type SessionsApi } from '../../kernel/index.js';
import type { ClientAddressesApi } from '../addresses/contract.js';
import { isPrivate } from '../core-guard/contract.js';

export type Protected = '' | 'private' | 'listed' | 'admin';
const WHY: Readonly<Record<Exclude<Protected, ''>, string>> = {
  private: 'it belongs to this machine, to a private network, or to a proxy in front of the panel',
  listed: 'the setting ipLimitAllowlist has it, or addressesIgnored',
  admin: 'an admin uses the panel from there',
};
export const whyProtected = (reason: Exclude<Protected, ''>): string => WHY[reason];

export class Protection {
  readonly #sessions: Pick<SessionsApi, 'list'>;
  readonly #listeners: Pick<ListenersApi, 'proxies'>;
  readonly #addresses: ClientAddressesApi | undefined;

  constructor(needs: {
    sessions: Pick<SessionsApi, 'list'>;
    listeners: Pick<ListenersApi, 'proxies'>;
    clientAddresses: ClientAddressesApi | undefined;
  }) {
    this.#sessions = needs.sessions;
    this.#listeners = needs.listeners;
    this.#addresses = needs.clientAddresses;
  }

  of(text: string): Protected {
    const address = canonicalAddress(text);
    if (address === undefined) return 'private';
    if (isPrivate(address) || this.#listeners.proxies.trusts(address) || isOwn(address)) return 'private';
    if (this.#addresses?.isSpared(address)) return 'listed';
    const network = networkOf(address);
    const isAdmin = this.#sessions.list().some(({ ip }) => {
      const admin = canonicalAddress(ip);
      return admin !== undefined && networkOf(admin) === network;
    });
    return isAdmin ? 'admin' : '';
  }
}

/** Also other addresses of its /64: a ban has all of it. */
const isOwn = (address: string): boolean =>
  Object.values(networkInterfaces())
    .flat()
    .some((own) => {
      const canonical = canonicalAddress(own?.address ?? '');
      return canonical !== undefined && networkOf(canonical) === networkOf(address);
    });
