// The paged list, from memory. Counts over all clients are computed once per change, not once per page.
import type { Clock, Contributed, PluginContext, LiveSettings } from '../../../kernel/index.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import { type BucketContext, type Summary, summaryValidUntil, summaryOf } from './buckets.js';
import { type PresenceSource, PresenceSources } from '../contract.js';
import { filterOf } from './filter.js';
import type { GroupStore } from '../groups/group-store.js';
import { type Ordered, Orders } from './orders.js';
import type { ClientRow } from '../model/row.js';
import type { PageQuery } from './page-schema.js';
import type { clientSettings } from '../settings.js';
import type { ClientStore } from '../model/client-store.js';
import type { ShownUsage } from './shown-usage.js';

const MAX_PAGE_SIZE = 200;
const DAY_MS = 86_400_000;
const GIB = 2 ** 30;

interface CachedSummary {
  readonly version: string;
  readonly validUntil: number;
  readonly summary: Summary;
}

export class ClientLists {
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;
  readonly #settings: LiveSettings<typeof clientSettings>;
  readonly #clock: Clock;
  readonly #contributions: PluginContext['contributions'];
  readonly #shown: ShownUsage;
  readonly #orders: Orders;
  #cachedSummary: CachedSummary | undefined;
  readonly #groupStore: GroupStore;
  #groups: { readonly version: string; readonly names: readonly string[] } | undefined;

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

  page(query: PageQuery) {
    const { roster } = this.#store;
    const context = this.#context();
    const pageSize = Math.min(query.pageSize, MAX_PAGE_SIZE);
    const found = this.#orders.rows(
      query.sort,
      query.order,
      filterOf(query, roster, context, (id) => this.#inbounds.get(id)?.protocol),
    );
    const items = pageOf(found, (query.page - 1) * pageSize, pageSize).map((row) => this.#shown.client(row));
    return {
      filtered: found.rows.length,
      total: roster.size,
      page: query.page,
      pageSize,
      items,
      groups: [...this.groups()],
      summary: this.#summary(context),
    };
  }

  /** Names of the groups that were created and of those that clients are in. */
  groups(): readonly string[] {
    const { roster } = this.#store;
    const version = `${roster.editsVersion} ${this.#groupStore.version}`;
    if (this.#groups?.version !== version) {
      const names = new Set([
        ...this.#groupStore.names(),
        ...roster
          .ordered('id')
          .map(({ group }) => group)
          .filter(Boolean),
      ]);
      this.#groups = { version, names: [...names].sort((a, b) => a.localeCompare(b)) };
    }
    return this.#groups.names;
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

  #summary(context: BucketContext): Summary {
    const { roster } = this.#store;
    const version = `${roster.editsVersion} ${roster.countsVersion} ${context.soonMs} ${context.soonBytes}`;
    if (this.#cachedSummary?.version !== version || context.now >= this.#cachedSummary.validUntil) {
      const rows = roster.ordered('id');
      this.#cachedSummary = {
        version,
        validUntil: summaryValidUntil(rows, context),
        summary: summaryOf(rows, context),
      };
    }
    return this.#cachedSummary.summary;
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

function pageOf({ rows, backwards }: Ordered, from: number, count: number): ClientRow[] {
  if (!backwards) return rows.slice(from, from + count);
  return rows.slice(Math.max(0, rows.length - from - count), Math.max(0, rows.length - from)).reverse();
}
