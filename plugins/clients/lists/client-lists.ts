// The paged list, from memory. Counts over all clients are computed once per change, not once per page.
import type { Clock, Contributed, PluginContext, LiveSettings } from '../../../kernel/index.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import { type Moment, type Summary, summaryEnds, summaryOf } from './buckets.js';
import { type PresenceSource, PresenceSources } from '../contract.js';
import { filterOf } from './filter.js';
import type { GroupStore } from '../groups/group-store.js';
import { type Ordered, Orders } from './orders.js';
import type { ClientRow } from '../model/row.js';
import type { PageQuery } from './page-schema.js';
import type { clientSettings } from '../settings.js';
import type { ClientStore } from '../model/client-store.js';
import { clientView } from '../model/views.js';

const MOST_PER_PAGE = 200;
const DAY_MS = 86_400_000;
const GIB = 2 ** 30;

interface Counted {
  readonly version: string;
  readonly ends: number;
  readonly summary: Summary;
}

export class ClientLists {
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;
  readonly #settings: LiveSettings<typeof clientSettings>;
  readonly #clock: Clock;
  readonly #contributions: PluginContext['contributions'];
  readonly #orders: Orders;
  #counted: Counted | undefined;
  readonly #groupStore: GroupStore;
  #groups: { readonly version: string; readonly names: readonly string[] } | undefined;

  constructor({
    store,
    groupStore,
    inbounds,
    settings,
    clock,
    contributions,
  }: {
    store: ClientStore;
    groupStore: GroupStore;
    inbounds: InboundsApi;
    settings: LiveSettings<typeof clientSettings>;
    clock: Clock;
    contributions: PluginContext['contributions'];
  }) {
    this.#store = store;
    this.#groupStore = groupStore;
    this.#inbounds = inbounds;
    this.#settings = settings;
    this.#clock = clock;
    this.#contributions = contributions;
    this.#orders = new Orders(store);
  }

  page(query: PageQuery) {
    const { roster } = this.#store;
    const moment = this.#moment();
    const pageSize = Math.min(query.pageSize, MOST_PER_PAGE);
    const found = this.#orders.rows(
      query.sort,
      query.order,
      filterOf(query, roster, moment, (id) => this.#inbounds.get(id)?.protocol),
    );
    const items = slice(found, (query.page - 1) * pageSize, pageSize).map(clientView);
    return {
      filtered: found.rows.length,
      total: roster.size,
      page: query.page,
      pageSize,
      items,
      groups: [...this.groups()],
      summary: this.#summary(moment),
    };
  }

  /** Names of the groups that were created and of those that clients are in. */
  groups(): readonly string[] {
    const { roster } = this.#store;
    const version = `${roster.edits} ${this.#groupStore.version}`;
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

  #moment(): Moment {
    const { expireDiff, trafficDiff } = this.#settings.read();
    return {
      now: this.#clock.now(),
      soonMs: expireDiff * DAY_MS,
      soonBytes: trafficDiff * GIB,
      presence: this.#contributions(PresenceSources).map(asked),
    };
  }

  #summary(moment: Moment): Summary {
    const { roster } = this.#store;
    const version = `${roster.edits} ${roster.counts} ${moment.soonMs} ${moment.soonBytes}`;
    if (this.#counted?.version !== version || moment.now >= this.#counted.ends) {
      const rows = roster.ordered('id');
      this.#counted = { version, ends: summaryEnds(rows, moment), summary: summaryOf(rows, moment) };
    }
    return this.#counted.summary;
  }
}

/** A source that fails counts all clients as offline, and is not called again for the same list. */
function asked({ value, fault }: Contributed<PresenceSource>): PresenceSource {
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

function slice({ rows, backwards }: Ordered, from: number, count: number): ClientRow[] {
  if (!backwards) return rows.slice(from, from + count);
  return rows.slice(Math.max(0, rows.length - from - count), Math.max(0, rows.length - from)).reverse();
}
