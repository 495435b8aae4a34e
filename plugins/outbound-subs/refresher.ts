// Fetches lists and puts them into force. A list that cannot be fetched or used leaves the previous one in place.
import { type Clock, type Log, messageOf, SerialQueue } from '../../kernel/index.js';
import type { CoreOutboundsApi, EngineApi, JsonObject } from '../engine/contract.js';
import { CoreCheck } from './core-check.js';
import type { CoreParts } from './core-parts.js';
import { type LeftOutList, NOTHING_LEFT_OUT } from './left-out.js';
import type { ListFetcher, ListSource } from './list-fetcher.js';
import { ListProblem } from './list-problem.js';
import type { ListReader, ReadList } from './list-reader.js';
import type { LiveNews } from './live-news.js';
import { Places } from './places.js';
import { outboundOf, type StoredOutbound } from './stored-outbound.js';
import type { Sub, SubStore } from './sub-store.js';
import { withTags } from './tags.js';

const LONGEST_ERROR = 1000;

/** Who asked: only an admin changes the default outbound. */
export type Asker = 'admin' | 'schedule';

export interface Looked {
  readonly outbounds: JsonObject[];
  readonly message: string;
}

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly engine: EngineApi;
  readonly outbounds: CoreOutboundsApi;
  readonly store: SubStore;
  readonly parts: CoreParts;
  readonly fetcher: ListFetcher;
  readonly lists: ListReader;
  readonly news: LiveNews;
}

export class Refresher {
  readonly #needs: Needs;
  readonly #check: CoreCheck;
  /** Two lists at once could choose the same tags. */
  readonly #queue = new SerialQueue();
  readonly #places = new Places();

  constructor({ clock, log, engine, outbounds, store, parts, fetcher, lists, news }: Needs) {
    this.#needs = { clock, log, engine, outbounds, store, parts, fetcher, lists, news };
    this.#check = new CoreCheck({ engine });
  }

  /** Work that must not meet a list which is being put into force. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work);
  }

  /** What a list would be, and what of it is left out; writes nothing. Rejects with a ListProblem. */
  async look(source: ListSource, prefix: string, signal?: AbortSignal): Promise<Looked> {
    const { candidates, leftOut } = await this.#read(source, signal);
    return this.alone(async () => {
      const taken = await this.#needs.outbounds.tags();
      const list = withTags(candidates, { prefix, previous: [], taken });
      const usable = this.#usable(await this.#check.accepted(list, leftOut), leftOut);
      return { outbounds: usable.map(outboundOf), message: leftOut.sentence };
    });
  }

  /** Rejects with a ListProblem; `lastError` has it then. */
  async refresh(id: number, asker: Asker, signal?: AbortSignal): Promise<Sub> {
    const asked = this.#needs.store.find(id);
    try {
      const read = await this.#read(asked, signal);
      return await this.alone(() => this.#apply(asked, read, asker));
    } catch (error) {
      if (signal?.aborted || !(error instanceof ListProblem)) throw error;
      await this.#failed(asked, error.message);
      throw error;
    }
  }

  #read(source: ListSource, signal: AbortSignal | undefined): Promise<ReadList> {
    return this.#places.run(async () => {
      const body = await this.#needs.fetcher.fetch(source, signal);
      return this.#needs.lists.read(body, { allowPrivate: source.allowPrivate, signal });
    });
  }

  #usable(list: readonly StoredOutbound[], leftOut: LeftOutList): readonly StoredOutbound[] {
    if (list.length > 0) return list;
    const { sentence } = leftOut;
    throw new ListProblem(
      sentence === '' ? 'the list has no outbound' : `nothing of the list can be used; ${sentence}`,
    );
  }

  async #apply(asked: Sub, { candidates, leftOut }: ReadList, asker: Asker): Promise<Sub> {
    const { store, clock, engine, log, news, parts } = this.#needs;
    const before = store.find(asked.id);
    if (before.url !== asked.url) throw new ListProblem('its URL was changed while it was fetched');
    if (before.allowPrivate !== asked.allowPrivate || before.allowInsecure !== asked.allowInsecure)
      throw new ListProblem('what it permits was changed while it was fetched');
    const others = store.list().flatMap(({ id, outbounds }) => (id === before.id ? [] : outbounds));
    const own = new Set(before.outbounds.map(({ tag }) => tag));
    const taken = new Set([...(await this.#needs.outbounds.tags())].filter((tag) => !own.has(tag)));
    for (const tag of [...others.map((one) => one.tag), ...parts.templateTags()]) taken.add(tag);
    const pinned = before.prepend
      ? before.outbounds.find(({ tag }) => tag === before.defaultTag && !taken.has(tag))
      : undefined;
    const tagged = withTags(candidates, {
      prefix: before.tagPrefix,
      previous: before.outbounds,
      taken,
      pinned: pinned?.tag,
    });
    // What runs already was tested before.
    const isSame = sameList(tagged, before.outbounds);
    const accepted = isSame ? tagged : await this.#check.accepted(tagged, leftOut);
    const usable = [...this.#usable(accepted, leftOut)];
    const notes: string[] = [];
    const first = usable[0]?.tag ?? '';
    // One that an admin gave away to the template is not replaced by itself either.
    const isOpen = asker === 'admin' || before.defaultTag === '';
    let standard = before.prepend ? (pinned?.tag ?? (isOpen ? first : before.defaultTag)) : '';
    if (pinned && !usable.some(({ tag }) => tag === pinned.tag)) {
      if (asker === 'admin') standard = first;
      else {
        usable.unshift(pinned);
        notes.push(
          `the default outbound ${pinned.tag} is no longer in the list and stays in use; refresh the subscription to take another one`,
        );
      }
    }
    if (!store.hasRoom(before.id, usable))
      throw new ListProblem('all lists together are too large; delete a subscription');
    if (leftOut.sentence !== '') notes.push(leftOut.sentence);
    const now = clock.now();
    const wasStandard = parts.standardTag();
    const after = await store.change(before.id, () => ({
      lastUpdated: Math.floor(now / 1000),
      triedAt: now,
      failures: 0,
      lastError: notes.join('; ').slice(0, LONGEST_ERROR),
      leftOut: leftOut.result,
      defaultTag: standard,
      ...(!sameList(usable, before.outbounds) && { outbounds: usable }),
    }));
    news.changed();
    if (after.outbounds === before.outbounds && standard === before.defaultTag) return after;
    const applied = await engine.reconcileConfig();
    if (applied.rejected) {
      const { outbounds, defaultTag, lastUpdated } = before;
      await store.change(before.id, () => ({ outbounds, defaultTag, lastUpdated }));
      await engine.reconcileConfig();
      throw new ListProblem(`the core rejected the list: ${applied.reason}`);
    }
    news.outboundsChanged();
    const isStandard = parts.standardTag();
    if (isStandard !== wasStandard)
      log.warn('the default outbound of the core is another one', {
        before: wasStandard,
        now: isStandard,
        asker,
      });
    return after;
  }

  async #failed({ id, url }: Sub, reason: string): Promise<void> {
    const { store, clock, log, news } = this.#needs;
    // The URL may be a secret.
    log.debug('an outbound subscription was not refreshed', { id, reason });
    try {
      await store.change(id, (sub) =>
        sub.url === url
          ? {
              triedAt: clock.now(),
              failures: sub.failures + 1,
              lastError: reason.slice(0, LONGEST_ERROR),
              leftOut: sub.outbounds.length > 0 ? sub.leftOut : NOTHING_LEFT_OUT,
            }
          : {},
      );
      news.changed();
    } catch (error) {
      // It may have been deleted meanwhile.
      log.debug('the failure of an outbound subscription was not stored', { id, reason: messageOf(error) });
    }
  }
}

const sameList = (a: readonly StoredOutbound[], b: readonly StoredOutbound[]): boolean =>
  a.length === b.length &&
  a.every(
    ({ tag, digest, name }, at) => tag === b[at]?.tag && digest === b[at].digest && name === b[at].name,
  );
