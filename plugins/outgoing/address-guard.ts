// Decides whether an address may be dialled. Checks exactly the addresses that the connection uses, after the names were
// resolved, so a name server cannot give another answer later.
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { ListenersApi } from '../../kernel/index.js';
import { reachOf } from '../core-guard/contract.js';
import { OutgoingError } from './contract.js';
import { type Destination, fits, nameOf, type Pattern, spelled } from './destination.js';

/** `dns.lookup` with `all: true`; the signal says when nobody waits for the answer any longer. */
export type Resolve = (
  name: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  signal?: AbortSignal,
) => void;

/** One entry of `WEIR_OUTGOING_ALLOW`; without `plugin` it is for all. */
export interface Allowed {
  readonly plugin: string | undefined;
  readonly pattern: Pattern;
}

export class AddressGuard {
  readonly #listeners: Pick<ListenersApi, 'places'>;
  readonly #allowed: readonly Pattern[];
  readonly #plugin: string;
  readonly #allowPrivate: boolean;

  constructor(
    listeners: Pick<ListenersApi, 'places'>,
    allowed: readonly Allowed[],
    plugin: string,
    allowPrivate = false,
  ) {
    this.#listeners = listeners;
    this.#plugin = plugin;
    this.#allowPrivate = allowPrivate;
    this.#allowed = allowed
      .filter((entry) => entry.plugin === undefined || entry.plugin === plugin)
      .map(({ pattern }) => pattern)
      .filter(({ namesAddresses }) => namesAddresses);
  }

  /** Returns the reason against dialling this address of `host`. */
  problem(host: string, address: string, port: number): string | undefined {
    const plain = spelled(address);
    if (isIP(plain) === 0) return `${host} resolves to something that is not an address`;
    const reach = reachOf(plain);
    if (reach === 'public') return undefined;
    const own = reach === 'own' && this.#listeners.places().find((place) => place.port === port);
    const to =
      host === plain ? `${nameOf({ host, port })} is` : `${host} leads to ${nameOf({ host: plain, port })},`;
    if (own) return `${to} the panel's own listener ${own.name}, which no plugin may call`;
    const destination: Destination = { host: plain, isAddress: true, port };
    if (this.#allowPrivate || this.#allowed.some((pattern) => fits(pattern, destination))) return undefined;
    const kind = reach === 'own' ? 'an address of this machine' : 'an address that is not public';
    return `${to} ${kind}; if that is meant, add ${this.#plugin}=${nameOf({ host: plain, port })} to WEIR_OUTGOING_ALLOW and restart the panel`;
  }

  check(host: string, address: string, port: number): void {
    const problem = this.problem(host, address, port);
    if (problem !== undefined) throw new OutgoingError('address', problem);
  }

  /** A look-up for `net.connect` that returns only permitted addresses. */
  lookup(resolve: Resolve, port: number, signal: AbortSignal): LookupFunction {
    return (name, options, done) => {
      const answered: Parameters<Resolve>[2] = (error, found) => {
        // `net` expects a list or a single address, depending on `all`.
        const answer = done as (
          error: Error | null,
          address?: string | LookupAddress[],
          family?: number,
        ) => void;
        if (error) return answer(error);
        const problems = found.map(({ address }) => this.problem(name, address, port));
        const permitted = found.filter((_, i) => problems[i] === undefined);
        const [first] = permitted;
        if (!first) {
          const problem = problems.find((text) => text !== undefined) ?? `${name} has no address`;
          return answer(new OutgoingError(found.length > 0 ? 'address' : 'network', problem));
        }
        return options.all ? answer(null, permitted) : answer(null, first.address, first.family);
      };
      resolve(name, { ...options, all: true } as LookupAllOptions, answered, signal);
    };
  }
}
