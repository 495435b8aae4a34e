// What is banned for an address: itself, or the IPv6 /64 around it, within which a device changes its address.
import { canonicalAddress, networkOf } from '../../kernel/index.js';
import type { BanDriver, BanScope, BanTarget } from './contract.js';

/** Returns the address as bans have it; undefined for another text. */
export function banAddress(text: string): string | undefined {
  const address = canonicalAddress(text);
  return address === undefined ? undefined : canonicalAddress(networkOf(address).replace(/\/64$/, ''));
}

export const isV6 = (address: string): boolean => address.includes(':');

export const keyOf = ({ scope, address }: BanTarget): string => `${scope} ${address}`;

export const SCOPES: readonly BanScope[] = ['proxy', 'panel'];

export type FoundBans = Awaited<ReturnType<BanDriver['banned']>>;
/** As bans have them: a driver may list them in another spelling. What is no address is not a ban. */
export const canonicalBans = (found: FoundBans): FoundBans =>
  found.flatMap((one) => {
    const address = banAddress(one.address);
    return address === undefined || !SCOPES.includes(one.scope) ? [] : [{ ...one, address }];
  });
