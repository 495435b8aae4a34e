// Fetches the texts in the background, never inside a request. While a source is down or sends what cannot be used, the
// last good text stays.
import { type Clock, type Log, messageOf, type PluginContext } from '../../kernel/index.js';
import {
  type OutgoingAccess,
  type OutgoingApi,
  OutgoingError,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import { isRemote, type RemoteText, RemoteTextSources } from './contract.js';
import type { FetchedText, TextStore } from './text-store.js';

const MINUTE_MS = 60_000;
const UPDATE_MS = 10 * MINUTE_MS;
const LONGEST_ERROR = 1000;
const LONGEST_ETAG = 256;

/** The source's own fault, in a sentence. */
class Unusable extends Error {}

export class TextFetcher {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #store: TextStore;
  readonly #contributions: PluginContext['contributions'];
  readonly #fetch: OutgoingFetch;
  readonly access: OutgoingAccess = {
    hosts: () => this.#remote().map(({ value }) => value().trim()),
    limits: { connectMs: 10_000, firstByteMs: 10_000, wholeMs: 20_000, redirects: 5 },
  };

  constructor(needs: {
    clock: Clock;
    log: Log;
    store: TextStore;
    contributions: PluginContext['contributions'];
    outgoing: OutgoingApi;
  }) {
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#store = needs.store;
    this.#contributions = needs.contributions;
    this.#fetch = needs.outgoing.for(this.access);
  }

  /** Settings that hold a URL now. */
  #remote(): RemoteText[] {
    return this.#contributions(RemoteTextSources).flatMap(({ value: source, fault }) => {
      try {
        return isRemote(source.value()) ? [source] : [];
      } catch (error) {
        fault('value of a remote text', error);
        return [];
      }
    });
  }

  /** Fetches what is due. */
  async run(signal: AbortSignal): Promise<void> {
    const remote = this.#remote();
    await this.#store.keep(new Set(remote.map(({ setting }) => setting)));
    for (const source of remote) {
      if (signal.aborted) return;
      if (this.#dueAt(source) <= this.#clock.now()) await this.#update(source, signal);
    }
  }

  /** How the texts of settings are. */
  state(): (Pick<FetchedText, 'setting' | 'fetchedAt' | 'triedAt' | 'error'> & { characters: number })[] {
    return this.#remote().map(({ setting, value }) => {
      const { fetchedAt = 0, triedAt = 0, error = '', body = '' } = this.#store.of(setting, value()) ?? {};
      return { setting, fetchedAt, triedAt, error, characters: body.length };
    });
  }

  #dueAt({ setting, value }: RemoteText): number {
    const known = this.#store.of(setting, value());
    if (!known) return 0;
    const wait =
      known.failures === 0 ? UPDATE_MS : Math.min(UPDATE_MS, MINUTE_MS * 2 ** (known.failures - 1));
    return known.triedAt + wait;
  }

  async #update(source: RemoteText, signal: AbortSignal): Promise<void> {
    const { setting } = source;
    const url = source.value().trim();
    const before = this.#store.of(setting, url);
    const triedAt = this.#clock.now();
    try {
      const { body, etag } = await this.#read(source, url, before, signal);
      await this.#store.save({
        setting,
        url,
        body,
        etag,
        fetchedAt: triedAt,
        triedAt,
        failures: 0,
        error: '',
      });
    } catch (error) {
      if (signal.aborted) return;
      const reason = reasonOf(error);
      this.#log.warn('the text of a setting was not fetched; the last one stays', { setting, reason });
      const { body = '', etag = '', fetchedAt = 0, failures = 0 } = before ?? {};
      const after = { setting, url, body, etag, fetchedAt, triedAt, failures: failures + 1, error: reason };
      await this.#store.save(after);
    }
  }

  async #read(
    { maxBytes, check }: RemoteText,
    url: string,
    before: FetchedText | undefined,
    signal: AbortSignal,
  ): Promise<{ body: string; etag: string }> {
    const reply = await this.#fetch(url, {
      headers: before?.etag ? { 'if-none-match': before.etag } : {},
      signal,
      limits: { maxBytes },
    });
    if (reply.status === 304 && before) {
      await reply.body?.cancel();
      return before;
    }
    if (!reply.ok) {
      await reply.body?.cancel();
      throw new Unusable(`the source answered ${reply.status}`);
    }
    const body = await reply.text();
    const sent = reply.headers.get('etag') ?? '';
    const etag = sent.length <= LONGEST_ETAG ? sent : '';
    // What was checked is not checked again, so its object stays the same for those who compiled it.
    if (before && before.fetchedAt > 0 && before.body === body) return { body: before.body, etag };
    try {
      check(body);
    } catch (error) {
      throw new Unusable(`the text cannot be used: ${messageOf(error)}`);
    }
    return { body, etag };
  }
}

const reasonOf = (error: unknown): string => {
  const isKnown = error instanceof Unusable || error instanceof OutgoingError;
  return (isKnown ? error.message : `the fetch failed: ${messageOf(error)}`).slice(0, LONGEST_ERROR);
};
