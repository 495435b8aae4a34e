// Connects to the servers of outbounds over TCP, and says nothing to them.
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { connect, type LookupFunction } from 'node:net';
import type { Server } from './outbound-json.js';

export interface Endpoint {
  /** host and port */
  readonly address: string;
  readonly success: boolean;
  /** ms */
  readonly delay: number;
  readonly error?: string;
}

const LIMIT_MS = 5_000;
/** Connections of one call; more would take file descriptors from others. */
const AT_ONCE = 64;
/** Node makes two look-ups at once and ends none: many names whose servers are silent would hold up those of everybody. */
const LOOKUPS_AT_ONCE = 2;

type Resolve = (
  name: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Connects to each, some at a time. Never rejects; `resolve` is for tests. */
export async function dialAll(
  servers: readonly Server[],
  { limit = LIMIT_MS, resolve = lookup as Resolve }: { limit?: number; resolve?: Resolve } = {},
): Promise<Endpoint[]> {
  const found: Endpoint[] = [];
  const left = servers.entries();
  const names = new Names(resolve);
  const work = async (): Promise<void> => {
    for (const [at, server] of left) found[at] = await dial(server, limit, names);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/** Looks names up, few at once; one whose connection was given up before its turn is not looked up. */
class Names {
  readonly #resolve: Resolve;
  readonly #waiting: (() => boolean)[] = [];
  #running = 0;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  readonly of =
    (isOver: () => boolean): LookupFunction =>
    (name, options, done) => {
      const start = (): boolean => {
        if (isOver()) return false;
        this.#resolve(name, { ...(options as LookupOptions), all: true }, (error, addresses) => {
          this.#running--;
          while (this.#running < LOOKUPS_AT_ONCE && this.#waiting.length > 0)
            if (this.#waiting.shift()?.()) break;
          const [first] = addresses ?? [];
          if (error || !first) done(error ?? new Error(`${name} has no address`), '', 0);
          else if (options.all) done(null, addresses);
          else done(null, first.address, first.family);
        });
        this.#running++;
        return true;
      };
      if (this.#running < LOOKUPS_AT_ONCE) start();
      else this.#waiting.push(start);
    };
}

function dial({ host, port }: Server, limit: number, names: Names): Promise<Endpoint> {
  const start = performance.now();
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve) => {
    let isOver = false;
    const lookedUp = names.of(() => isOver);
    const connection = connect({ host: host.replace(/^\[|\]$/g, ''), port, lookup: lookedUp });
    const end = (error?: string): void => {
      isOver = true;
      clearTimeout(timer);
      connection.destroy();
      const delay = Math.round(performance.now() - start);
      resolve(
        error === undefined
          ? { address, success: true, delay }
          : { address, success: false, delay: 0, error },
      );
    };
    const timer = setTimeout(() => end(`no answer within ${limit / 1000} s`), limit);
    connection.once('connect', () => end());
    connection.on('error', ({ message }) => end(message));
  });
}
