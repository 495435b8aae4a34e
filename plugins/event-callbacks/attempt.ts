// One attempt: a signed POST. Nothing of the reply is read but its status and Retry-After.
import { type Clock, messageOf } from '../../kernel/index.js';
import {
  CalledHosts,
  type OutgoingAccess,
  type OutgoingApi,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import { askedPause } from './back-off.js';
import { type EndpointStore, MOST_ENDPOINTS } from './endpoint-store.js';
import { signedHeaders } from './signature.js';
import type { EndpointRow } from './tables.js';

const LONGEST_ERROR = 500;

export interface Message {
  readonly uid: string;
  readonly body: string;
}
export interface Outcome {
  readonly ok: boolean;
  /** of the reply; 0 without one */
  readonly status: number;
  /** empty when it was delivered */
  readonly error: string;
  readonly ms: number;
  /** what the endpoint asks for before the next attempt */
  readonly askedMs: number;
}

export class Attempts {
  readonly #fetch: OutgoingFetch;
  readonly #store: EndpointStore;
  readonly #clock: Clock;
  readonly #hosts = new CalledHosts();
  readonly access: OutgoingAccess = {
    hosts: this.#hosts.list,
    limits: { connectMs: 5_000, firstByteMs: 15_000, wholeMs: 20_000, maxBytes: 1024 ** 3, redirects: 0 },
    // The body is never read, so its size does not matter.
    // An endpoint has one attempt and one ping at a time, so none waits for another one.
    quota: { atOnce: 2 * MOST_ENDPOINTS, perMinute: 60_000 },
  };

  constructor({ outgoing, store, clock }: { outgoing: OutgoingApi; store: EndpointStore; clock: Clock }) {
    this.#fetch = outgoing.for(this.access);
    this.#store = store;
    this.#clock = clock;
  }

  /** Never rejects, except with the reason of the signal. */
  async make(endpoint: EndpointRow, { uid, body }: Message, signal: AbortSignal): Promise<Outcome> {
    const began = performance.now();
    const now = this.#clock.now();
    const outcome = (ok: boolean, status: number, error: string, askedMs = 0): Outcome => ({
      ...{ ok, status, askedMs },
      error: error.slice(0, LONGEST_ERROR),
      ms: Math.round(performance.now() - began),
    });
    try {
      const { url, allowPrivate } = endpoint;
      const headers = signedHeaders(this.#store.secretsOf(endpoint), uid, now, body);
      const reply = await this.#hosts.during(new URL(url).host, () =>
        this.#fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual', allowPrivate }),
      );
      void reply.body?.cancel().catch(() => undefined);
      const { status } = reply;
      if (reply.ok) return outcome(true, status, '');
      const asked = askedPause(reply.headers.get('retry-after'), now);
      const isRedirect = status >= 300 && status < 400;
      const error = isRedirect
        ? `the endpoint redirects (${status}); redirects are not followed, so set the final address`
        : `the endpoint answered ${status}`;
      return outcome(false, status, error, asked);
    } catch (error) {
      if (signal.aborted) throw error;
      return outcome(false, 0, messageOf(error));
    }
  }
}
