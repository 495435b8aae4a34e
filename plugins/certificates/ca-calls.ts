// Every call to an authority goes through the guarded `fetch`, whatever library composes it: bounded, to the server of the
// directory only, and without the waits and retries of the library, which last as long as the authority says.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type LiveSettings, messageOf } from '../../kernel/index.js';
import {
  CalledHosts,
  type CallOptions,
  type OutgoingAccess,
  type OutgoingApi,
  OutgoingError,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import { acmeLibrary, type Asked, type Library } from './acme-library.js';
import { CaProblem, oneLine, type ProblemDocument, sentenceOf, typeOf } from './ca-problem.js';
import type { certificateSettings } from './settings.js';

const LIMITS = { connectMs: 10_000, firstByteMs: 20_000, wholeMs: 30_000, maxBytes: 512 * 1024 };
/** As many as the library repeats a call. */
const MOST_BAD_NONCES = 5;
/** All calls of an order together. */
const LONGEST_ORDER_MS = 15 * 60_000;
/** While there are too many calls, each is tried again so often, and so long. */
const [PAUSE_MS, LONGEST_PAUSE_MS] = [500, 60_000];
const CONTENT = /^application\/(?:json|problem\+json|pem-certificate-chain)\s*(?:;|$)/i;
/** An authority that names a later time is asked again then. */
const LONGEST_WAIT_MS = 7 * 86_400_000;

type Send = (asked: Asked) => Promise<unknown>;
const current = new AsyncLocalStorage<Send>();
/** The library has one HTTP client for the whole process. */
async function sendNow(asked: Asked): Promise<unknown> {
  const send = current.getStore();
  if (!send) throw new Error('a call to an authority outside of CaCalls.during');
  return send(asked);
}

/** Unix ms; 0 for none. */
export function retryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  const seconds = /^\d{1,12}$/.test(header.trim()) ? Number(header) : undefined;
  const at = seconds === undefined ? Date.parse(header) : now + seconds * 1000;
  return Number.isFinite(at) && at > now ? Math.min(at, now + LONGEST_WAIT_MS) : 0;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

export class CaCalls {
  readonly #clock: Clock;
  readonly #fetch: OutgoingFetch;
  readonly #settings: LiveSettings<typeof certificateSettings>;
  readonly #hosts = new CalledHosts();
  readonly access: OutgoingAccess = { hosts: this.#hosts.list, limits: LIMITS };

  constructor(needs: {
    clock: Clock;
    outgoing: OutgoingApi;
    settings: LiveSettings<typeof certificateSettings>;
  }) {
    this.#clock = needs.clock;
    this.#settings = needs.settings;
    this.#fetch = needs.outgoing.for(this.access);
  }

  /** For what calls no authority. */
  library(): Promise<Library> {
    return acmeLibrary(sendNow);
  }

  /** Runs calls of the library to the server of this directory. Its failures are CaProblems, or the reason of the signal. */
  async during<T>(
    directory: string,
    signal: AbortSignal,
    work: (library: Library) => Promise<T>,
  ): Promise<T> {
    const { host } = new URL(directory);
    const library = await acmeLibrary(sendNow);
    const nonces = { refused: 0 };
    const end = this.#clock.now() + LONGEST_ORDER_MS;
    try {
      return await this.#hosts.during(host, () =>
        current.run(
          (asked) => {
            // Other certificates, and what admins change, wait for this one.
            if (this.#clock.now() > end)
              throw new CaProblem(
                `${host} is too slow: it did not finish within ${LONGEST_ORDER_MS / 60_000} minutes`,
                {
                  isTemporary: true,
                },
              );
            return this.#send(host, asked, signal, nonces);
          },
          () => work(library),
        ),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CaProblem) throw error;
      // The library and Node throw what they met in a reply that is not what RFC 8555 says.
      throw new CaProblem(`the authority sent a reply that cannot be used: ${messageOf(error)}`);
    }
  }

  async #send(
    host: string,
    asked: Asked,
    signal: AbortSignal,
    nonces: { refused: number },
  ): Promise<unknown> {
    const url = URL.canParse(String(asked.url)) ? new URL(String(asked.url)) : undefined;
    if (url?.protocol !== 'https:' || url.host !== host)
      throw new CaProblem(
        `the authority names a URL that is not on its own server ${host}: ${oneLine(String(asked.url)).slice(0, 100)}`,
      );
    const method = (asked.method ?? 'get').toUpperCase();
    const response = await this.#call(url, method, asked, signal);
    const text = await response.text().catch((error: unknown) => {
      throw this.#unreachable(error);
    });
    const { status } = response;
    const headers = Object.fromEntries(response.headers);
    const type = response.headers.get('content-type') ?? '';
    const isKnown = text === '' || CONTENT.test(type);
    if (status < 400) {
      if (!isKnown || status >= 300)
        throw new CaProblem(
          `${host} is not a certificate authority: it answers ${method} with status ${status} and ${oneLine(type) || 'no content type'}`,
        );
      if (method === 'POST') nonces.refused = 0;
      return { data: text, status, statusText: '', headers, config: asked, request: undefined };
    }
    const document = parsed(text);
    const problem: ProblemDocument = typeof document === 'object' && document !== null ? document : {};
    // The library sends the call again, with the nonce of this reply.
    const isBadNonce = status === 400 && typeOf(problem) === 'badNonce';
    if (isBadNonce && headers['replay-nonce'] !== undefined && nonces.refused++ < MOST_BAD_NONCES)
      return { data: text, status, statusText: '', headers, config: asked, request: undefined };
    throw new CaProblem(sentenceOf(problem, status), {
      type: typeOf(problem) || (status === 429 ? 'rateLimited' : ''),
      notBefore: retryAfter(response.headers.get('retry-after'), this.#clock.now()),
      isTemporary: status >= 500,
    });
  }

  async #call(url: URL, method: string, { data }: Asked, signal: AbortSignal): Promise<Response> {
    const { acmeAllowPrivate, acmeAuthorities } = this.#settings.read();
    const options: CallOptions = {
      method,
      headers: {
        'content-type': 'application/jose+json',
        accept: 'application/json, application/problem+json, application/pem-certificate-chain',
        'user-agent': 'Weir certificates',
      },
      ...(typeof data === 'string' && method === 'POST' && { body: data }),
      redirect: 'error',
      signal,
      allowPrivate: acmeAllowPrivate,
      ...(acmeAuthorities !== '' && { authorities: acmeAuthorities }),
    };
    for (const end = Date.now() + LONGEST_PAUSE_MS; ; )
      try {
        return await this.#fetch(url, options);
      } catch (error) {
        // An order for 100 names has more calls than a plugin may make in a minute.
        if (!(error instanceof OutgoingError) || error.code !== 'busy' || Date.now() > end)
          throw this.#unreachable(error);
        await sleep(PAUSE_MS, undefined, { signal });
      }
  }

  #unreachable(error: unknown): unknown {
    if (!(error instanceof OutgoingError)) return error;
    if (error.code === 'address' && error.message.includes('WEIR_OUTGOING_ALLOW'))
      return new CaProblem(`${error.message}, or set acmeAllowPrivate`);
    return new CaProblem(`the authority cannot be asked: ${error.message}`, { isTemporary: true });
  }
}
