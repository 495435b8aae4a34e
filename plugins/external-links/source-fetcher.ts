// Fetches subscriptions elsewhere in the background, never inside a request. While a source is down, its last links stay.
import {
  type Clock,
  type Database,
  type LiveSettings,
  type Log,
  messageOf,
  TimeSlice,
} from '../../kernel/index.js';
import { type ClientsApi, depletionOf } from '../clients/contract.js';
import { LinkError, type LinkReaderApi } from '../link-reader/contract.js';
import {
  CalledHosts,
  type OutgoingAccess,
  type OutgoingApi,
  OutgoingError,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import type { ExternalLink } from './contract.js';
import { type ExternalEntries, isSent } from './entries.js';
import type { LinkStore } from './link-store.js';
import type { linkSettings } from './settings.js';
import { shareLinkProblem } from './share-link.js';
import type { Source, SourceStore } from './source-store.js';

const MINUTE_MS = 60_000;
const FIRST_RETRY_MS = 5 * MINUTE_MS;
/** In one run of the job; the quota of outgoing calls is higher. */
const MOST_FETCHES = 200;
const AT_ONCE = 4;
/** Of one source. */
const MOST_LINKS = 500;
const MOST_CHARACTERS = 256 * 1024;
/** Of all sources, in memory. */
const MOST_IN_ALL = { sources: 5000, characters: 64 * 1024 * 1024 };
const LONGEST_ERROR = 1000;
/** Sources choose their format by the name of the program; this one gets share links. */
const HEADERS = { 'user-agent': 'v2rayNG/1.8.5 (Weir)', accept: '*/*' };

const lengthOf = (links: readonly string[]): number => links.reduce((sum, { length }) => sum + length, 0);

export class SourceFetcher {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #settings: LiveSettings<typeof linkSettings>;
  readonly #clients: ClientsApi;
  readonly #store: LinkStore;
  readonly #sources: SourceStore;
  readonly #entries: ExternalEntries;
  readonly #reader: LinkReaderApi;
  readonly #fetch: OutgoingFetch;
  readonly #hosts = new CalledHosts();
  readonly #most: typeof MOST_IN_ALL;
  readonly access: OutgoingAccess = {
    hosts: this.#hosts.list,
    limits: {
      connectMs: 10_000,
      firstByteMs: 20_000,
      wholeMs: 30_000,
      maxBytes: 2 * 1024 * 1024,
      redirects: 5,
    },
  };

  /** @param most less in tests */
  constructor(
    needs: {
      db: Database;
      clock: Clock;
      log: Log;
      settings: LiveSettings<typeof linkSettings>;
      clients: ClientsApi;
      store: LinkStore;
      sources: SourceStore;
      entries: ExternalEntries;
      reader: LinkReaderApi;
      outgoing: OutgoingApi;
    },
    most = MOST_IN_ALL,
  ) {
    this.#most = most;
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#settings = needs.settings;
    this.#clients = needs.clients;
    this.#store = needs.store;
    this.#sources = needs.sources;
    this.#entries = needs.entries;
    this.#reader = needs.reader;
    this.#fetch = needs.outgoing.for(this.access);
  }

  /** Fetches what is due; each URL once, however many clients have it. */
  async run(signal: AbortSignal): Promise<void> {
    const { wanted, known } = await this.#rows();
    await this.#sources.drop([...this.#sources.all()].flatMap(({ url }) => (known.has(url) ? [] : [url])));
    const now = this.#clock.now();
    const due = [...wanted]
      .filter(([url]) => this.#dueAt(this.#sources.of(url)) <= now)
      .sort(([a], [b]) => (this.#sources.of(a)?.triedAt ?? 0) - (this.#sources.of(b)?.triedAt ?? 0))
      .slice(0, MOST_FETCHES);
    const next = due.values();
    const work = async (): Promise<void> => {
      for (const [url, rows] of next) {
        if (signal.aborted) return;
        await this.#update(url, rows, signal);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** The rows of clients that may use them now, by URL; and all URLs that any row has. */
  async #rows() {
    const now = this.#clock.now();
    const wanted = new Map<string, ExternalLink[]>();
    const known = new Set<string>();
    const slice = new TimeSlice();
    for (const links of [...this.#store.all()]) {
      if (slice.isOver) await slice.next();
      for (const link of links) {
        if (link.kind !== 'subscription') continue;
        known.add(link.value);
        const client = this.#clients.byId(link.clientId);
        if (!client?.enable || depletionOf(client, now) !== undefined || !isSent(link, now)) continue;
        const rows = wanted.get(link.value);
        if (rows) rows.push(link);
        else wanted.set(link.value, [link]);
      }
    }
    return { wanted, known };
  }

  #dueAt(source: Source | undefined): number {
    if (!source) return 0;
    const usual = this.#settings.read().subExternalUpdateMinutes * MINUTE_MS;
    const wait = source.failures === 0 ? usual : Math.min(usual, FIRST_RETRY_MS * 2 ** (source.failures - 1));
    return source.triedAt + wait;
  }

  async #update(url: string, rows: readonly ExternalLink[], signal: AbortSignal): Promise<void> {
    const before = this.#sources.of(url);
    let source: Source;
    try {
      const links = await this.#linksOf(url, signal);
      this.#checkRoom(url, links);
      source = { url, links, triedAt: this.#clock.now(), failures: 0, error: '' };
    } catch (error) {
      if (signal.aborted) return;
      const reason = reasonOf(error);
      // The URL is a secret of the client.
      this.#log.debug('an external subscription was not fetched', { clients: rows.length, reason });
      source = {
        url,
        links: before?.links ?? [],
        triedAt: this.#clock.now(),
        failures: (before?.failures ?? 0) + 1,
        error: reason,
      };
    }
    // What formats compiled of unchanged links stays.
    if (before && before.links.join() === source.links.join()) source = { ...source, links: before.links };
    const { links, triedAt, error } = source;
    await this.#db.write(async (tx) => {
      await this.#sources.save(tx, source);
      await this.#store.fetched(tx, rows, triedAt, error);
    });
    await this.#entries.readAhead(links);
  }

  async #linksOf(url: string, signal: AbortSignal): Promise<string[]> {
    return this.#hosts.during(new URL(url).hostname, async () => {
      const reply = await this.#fetch(url, { headers: HEADERS, signal });
      if (!reply.ok) {
        await reply.body?.cancel();
        throw new LinkError('link', `the source answered ${reply.status}`);
      }
      return this.#usable(await reply.text());
    });
  }

  /** Links that client programs know: others could be orders to the program, such as to change its routing. */
  async #usable(body: string): Promise<string[]> {
    const links: string[] = [];
    const slice = new TimeSlice();
    let characters = 0;
    for (const link of this.#reader.links(body, 10 * MOST_LINKS)) {
      if (slice.isOver) await slice.next();
      if (!this.#isKnown(link)) continue;
      characters += link.length;
      if (characters > MOST_CHARACTERS || links.push(link) === MOST_LINKS) break;
    }
    if (links.length === 0) throw new LinkError('link', 'the source has no share link that is known here');
    return links;
  }

  #isKnown(link: string): boolean {
    if (shareLinkProblem(link) === undefined) return true;
    try {
      this.#reader.read(link);
      return true;
    } catch (error) {
      if (error instanceof LinkError) return false;
      throw error;
    }
  }

  #checkRoom(url: string, links: readonly string[]): void {
    let [count, characters] = [1, lengthOf(links)];
    for (const source of this.#sources.all()) {
      // One that found no room is here with its error: it must not take the place of others.
      if (source.url === url || source.links.length === 0) continue;
      count += 1;
      characters += lengthOf(source.links);
    }
    if (count > this.#most.sources || characters > this.#most.characters)
      throw new LinkError('link', 'there are too many external subscriptions; remove some from clients');
  }
}

const reasonOf = (error: unknown): string => {
  if (error instanceof LinkError || error instanceof OutgoingError)
    return error.message.slice(0, LONGEST_ERROR);
  return `the fetch failed: ${messageOf(error)}`.slice(0, LONGEST_ERROR);
};
