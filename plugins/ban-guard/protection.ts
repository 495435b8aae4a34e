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
  readonly #interfaces: typeof networkInterfaces;

  constructor(
    needs: {
      sessions: Pick<SessionsApi, 'list'>;
      listeners: Pick<ListenersApi, 'proxies'>;
      clientAddresses: ClientAddressesApi | undefined;
    },
    /** another one in tests */
    interfaces: typeof networkInterfaces = networkInterfaces,
  ) {
    this.#interfaces = interfaces;
    this.#sessions = needs.sessions;
    this.#listeners = needs.listeners;
    this.#addresses = needs.clientAddresses;
  }

  of(text: string): Protected {
    return this.now()(text);
  }

  /** The same for many addresses at one moment: listing interfaces and sessions for each would take long. */
  now(): (text: string) => Protected {
    const own = networksOf(
      Object.values(this.#interfaces()).flatMap((all = []) => all.map((one) => one.address)),
    );
    const admins = networksOf(this.#sessions.list().map(({ ip }) => ip));
    return (text) => {
      const address = canonicalAddress(text);
      if (address === undefined) return 'private';
      const network = networkOf(address);
      if (isPrivate(address) || own.has(network) || this.#listeners.proxies.trusts(address)) return 'private';
      if (this.#addresses?.isSpared(address)) return 'listed';
      return admins.has(network) ? 'admin' : '';
    };
  }
}

/** With the /64 around each IPv6 address: a ban has all of it. */
const networksOf = (addresses: readonly string[]): ReadonlySet<string> =>
  new Set(
    addresses.flatMap((text) => {
      const address = canonicalAddress(text);
      return address === undefined ? [] : [networkOf(address)];
    }),
  );
