// Changes that admins make to subscriptions, and what they see of them.
import { type Clock, type Issue, kernelErrors, type Principal } from '../../kernel/index.js';
import { type Applied, describeResult, type EngineApi, type JsonObject } from '../engine/contract.js';
import type { CoreParts } from './core-parts.js';
import { errors } from './errors.js';
import { type SentSub, USUAL_INTERVAL } from './fields.js';
import { NOTHING_LEFT_OUT } from './left-out.js';
import type { ListSource } from './list-fetcher.js';
import { ListProblem } from './list-problem.js';
import { MOST_OUTBOUNDS } from './list-reader.js';
import type { LiveNews } from './live-news.js';
import type { Looked, Refresher } from './refresher.js';
import { outboundOf } from './stored-outbound.js';
import { type Sub, type SubStore, subVersion } from './sub-store.js';
import { withPrefix } from './tags.js';

interface Needs {
  readonly clock: Clock;
  readonly engine: EngineApi;
  readonly store: SubStore;
  readonly parts: CoreParts;
  readonly refresher: Refresher;
  readonly news: LiveNews;
}

/** Throws KERNEL_INVALID. */
function required(url: string | undefined): string {
  if (url !== undefined) return url;
  const issues: Issue[] = [{ path: 'url', message: 'url is required' }];
  throw kernelErrors.INVALID('url is required', { issues });
}

export class SubService {
  readonly #needs: Needs;

  constructor({ clock, engine, store, parts, refresher, news }: Needs) {
    this.#needs = { clock, engine, store, parts, refresher, news };
  }

  list() {
    return this.#needs.store.list().map((sub) => this.shown(sub));
  }

  /** Throws NOT_FOUND. */
  get(id: number) {
    return this.shown(this.#needs.store.find(id));
  }

  shown(sub: Sub) {
    const { parts } = this.#needs;
    const { outbounds, leftOut, defaultTag, triedAt: _, failures: _failures, ...fields } = sub;
    const over = sub.enabled ? parts.over(sub) : 0;
    const standard = parts.standardTag();
    const isStandard = defaultTag !== '' && defaultTag === standard;
    const reason = `all lists together have more than ${MOST_OUTBOUNDS} outbounds`;
    return {
      ...fields,
      lastFetchedOutbounds: '',
      outboundCount: outbounds.length,
      outboundTags: outbounds.map(({ tag }) => tag),
      defaultOutbound: isStandard ? defaultTag : '',
      leftOutCount: leftOut.count + over,
      leftOut: [
        ...(over > 0
          ? outbounds
              .slice(-over)
              .slice(0, 10)
              .map(({ tag }) => ({ name: tag, reason }))
          : []),
        ...leftOut.items,
      ],
      version: subVersion.of(sub),
    };
  }

  /** Its list is fetched by the next run of the job, or by `refresh`. */
  async create(sent: SentSub, who: Principal, note?: (sub: Sub) => void): Promise<Sub> {
    const url = required(sent.url);
    const sub = await this.#needs.store.add(
      (others) => ({
        remark: sent.remark ?? '',
        url,
        enabled: sent.enabled ?? true,
        allowPrivate: sent.allowPrivate ?? false,
        allowInsecure: sent.allowInsecure ?? false,
        tagPrefix: sent.tagPrefix ?? freePrefix(others),
        updateInterval: sent.updateInterval ?? USUAL_INTERVAL,
        // Not their number: after a deletion one of them may have that.
        priority: (others.at(-1)?.priority ?? -1) + 1,
        prepend: sent.prepend ?? false,
        lastUpdated: 0,
        lastError: '',
        outbounds: [],
        leftOut: NOTHING_LEFT_OUT,
        defaultTag: '',
        triedAt: 0,
        failures: 0,
      }),
      who,
      note,
    );
    this.#needs.news.changed();
    return sub;
  }

  /** Throws KERNEL_INVALID where `create` would. */
  check(sent: SentSub): void {
    required(sent.url);
  }

  /** Changes what is sent and leaves the rest. Resolves with what is to be said of it. */
  update(id: number, sent: SentSub, who: Principal): Promise<string> {
    return this.#applied('the subscription is saved', async () => {
      const { store, clock, parts } = this.#needs;
      await store.change(
        id,
        (before) => {
          const given = Object.entries(sent).filter(([, value]) => value !== undefined);
          const fields = Object.fromEntries(given) as Partial<Sub>;
          const { url = before.url, tagPrefix = before.tagPrefix, prepend = before.prepend } = fields;
          const isOther = url !== before.url;
          const isAsked = isOther || fields.allowPrivate !== undefined || fields.allowInsecure !== undefined;
          const others = store.list().flatMap((sub) => (sub.id === id ? [] : sub.outbounds));
          const taken = new Set([...others.map(({ tag }) => tag), ...parts.templateTags()]);
          const outbounds =
            tagPrefix === before.tagPrefix
              ? before.outbounds
              : withPrefix(before.outbounds, { from: before.tagPrefix, to: tagPrefix, taken });
          // The same outbound, under its new tag.
          const at = before.outbounds.findIndex(({ tag }) => tag === before.defaultTag);
          const standard = outbounds[Math.max(at, 0)]?.tag ?? '';
          return {
            ...fields,
            ...(outbounds !== before.outbounds && { outbounds }),
            // That of another list is taken by `refresh`; until then, traffic goes on where it went.
            defaultTag: prepend ? standard : '',
            ...(isAsked && { triedAt: 0, failures: 0 }),
            updatedAt: clock.now(),
          };
        },
        who,
      );
    });
  }

  delete(id: number, who: Principal): Promise<string> {
    return this.#applied(
      'the subscription is deleted',
      async () => void (await this.#needs.store.delete(id, who)),
    );
  }

  move(id: number, by: 1 | -1, who: Principal): Promise<string> {
    return this.#applied('the order is saved', () => this.#needs.store.move(id, by, who));
  }

  /** Resolves with the outbounds in force and what is to be said of them. Rejects with NOT_FETCHED. */
  async refresh(id: number): Promise<{ message: string; outbounds: JsonObject[] }> {
    const { parts, refresher } = this.#needs;
    const before = parts.standardTag();
    const { outbounds, lastError } = await refused(() => refresher.refresh(id, 'admin'));
    const many =
      outbounds.length === 1 ? '1 outbound is in force' : `${outbounds.length} outbounds are in force`;
    const said = [many, lastError, this.#standardNote(before)];
    return { message: said.filter(Boolean).join('; '), outbounds: outbounds.map(outboundOf) };
  }

  /** What a list would be, and what of it is left out; writes nothing. Rejects with NOT_FETCHED. */
  look(source: Partial<ListSource>): Promise<Looked> {
    const { store, refresher } = this.#needs;
    const { url, allowPrivate = false, allowInsecure = false } = source;
    const asked = { url: required(url), allowPrivate, allowInsecure };
    return refused(() => refresher.look(asked, freePrefix(store.list())));
  }

  async #applied(done: string, work: () => Promise<void>): Promise<string> {
    const { engine, news, parts, refresher } = this.#needs;
    const before = parts.standardTag();
    const applied = await refresher.alone(async (): Promise<Applied> => {
      await work();
      return engine.reconcileConfig();
    });
    news.changed();
    news.outboundsChanged();
    return [describeResult(done, applied), this.#standardNote(before)].filter(Boolean).join('; ');
  }

  /** The default outbound never changes in silence. */
  #standardNote(before: string | undefined): string {
    const now = this.#needs.parts.standardTag();
    if (now === before) return '';
    return now === undefined
      ? 'what no rule takes leaves by the first outbound of the template again'
      : `what no rule takes leaves by ${now} now`;
  }
}

/** `sub1-`, `sub2-` …: the first that nobody has. */
function freePrefix(subs: readonly Sub[]): string {
  const taken = new Set(subs.map(({ tagPrefix }) => tagPrefix));
  for (let number = 1; ; number++) if (!taken.has(`sub${number}-`)) return `sub${number}-`;
}

async function refused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ListProblem) throw errors.NOT_FETCHED(error.message, { cause: error });
    throw error;
  }
}
