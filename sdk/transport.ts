// How calls reach a panel: with an API token, or with a session as a browser has it; again where that is safe.
import { type FailureBody, PanelFailure, PanelUnreachable } from './failure.js';
import {
  checkedNumber,
  delayBefore,
  type Retries,
  type RetryOptions,
  retriesOf,
  retryAfterOf,
  wait,
} from './retry.js';

export interface TransportOptions {
  /** of the panel, base path included */
  readonly url: string;
  /** an API token; without one, `signIn` opens a session */
  readonly token?: string;
  /** How long one attempt may take, in ms: until the reply is read, or until its headers are there where a call resolves with a Response. 60,000 by default. */
  readonly timeoutMs?: number;
  /** for GET, and for calls with an `idempotencyKey` */
  readonly retries?: RetryOptions;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** ends the call, also while it waits to be sent again; it rejects with the reason of the signal */
  readonly signal?: AbortSignal;
  /** in place of that of the client */
  readonly timeoutMs?: number;
  /** The `version` of the record as you have read it: the change is made only if the record still has it, and refused with status 409 otherwise. */
  readonly ifVersion?: string;
}

export interface KeyedCallOptions extends CallOptions {
  /**
   * A key of your own for this change, such as the number of an order or a UUID: 1 to 255 visible ASCII characters without
   * commas and quotes. The panel does the call once for 24 hours, so it is safe to send again, and the client does so.
   */
  readonly idempotencyKey?: string;
}

/** One endpoint, as the generated client names it. */
export interface Endpoint {
  readonly method: string;
  /** with `{parameters}` */
  readonly path: string;
  /** what a call resolves with: `obj`, `msg`, the whole body, or the response itself */
  readonly gives: 'obj' | 'msg' | 'body' | 'response';
  /** takes an Idempotency-Key */
  readonly keyed?: true;
}
type Input = Readonly<Record<string, unknown>>;
type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

const TIMEOUT_MS = 60_000;
const LONGEST_TIMEOUT_MS = 24 * 3_600_000;
/** As the panel takes it without quotes; a comma would join two headers. */
const KEY = /^[\x21\x23-\x2b\x2d-\x7e]{1,255}$/;

export class Transport {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #timeoutMs: number;
  readonly #retries: Retries;
  readonly #fetch: typeof fetch;
  /** Stored where fetch stores no cookies; a browser stores them itself and hides them. */
  #cookie: string | undefined;
  #csrf: string | undefined;

  /** Throws a TypeError that names a wrong option. */
  constructor({ url, token, timeoutMs = TIMEOUT_MS, retries, fetch: ownFetch }: TransportOptions) {
    this.#url = checkedUrl(url);
    if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
      throw new TypeError('token must be an API token: visible ASCII characters, without spaces');
    this.#token = token;
    this.#timeoutMs = checkedNumber('timeoutMs', timeoutMs, LONGEST_TIMEOUT_MS, 1);
    this.#retries = retriesOf(retries);
    // Called as a method of ours, a browser's fetch would refuse.
    this.#fetch = ownFetch ?? ((input, init) => fetch(input, init));
  }

  /** Opens a session, for callers without an API token. */
  async signIn(
    login: { readonly username: string; readonly password: string; readonly twoFactorCode?: string },
    options: CallOptions = {},
  ): Promise<void> {
    const cookies = await this.#attempt('POST', '/login', login, options, async (response) => {
      await read(response);
      return response.headers.getSetCookie?.() ?? [];
    });
    const pairs = cookies.map((line) => line.split(';')[0] ?? '').filter((pair) => !pair.endsWith('='));
    if (pairs.length > 0) this.#cookie = pairs.join('; ');
    this.#csrf = await this.call({ method: 'GET', path: '/csrf-token', gives: 'obj' }, {}, options);
  }

  /** Rejects with PanelFailure if the panel refuses or fails, and with PanelUnreachable if there is no reply. */
  protected async call<T>(
    { method, path, gives, keyed }: Endpoint,
    input: Input = {},
    options: KeyedCallOptions = {},
  ): Promise<T> {
    const { signal, idempotencyKey: key } = options;
    if (key !== undefined) checkKey(key, keyed === true, path);
    const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => segmentOf(name, String(input[name])));
    const target = `${filled}${queryOf(input['query'] as Query | undefined)}`;
    const take = async (response: Response): Promise<T> => {
      if (gives === 'response' && response.ok) return response as T;
      const body = await read(response);
      // Something else is at this address, such as a proxy with a page of its own.
      if (gives === 'obj' && body?.success !== true)
        throw new PanelFailure(response.status, { msg: 'the answer is not that of a panel' });
      return (gives === 'body' ? body : body?.[gives as 'obj']) as T;
    };
    const isRepeatable = method === 'GET' || key !== undefined;
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#attempt(method, target, input['body'], options, take);
      } catch (error) {
        const delay = isRepeatable ? delayBefore(attempt, error, this.#retries) : undefined;
        if (delay === undefined) throw error;
        await wait(delay, signal);
      }
  }

  /** Sends once, and reads the reply within the time limit. */
  async #attempt<T>(
    method: string,
    target: string,
    body: unknown,
    { signal, timeoutMs = this.#timeoutMs, idempotencyKey, ifVersion }: KeyedCallOptions,
    take: (response: Response) => Promise<T>,
  ): Promise<T> {
    checkedNumber('timeoutMs', timeoutMs, LONGEST_TIMEOUT_MS, 1);
    signal?.throwIfAborted();
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    try {
      const response = await this.#fetch(this.#url + target, {
        method,
        headers: this.#headers(method, body !== undefined, idempotencyKey, ifVersion),
        credentials: this.#token === undefined ? 'include' : 'omit',
        signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return await take(response);
    } catch (error) {
      if (error instanceof PanelFailure) throw error;
      signal?.throwIfAborted();
      const what = `${method} ${target.split('?')[0]}`;
      throw limit.signal.aborted
        ? new PanelUnreachable('timeout', `${what}: no reply within ${timeoutMs} ms`, method !== 'GET', error)
        : new PanelUnreachable('network', `${what}: ${reasonOf(error)}`, method !== 'GET', error);
    } finally {
      clearTimeout(timer);
    }
  }

  #headers(method: string, hasBody: boolean, key?: string, version?: string): Record<string, string> {
    return {
      accept: 'application/json',
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...(this.#cookie !== undefined && { cookie: this.#cookie }),
      ...(this.#csrf !== undefined && method !== 'GET' && { 'x-csrf-token': this.#csrf }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(version !== undefined && { 'if-match': `"${version}"` }),
      ...(hasBody && { 'content-type': 'application/json' }),
    };
  }
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new TypeError(
      'url must be the address of the panel, such as https://panel.example.com:2053/base-path, without login, query and fragment',
    );
  return url.href.replace(/\/+$/, '');
}

/** As a segment of a path. `fetch` takes `.` and `..` for steps between folders, however they are written: the call would be another one. */
function segmentOf(name: string, value: string): string {
  if (/^\.{1,2}$/.test(value)) throw new TypeError(`${name}: "${value}" cannot stand in an address`);
  return encodeURIComponent(value);
}

function checkKey(key: string, isTaken: boolean, path: string): void {
  if (!isTaken) throw new TypeError(`idempotencyKey: ${path} takes none`);
  if (!KEY.test(key))
    throw new TypeError(
      'idempotencyKey must be 1 to 255 visible ASCII characters without commas and quotes, such as a UUID',
    );
}

/** fetch says "fetch failed", and its cause what failed. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  return `no complete reply (${cause?.code || cause?.message || message || String(error)})`;
}

function queryOf(query: Query = {}): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== undefined && entry[1] !== null,
  );
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

type Body = { readonly success?: boolean; readonly msg?: string; readonly obj?: unknown };
async function read(response: Response): Promise<Body | null> {
  const text = await response.text();
  const retryAfterMs = retryAfterOf(response.headers);
  let body: Body | null;
  try {
    body = JSON.parse(text) as Body | null;
  } catch {
    throw new PanelFailure(
      response.status,
      { msg: `the panel answered ${response.status} and no JSON: ${text.slice(0, 100)}` },
      retryAfterMs,
    );
  }
  if (!response.ok) throw new PanelFailure(response.status, (body ?? {}) as FailureBody, retryAfterMs);
  return body;
}
