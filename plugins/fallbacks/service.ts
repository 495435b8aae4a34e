// Reads and replaces the fallbacks of an inbound.
import { ForeignKeyConstraintError } from 'sequelize';
import {
  type Database,
  kernelErrors,
  type Issue,
  type Principal,
  SerialQueue,
  sentenceOf,
} from '../../kernel/index.js';
import { type CoreGuardApi, inboundAt } from '../core-guard/contract.js';
import type { Applied, EngineApi, JsonObject } from '../engine/contract.js';
import {
  type Inbound,
  type InboundChange,
  type InboundEditsApi,
  inboundErrors,
  type InboundsApi,
  isSamePlace,
  type LocalInboundsApi,
} from '../inbounds/contract.js';
import { isHidden } from './child-entry.js';
import { errors } from './errors.js';
import { coreFallback, idleReason, MASTERS } from './fallback.js';
import type { Fallback, SentFallback } from './schema.js';
import type { WayOutput } from '../subscription/contract.js';
import type { FallbackStore } from './store.js';

type NewFallback = Omit<Fallback, 'id'>;

export class FallbackService {
  readonly #db: Database;
  readonly #store: FallbackStore;
  readonly #inbounds: InboundsApi;
  readonly #local: LocalInboundsApi;
  readonly #edits: InboundEditsApi;
  readonly #guard: CoreGuardApi;
  readonly #engine: EngineApi;
  /** whether the fallbacks are in memory; subscriptions may be composed before */
  isReady = false;
  /** undefined until the subscription starts */
  output: WayOutput | undefined;
  /** Each edit is checked against the result of the previous one. */
  readonly #queue = new SerialQueue();

  constructor(needs: {
    db: Database;
    store: FallbackStore;
    inbounds: InboundsApi;
    localInbounds: LocalInboundsApi;
    edits: InboundEditsApi;
    guard: CoreGuardApi;
    engine: EngineApi;
  }) {
    this.#db = needs.db;
    this.#store = needs.store;
    this.#inbounds = needs.inbounds;
    this.#local = needs.localInbounds;
    this.#edits = needs.edits;
    this.#guard = needs.guard;
    this.#engine = needs.engine;
  }

  /** Throws INBOUNDS_NOT_FOUND. */
  list(masterId: number): readonly Fallback[] {
    this.#inbound(masterId);
    return this.#store.of(masterId);
  }

  /** Replaces all fallbacks of an inbound. `idle` says why the core does not use them yet. */
  async replace(
    masterId: number,
    sent: readonly SentFallback[],
    who: Principal,
  ): Promise<{ applied: Applied; idle: string | undefined }> {
    await this.#queue.run(async () => {
      const master = this.#inbound(masterId);
      if (sent.length > 0 && !MASTERS.includes(master.protocol))
        throw errors.NO_MASTER(
          `an inbound of the protocol ${master.protocol} cannot have fallbacks; ${MASTERS.join(' and ')} can`,
          { path: 'fallbacks' },
        );
      const wanted = sent.map((fallback, i) => this.#read(master, fallback, i));
      this.#refuseCycle(masterId, wanted);
      await this.#refuseDestinations(master, wanted);
      if (wanted.length > 0 && idleReason(master) === undefined)
        await this.#edits.test(master, (settings) => this.#settingsWith(settings, master, wanted));
      await this.#db
        .write((tx) => this.#store.replace(tx, masterId, wanted, who))
        .catch((cause: unknown) => {
          if (cause instanceof ForeignKeyConstraintError)
            throw inboundErrors.NOT_FOUND('an inbound was deleted meanwhile', { path: 'fallbacks', cause });
          throw cause;
        });
    });
    await this.refreshLinks();
    const applied = await this.#engine.reconcileConfig();
    const { length } = this.#store.of(masterId);
    const master = this.#inbounds.get(masterId);
    return { applied, idle: length > 0 && master ? idleReason(master) : undefined };
  }

  /** Call it after inbounds have changed. */
  async inboundsChanged(changes: readonly InboundChange[]): Promise<void> {
    const changed = changes.flatMap(({ before, after }) => [before, after]);
    if (changed.some((inbound) => inbound && MASTERS.includes(inbound.protocol))) await this.refreshLinks();
  }

  /** The links of inbounds that may be behind a master contain its place. */
  async refreshLinks(): Promise<void> {
    const hidden = this.#inbounds.list().filter(isHidden);
    await this.output?.recompose(hidden.map(({ id }) => id));
  }

  /** The settings of an inbound in the core's config, with its fallbacks. Without any, those in its own settings stay. */
  settingsOf(settings: JsonObject, inbound: Inbound): JsonObject {
    const fallbacks = this.#store.of(inbound.id);
    return fallbacks.length === 0 || !MASTERS.includes(inbound.protocol) || idleReason(inbound) !== undefined
      ? settings
      : this.#settingsWith(settings, inbound, fallbacks);
  }

  #settingsWith(settings: JsonObject, master: Inbound, fallbacks: readonly NewFallback[]): JsonObject {
    return {
      ...settings,
      fallbacks: fallbacks
        .filter(({ childId }) => childId === 0 || this.#store.isChild(master, childId))
        .map((fallback) => coreFallback({ id: 0, ...fallback }, (id) => this.#inbounds.get(id))),
    };
  }

  /** Throws APART where an inbound would leave the machine of another with which fallbacks join it. */
  refuseApart(before: Inbound | undefined, after: Omit<Inbound, 'id'>): void {
    if (!before || isSamePlace(before, after)) return;
    const other = this.#store.joinedWith(before.id);
    if (other !== undefined)
      throw errors.APART(
        `nodeId: a fallback joins this inbound with inbound ${other}, which stays on its machine; remove the fallback first`,
        { path: 'nodeId' },
      );
  }

  #inbound(id: number): Inbound {
    const inbound = this.#inbounds.get(id);
    if (!inbound) throw inboundErrors.NOT_FOUND(`there is no inbound with id ${id}`, { path: 'id' });
    return inbound;
  }

  /** A destination that is one of our inbounds becomes its child, so that the fallback follows when it moves. */
  #read(master: Inbound, sent: SentFallback, i: number): NewFallback {
    const dest = String(sent.dest ?? '');
    const path = `fallbacks.${i}`;
    const childId = sent.childId || (inboundAt(dest, this.#inbounds.beside(master))?.id ?? 0);
    if (childId === 0 && dest === '')
      throw kernelErrors.INVALID(`${path} leads nowhere; send childId or dest`, { path: `${path}.childId` });
    if (sent.childId) this.#inbounds.require([sent.childId], `${path}.childId`);
    if (sent.childId && sent.childId !== master.id && !this.#store.isChild(master, sent.childId))
      throw errors.APART(
        `${path}.childId: another machine runs inbound ${sent.childId}; a fallback leads to inbounds of its own machine`,
        { path: `${path}.childId` },
      );
    if (childId === master.id)
      throw errors.CYCLE(`${path} leads to the inbound itself`, {
        path: `${path}.${sent.childId ? 'childId' : 'dest'}`,
      });
    return {
      masterId: master.id,
      childId,
      name: sent.name ?? '',
      alpn: sent.alpn ?? '',
      path: sent.path ?? '',
      dest: childId === 0 ? dest : '',
      xver: sent.xver ?? 0,
      sortOrder: sent.sortOrder || i + 1,
    };
  }

  /** A connection that matches nowhere would go round for ever. */
  #refuseCycle(masterId: number, wanted: readonly NewFallback[]): void {
    const visited = new Set<number>();
    const leadsBack = (id: number): boolean => {
      if (id === masterId) return true;
      if (visited.has(id)) return false;
      visited.add(id);
      return this.#store.of(id).some(({ childId }) => childId !== 0 && leadsBack(childId));
    };
    const found = wanted.findIndex(({ childId }) => childId !== 0 && leadsBack(childId));
    if (found >= 0)
      throw errors.CYCLE(
        `inbound ${wanted[found]?.childId} has fallbacks that lead back to inbound ${masterId}`,
        { path: `fallbacks.${found}.childId` },
      );
  }

  /** Inbounds of this panel are always allowed; `core-guard` decides about all others. */
  async #refuseDestinations(master: Inbound, wanted: readonly NewFallback[]): Promise<void> {
    const inbounds = [...this.#inbounds.beside(master), master];
    const elsewhere = this.#local.get(master.id) === undefined;
    const settings = { fallbacks: wanted.map(({ childId, dest }) => (childId === 0 ? { dest } : {})) };
    const found = await this.#guard.examine({ listen: master.listen, settings }, { inbounds, elsewhere });
    const issues = found.map(({ path: at, message }): Issue => {
      const path = at.replace('settings.', '');
      return { path, message: message.replace(at, path) };
    });
    if (issues.length > 0) throw kernelErrors.INVALID(sentenceOf(issues), { issues });
  }
}
