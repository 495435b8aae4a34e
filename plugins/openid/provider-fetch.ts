// Calls of the provider: with the limits and the guard of all outgoing calls, and read whole, so that what goes wrong on the
// way is known as such.
import type { CustomFetch, CustomFetchOptions } from 'openid-client';
import {
  type OutgoingAccess,
  type OutgoingApi,
  OutgoingError,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import { isReadable } from './settings.js';

/** Discovery, keys and tokens together fit into the time that a connection may be silent. */
const WHOLE_MS = 8_000;
const CONNECT_MS = 5_000;
/** Documents of large providers have some 10 KiB, their lists of keys a little more. */
const MOST_BYTES = 512 * 1024;

/** Calls of one provider. */
export interface ProviderCalls {
  /** As openid-client calls it. Rejects with an OutgoingError. */
  readonly call: CustomFetch;
  /** From now on also calls the hosts of these URLs. */
  allow(urls: readonly URL[]): void;
}

export class ProviderFetch {
  readonly access: OutgoingAccess;
  readonly #fetch: OutgoingFetch;
  /** Outgoing asks for the hosts before its call returns. */
  #calling: readonly string[] = [];

  constructor({ outgoing }: { outgoing: OutgoingApi }) {
    this.access = {
      hosts: () => this.#calling,
      limits: { connectMs: CONNECT_MS, firstByteMs: WHOLE_MS, wholeMs: WHOLE_MS, maxBytes: MOST_BYTES },
    };
    this.#fetch = outgoing.for(this.access);
  }

  /** Calls the host of the issuer, which may be private where an admin says so, and those that it names. */
  of(issuer: URL, allowPrivate: boolean): ProviderCalls {
    const hosts = new Set([issuer.host]);
    return {
      allow: (urls) => {
        for (const { host } of urls) hosts.add(host);
      },
      call: async (url, options) => {
        const target = new URL(url);
        if (isReadable(target) || !hosts.has(target.host))
          throw new OutgoingError(
            'host',
            `the provider may not be called at ${target.protocol}//${target.host}`,
          );
        return this.#read(target, options, allowPrivate && target.host === issuer.host);
      },
    };
  }

  async #read(
    target: URL,
    { method, headers, body, signal }: CustomFetchOptions,
    allowPrivate: boolean,
  ): Promise<Response> {
    this.#calling = [target.href];
    const response = await this.#fetch(target, {
      method,
      headers,
      redirect: 'manual',
      ...(body instanceof URLSearchParams && { body }),
      ...(signal && { signal }),
      allowPrivate,
    });
    const bytes = await response.arrayBuffer();
    const { status, statusText, headers: sent } = response;
    return new Response(bytes.byteLength > 0 ? bytes : null, { status, statusText, headers: sent });
  }
}
