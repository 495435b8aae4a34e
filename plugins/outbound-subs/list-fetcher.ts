// Fetches a list through the guarded calls, one redirect after another: only the server that an admin entered may be at an
// address that is not public, or have a certificate that is not checked.
import { messageOf } from '../../kernel/index.js';
import { hostOf } from '../core-guard/contract.js';
import {
  CalledHosts,
  type CallOptions,
  type OutgoingAccess,
  type OutgoingApi,
  OutgoingError,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import { ListProblem } from './list-problem.js';

export interface ListSource {
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly allowInsecure: boolean;
}

const LIMIT_MS = 30_000;
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_REDIRECTS = 10;
const REDIRECTS = [301, 302, 303, 307, 308];
const HEADERS = { 'user-agent': 'Weir outbound-subs', accept: '*/*' };
export const LONGEST_URL = 4096;

/** Why this cannot be the URL of a list; undefined when it can. */
export function urlProblem(text: string): string | undefined {
  if (text.length > LONGEST_URL) return `it has more than ${LONGEST_URL} characters`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return 'it must be a URL that begins with http:// or https://';
  return hostOf(url.hostname) ? undefined : 'its host is neither a host name nor an address';
}

export class ListFetcher {
  readonly #fetch: OutgoingFetch;
  readonly #hosts = new CalledHosts();
  readonly access: OutgoingAccess = {
    hosts: this.#hosts.list,
    limits: { connectMs: 10_000, firstByteMs: 20_000, wholeMs: LIMIT_MS, maxBytes: MOST_BYTES },
  };

  constructor({ outgoing }: { outgoing: OutgoingApi }) {
    this.#fetch = outgoing.for(this.access);
  }

  /** Resolves with the body. Rejects with a ListProblem, or with the reason of the signal. */
  async fetch(source: ListSource, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const late = AbortSignal.timeout(LIMIT_MS);
    try {
      return await this.#follow(source, signal ? AbortSignal.any([signal, late]) : late);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ListProblem) throw error;
      if (late.aborted) throw new ListProblem(`the server took longer than ${LIMIT_MS / 1000} s`);
      throw new ListProblem(
        error instanceof OutgoingError ? error.message : `the fetch failed: ${messageOf(error)}`,
      );
    }
  }

  async #follow(source: ListSource, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const first = new URL(source.url);
    let url = first;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const reply = await this.#call(url, first, source, signal);
      if (!(reply instanceof URL)) return reply;
      if (url.protocol === 'https:' && reply.protocol !== 'https:')
        throw new ListProblem('the server redirects from HTTPS to HTTP, where anybody could change the list');
      url = reply;
    }
    throw new ListProblem(`the server redirects more than ${MOST_REDIRECTS} times`);
  }

  /** @param mayAllow whether an admin can permit an address that is not public */
  async #send(url: URL, mayAllow: boolean, options: CallOptions): Promise<Response> {
    try {
      return await this.#fetch(url, options);
    } catch (error) {
      // The panel's own listeners are not permitted in any way.
      if (mayAllow && error instanceof OutgoingError && error.message.includes('WEIR_OUTGOING_ALLOW'))
        throw new ListProblem(`${error.message}, or set allowPrivate of the subscription`);
      throw error;
    }
  }

  /** Resolves with the body, or with the target of a redirect. */
  #call(
    url: URL,
    first: URL,
    source: ListSource,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | URL> {
    // Another port is another program: a list must not name those of its own machine.
    const isFirst = url.host === first.host;
    const plain = new URL(url);
    plain.username = '';
    plain.password = '';
    const login = url.origin === first.origin ? loginOf(first) : undefined;
    return this.#hosts.during(plain.hostname, async () => {
      const reply = await this.#send(plain, isFirst && !source.allowPrivate, {
        headers: { ...HEADERS, ...(login !== undefined && { authorization: login }) },
        signal,
        redirect: 'manual',
        allowPrivate: source.allowPrivate && isFirst,
        allowInsecure: source.allowInsecure && isFirst,
      });
      const location = REDIRECTS.includes(reply.status) ? reply.headers.get('location') : null;
      if (location === null && reply.status === 200) return new Uint8Array(await reply.arrayBuffer());
      await reply.body?.cancel();
      if (location === null) throw new ListProblem(`the server answered with the status ${reply.status}`);
      const target = URL.canParse(location, plain) ? new URL(location, plain) : undefined;
      if (!target || urlProblem(target.href) !== undefined)
        throw new ListProblem('the server redirects to something that is no URL of http or https');
      return target;
    });
  }
}

function loginOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const plain = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return `Basic ${Buffer.from(`${plain(username)}:${plain(password)}`).toString('base64')}`;
}
