// Addresses of clients, for plugins that act on an exceeded limit.
import type { AddressChanges } from './address-feed.js';
import { after, choose, event, oneOf, token } from '../../kernel/index.js';

/** The addresses of a client were forgotten: in each panel on this database, so that none writes again what it has seen. */
export const afterAddressesClear = after<{ readonly clientId: number }>('addresses/afterAddressesClear');

/** Chooses which addresses of a client over its `limitIp` count as over it, and have their connections closed: those that came last (`newest`) or first (`oldest`). Without an answer, the setting `ipLimitCut` says. */
export const cutAddresses = choose<undefined, 'newest' | 'oldest'>(
  'addresses/cutAddresses',
  oneOf('newest', 'oldest'),
);

/** A client that was seen at an address within the last half hour. */
export interface ClientAtAddress {
  readonly clientId: number;
  /** Unix ms */
  readonly lastSeen: number;
}
/** What is known of addresses, from memory. They may be in any spelling. */
export interface ClientAddressesApi {
  /** Clients that were seen at this address, or within its IPv6 /64, here or at another panel. */
  at(address: string): readonly ClientAtAddress[];
  /** Whether the setting `ipLimitAllowlist` has it, or it is that of a proxy in front of the core. */
  isSpared(address: string): boolean;
  /** The client is kept from this address: its next connection from there, from `at` (Unix ms) on, is the first of a new use, and so the newest. */
  endUse(clientId: number, address: string, at: number): void;
  /**
   * Addresses, here or at other panels, that are new since the position `after`, or whose time moved on: by half a minute
   * for a client with a `limitIp`, else by five minutes. 0 is the beginning: all of the last half hour. Positions are of
   * this process. At most `most` in a reply. What is not asked for costs nothing.
   */
  changes(after: number, most: number): AddressChanges;
}
export const ClientAddresses = token<ClientAddressesApi>('addresses', 'ClientAddresses');

/** Takes in what another panel knew. Do not call it inside a write. */
export interface AddressArrivalsApi {
  /** Stores from where clients connected, at most 5,000 in one call; what is no address is left out. Resolves with the number of those that were taken. The same again changes nothing. */
  add(
    seen: readonly { readonly clientId: number; readonly ip: string; readonly lastSeen: number }[],
  ): Promise<number>;
}
export const AddressArrivals = token<AddressArrivalsApi>('addresses', 'AddressArrivals');

export type { AddressChanges, SeenAddress } from './address-feed.js';
export {
  type AddressOutput,
  type AddressReporter,
  AddressReporters,
  type SeenElsewhere,
} from './reports.js';

/** Clients that connected from more addresses at once than their `limitIp`. An address is an IPv4 address, or the latest one of an IPv6 /64. Each client and address is reported when it goes over the limit, and again when it connects after that, at most every ten seconds. */
export const addressLimitExceeded = event<{
  readonly at: number;
  readonly clients: readonly {
    readonly id: number;
    readonly email: string;
    readonly limitIp: number;
    /** addresses within the limit */
    readonly kept: readonly string[];
    /** addresses over the limit, each with Unix ms of its last connection */
    readonly over: readonly {
      readonly ip: string;
      readonly lastSeen: number;
      /** whether the core named it as the peer of a connection; else a header may have claimed it, which anybody can write */
      readonly isPeer: boolean;
    }[];
  }[];
}>('addresses/addressLimitExceeded');
