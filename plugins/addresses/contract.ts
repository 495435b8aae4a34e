// Addresses of clients: an event for plugins that act on an exceeded limit.
import { event } from '../../kernel/index.js';

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
    readonly over: readonly { readonly ip: string; readonly lastSeen: number }[];
  }[];
}>('addresses/addressLimitExceeded');
