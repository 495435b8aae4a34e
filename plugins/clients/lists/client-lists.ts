// The paged list, from memory. Counts over all clients are computed once per change, not once per page.
import {
  type Clock,
  type Contributed,
  type PluginContext,
  type LiveSettings,
  TimeSlice,
} from '../../../kernel/index.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import { type BucketContext, BUCKETS, bucketsOf } from './buckets.js';
import { type PresenceSource, PresenceSources, type SomeClients } from '../contract.js';
import { marksOf, passing } from './filter.js';
import type { GroupStore } from '../groups/group-store.js';
import { KeptBuckets } from './kept-buckets.js';
import { Orders, rowOrder } from './orders.js';
import type { ClientFilter, PageQuery } from './page-schema.js';
import type { clientSettings } from '../settings.js';
import type { ClientStore } from '../model/client-store.js';
import type { RosterJournal } from '../model/journal.js';
import type { ClientRow } from '../model/row.js';
import type { ShownUsage } from './shown-usage.js';
import { type SomeClient, someClient } from './some-clients.js';

const MAX_PAGE_SIZE = 200;
const DAY_MS = 86_400_000;
const GIB = 2 ** 30;

/** Sorted once per change, not once per page. */
interface KeptGroups {
  readonly edits: RosterJournal | undefined;
  readonly at: number;
  readonly version: number;
  readonly names: readonly string[];
}

export class ClientLists {
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;
  readonly #settings: LiveSettings<typeof clientSettings>;
  readonly #clock: Clock;
  readonly #contributions: PluginContext['contributions'];
  readonly #shown: ShownUsage;
  readonly #orders: Orders;
  readonly #buckets = new KeptBuckets();
  readonly #groupStore: GroupStore;
  #groups: KeptGroups = { edits: undefined, at: 0, version: 0, names: [] };

  constructor({
    store,
    groupStore,
    inbounds,
    settings,
    clock,
    contributions,
    shown,
  }: {
    store: ClientStore;
    groupStore: GroupStore;
    inbounds: InboundsApi;
    settings: LiveSettings<typeof clientSettings>;
    clock: Clock;
    contributions: PluginContext['contributions'];
    shown: ShownUsage;
  }) {
    this.#store = store;
    this.#groupStore = groupStore;
    this.#inbounds = inbounds;
    this.#settings = settings;
    this.#clock = clock;
    this.#contributions = contributions;
    this.#shown = shown;
    this.#orders = new Orders(store);
  }

  async page(query: PageQuery) {
    await this.#prepare(query);
    const { roster } = this.#store;
    const pageSize = Math.min(query.pageSize, MAX_PAGE_SIZE);
    const { summary, marks } = this.#marked(query);
    const found = this.#orders.slice(query.sort, query.order, marks, (query.page - 1) * pageSize, pageSize);
    return {
      filtered: found.count,
      total: roster.size,
      page: query.page,
      pageSize,
      items: found.rows.map((row) => this.#shown.client(row)),
      groups: this.groups(),
      summary,
    };
  }

  /** A page of these clients, as if there were no others: costs them, not all. */
  async pageOf(ids: Iterable<number>, query: PageQuery): Promise<SomeClients> {
    const context = this.#context();
    const passes = passing(query, context, this.#protocolOf);
    const counts = { total: 0, active: 0, deactive: 0, depleted: 0, expiring: 0, online: 0 };
    const found: ClientRow[] = [];
    const slice = new TimeSlice();
    for (const id of ids) {
      if (slice.isOver) await slice.next();
      const row = this.#store.byId(id);
      if (!row) continue;
      const bits = bucketsOf(row, context);
      counts.total++;
      for (const name of ['active', 'deactive', 'depleted', 'expiring', 'online'] as const)
        if (bits & BUCKETS[name]) counts[name]++;
      if (passes(row)) found.push(row);
    }
    const pageSize = Math.min(query.pageSize, MAX_PAGE_SIZE);
    const from = (query.page - 1) * pageSize;
    const rows = found.sort(rowOrder(query.sort, query.order)).slice(from, from + pageSize);
    return { filtered: found.length, page: query.page, pageSize, rows, counts };
  }

  inGroup(name: string): ReadonlySet<number> {
    return this.#store.roster.groups.idsOf(name);
  }

  shown(row: ClientRow): SomeClient {
    const isOnline = (bucketsOf(row, this.#context()) & BUCKETS.online) !== 0;
    return someClient(row, this.#shown.traffic(row), isOnline);
  }

  /** All clients that the list shows with this filter, by id. */
  async all(filter: ClientFilter): Promise<ClientRow[]> {
    await this.#prepare(filter);
    const { marks } = this.#marked(filter);
    const rows = this.#store.roster.ordered('id');
    return marks ? rows.filter((_, place) => marks[place] === 1) : rows.slice();
  }

  /** Whether the list shows a client with this filter, as it is now. */
  passing(filter: ClientFilter): (row: ClientRow) => boolean {
    return passing(filter, this.#context(), this.#protocolOf);
  }

  /** Milliseconds of 100,000 clients, and more before the first search. */
  async #prepare({ search }: ClientFilter): Promise<void> {
    await new TimeSlice().next();
    if (search.trim() === '') return;
    const { roster } = this.#store;
    await roster.search.prepare(() => roster.ordered('id'));
  }

  #marked(filter: ClientFilter) {
    const { roster } = this.#store;
    const { summary, bits } = this.#buckets.of(roster, this.#context());
    return { summary, marks: marksOf(filter, roster, bits, this.#protocolOf) };
  }

  readonly #protocolOf = (inboundId: number): string | undefined => this.#inbounds.get(inboundId)?.protocol;

  /** Names of the groups that were created and of those that clients are in. */
  groups(): readonly string[] {
    const { edits } = this.#store.roster.journals;
    const { version } = this.#groupStore;
    const kept = this.#groups;
    if (kept.edits === edits && kept.at === edits.at && kept.version === version) return kept.names;
    const names = new Set([...this.#groupStore.names(), ...this.#store.roster.groups.names()]);
    const sorted = [...names].sort((a, b) => a.localeCompare(b));
    this.#groups = { edits, at: edits.at, version, names: sorted };
    return sorted;
  }

  #context(): BucketContext {
    const { expireDiff, trafficDiff } = this.#settings.read();
    return {
      now: this.#clock.now(),
      soonMs: expireDiff * DAY_MS,
      soonBytes: trafficDiff * GIB,
      presence: this.#contributions(PresenceSources).map(guardSource),
    };
  }
}

/** A source that fails counts all clients as offline, and is not called again for the same list. */
function guardSource({ value, fault }: Contributed<PresenceSource>): PresenceSource {
  let broken = false;
  return {
    isOnline: (clientId) => {
      if (broken) return false;
      try {
        const isOnline: unknown = value.isOnline(clientId);
        if (typeof isOnline === 'boolean') return isOnline;
        if (isOnline instanceof Promise) isOnline.catch(() => undefined);
        throw new Error(`it answered ${typeof isOnline} instead of true or false`);
      } catch (error) {
        broken = true;
        fault('a source of presence', error);
        return false;
      }
    },
  };
}
