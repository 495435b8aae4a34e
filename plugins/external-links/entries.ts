// External links as entries of subscriptions: a share link is one entry, a subscription elsewhere has many.
import { type Clock, TimeSlice } from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import type { EntryTemplate } from '../inbounds/contract.js';
import { LinkError, type LinkReaderApi } from '../link-reader/contract.js';
import type { ClientEntry, ClientEntrySource } from '../subscription/contract.js';
import type { ExternalLink } from './contract.js';
import type { LinkStore } from './link-store.js';
import type { Source, SourceStore } from './source-store.js';

const NONE: readonly ClientEntry[] = [];
/** The format whose lines are share links: there, a link stands as it is. */
const LINKS = 'links';
/** Different prefixes of one source for which entries are kept. */
const MOST_PREFIXES = 100;

/** A share link with what is read of it, once and when a format needs it. */
class ReadLink {
  readonly link: string;
  readonly name: string;
  readonly #reader: LinkReaderApi;
  #template: EntryTemplate | undefined;
  isRead = false;

  constructor(link: string, reader: LinkReaderApi) {
    this.link = link;
    this.#reader = reader;
    this.name = orUndefined(() => reader.nameIn(link)) ?? '';
  }

  /** Undefined for a link that nobody reads: then only lists of links have it. */
  get template(): EntryTemplate | undefined {
    if (!this.isRead) {
      this.isRead = true;
      const read = orUndefined(() => this.#reader.read(this.link));
      if (read) {
        const { name: _name, ...template } = read;
        this.#template = template;
      }
    }
    return this.#template;
  }
}

function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof LinkError) return undefined;
    throw error;
  }
}

export class ExternalEntries implements ClientEntrySource {
  readonly #store: LinkStore;
  readonly #sources: SourceStore;
  readonly #reader: LinkReaderApi;
  readonly #clock: Clock;
  /** A changed row is another object. */
  readonly #ofLinks = new WeakMap<ExternalLink, readonly ClientEntry[]>();
  /** by the links of a source */
  readonly #ofSources = new WeakMap<
    Source['links'],
    { readonly links: readonly ReadLink[]; readonly byPrefix: Map<string, readonly ClientEntry[]> }
  >();

  constructor({
    store,
    sources,
    reader,
    clock,
  }: {
    store: LinkStore;
    sources: SourceStore;
    reader: LinkReaderApi;
    clock: Clock;
  }) {
    this.#store = store;
    this.#sources = sources;
    this.#reader = reader;
    this.#clock = clock;
  }

  of(client: ClientRow): readonly ClientEntry[] {
    const links = this.#store.of(client.id);
    if (links.length === 0) return NONE;
    const now = this.#clock.now();
    return links.flatMap((link) => (isSent(link, now) ? this.#entriesOf(link) : NONE));
  }

  #entriesOf(link: ExternalLink): readonly ClientEntry[] {
    if (link.kind === 'subscription') {
      const source = this.#sources.of(link.value);
      return source ? this.#withPrefix(source, link.namePrefix) : NONE;
    }
    const known = this.#ofLinks.get(link);
    if (known) return known;
    const made = [
      this.#entry(new ReadLink(link.value, this.#reader), (name) => link.remark || name, link.remark !== ''),
    ];
    this.#ofLinks.set(link, made);
    return made;
  }

  /** Clients with the same source and prefix share its entries. */
  #withPrefix(source: Source, prefix: string): readonly ClientEntry[] {
    const { links, byPrefix } = this.#read(source.links);
    const known = byPrefix.get(prefix);
    if (known) return known;
    const made = links.map((link) => this.#entry(link, (name) => prefix + name, prefix.trim() !== ''));
    if (byPrefix.size === MOST_PREFIXES) byPrefix.clear();
    byPrefix.set(prefix, made);
    return made;
  }

  /** Reads links while nobody waits; it yields. */
  async readAhead(...lists: readonly Source['links'][]): Promise<void> {
    const slice = new TimeSlice();
    for (const links of lists)
      for (const link of this.#read(links).links) {
        if (link.isRead) continue;
        if (slice.isOver) await slice.next();
        void link.template;
      }
  }

  /** Why only lists of links can have some of these, one sentence each. */
  unread(links: readonly Pick<ExternalLink, 'kind' | 'value'>[]): string[] {
    return links.flatMap(({ kind, value }, i) => {
      if (kind === 'subscription') return [];
      try {
        this.#reader.read(value);
        return [];
      } catch (error) {
        if (!(error instanceof LinkError)) throw error;
        return [`number ${i + 1} is only in lists of links, because ${error.message}`];
      }
    });
  }

  #read(links: Source['links']) {
    const known = this.#ofSources.get(links);
    if (known) return known;
    const made = {
      links: links.map((link) => new ReadLink(link, this.#reader)),
      byPrefix: new Map<string, readonly ClientEntry[]>(),
    };
    this.#ofSources.set(links, made);
    return made;
  }

  /** A link without a name has that of the client, but in a list of links only where it is renamed anyway. */
  #entry(link: ReadLink, shown: (name: string) => string, isRenamed: boolean): ClientEntry {
    const reader = this.#reader;
    return {
      get template() {
        return link.template;
      },
      name: shown(link.name) === '' || link.name === '' ? ({ email }) => shown(email) : shown(link.name),
      texts: { [LINKS]: isRenamed ? (name) => reader.renamed(link.link, name) : () => link.link },
    };
  }
}

export const isSent = ({ enable, expiryTime }: ExternalLink, now: number): boolean =>
  enable && (expiryTime === 0 || expiryTime > now);
