// Adding, changing and removing inbounds: checked, saved, then told to the core.
import { UniqueConstraintError } from 'sequelize';
import {
  type Clock,
  type Database,
  type Hooks,
  PanelError,
  type Principal,
  refuseHidden,
  type SerialQueue,
  type Tx,
} from '../../kernel/index.js';
import type { Applied, EngineApi } from '../engine/contract.js';
import type { InboundCheck } from './check.js';
import {
  type Added,
  type AddOptions,
  afterInboundSave,
  describeInbounds,
  duringInboundSave,
  type InboundChange,
  type InboundView,
  prepareInboundSave,
} from './contract.js';
import { errors } from './errors.js';
import { settleInbound } from './limits.js';
import { optionOf } from './option.js';
import { type AddInbound, FRESH, type Inbound, type UpdateInbound } from './schema.js';
import type { InboundStore } from './store.js';
import type { InboundTables } from './tables.js';

type Draft = Omit<Inbound, 'id'>;
const UNUSED = { up: 0, down: 0 };
const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

export class InboundService {
  readonly #db: Database;
  readonly #rows: InboundTables['inbounds'];
  readonly #hooks: Hooks;
  readonly #store: InboundStore;
  readonly #engine: EngineApi;
  readonly #clock: Clock;
  readonly #check: InboundCheck;
  readonly #turns: SerialQueue;

  constructor(needs: {
    db: Database;
    tables: InboundTables;
    hooks: Hooks;
    clock: Clock;
    check: InboundCheck;
    store: InboundStore;
    engine: EngineApi;
    turns: SerialQueue;
  }) {
    this.#db = needs.db;
    this.#rows = needs.tables.inbounds;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#check = needs.check;
    this.#store = needs.store;
    this.#engine = needs.engine;
    this.#turns = needs.turns;
  }

  /** Rows for a reply; `whole` has settings and their clients, which lists leave out. */
  view(inbounds: readonly Inbound[], whole: boolean) {
    const rows: InboundView[] = inbounds.map(({ countedSince: _, ...inbound }) => ({
      ...inbound,
      ...this.#store.usage(inbound.id),
      clientStats: [],
      fallbackParent: null,
      nodeId: null,
      originNodeGuid: '',
    }));
    return this.#hooks.refine(describeInbounds, rows, { whole }).map((row) => ({
      ...row,
      ...(!whole && { settings: null, streamSettings: null, sniffing: null }),
      clientStats: row.clientStats as Record<string, unknown>[],
    }));
  }

  list() {
    return this.view(this.#store.list(), false);
  }

  options() {
    return this.#store.list().map((inbound) => optionOf(inbound, this.#store));
  }

  /** Whole, but of each client only who it is; secrets of clients stay out. */
  slim() {
    return this.view(this.#store.list(), true).map((row) => {
      const { clients } = row.settings ?? {};
      return {
        ...row,
        settings: {
          ...row.settings,
          clients: (Array.isArray(clients) ? (clients as Record<string, unknown>[]) : []).map(
            ({ email, enable, comment }) => ({ email, enable, comment }),
          ),
        },
      };
    });
  }

  get(id: number) {
    const [row] = this.view([this.#find(id)], true);
    if (!row) throw errors.NOT_FOUND();
    return row;
  }

  #find(id: number): Inbound {
    const inbound = this.#store.get(id);
    if (!inbound) throw errors.NOT_FOUND(`there is no inbound with id ${id}`, { path: 'id' });
    return inbound;
  }

  async add(sent: AddInbound, who: Principal, options?: AddOptions): Promise<Added> {
    const body = await this.#prepared(sent, undefined, who);
    const clients = body.settings?.['clients'];
    if (Array.isArray(clients) && clients.length > 0)
      throw errors.CLIENTS_APART(undefined, { path: 'settings.clients' });
    const { id, kept } = await this.#turns.run(async () => {
      const now = this.#clock.now();
      const wanted = { ...FRESH, ...given(body), countedSince: now } as Draft;
      const { draft, kept } = await this.#check.run(
        { ...wanted, ...settleInbound(wanted, UNUSED, now) },
        undefined,
        who,
        options,
      );
      const saved = await this.#save(undefined, who, async (tx) => {
        const row = await this.#rows.create({ ...draft }, { transaction: tx.t });
        return { ...draft, id: Number(row.get('id')) };
      });
      return { id: saved.id, kept };
    });
    return { id, applied: await this.#engine.reconcileConfig(), kept };
  }

  async update(id: number, sent: UpdateInbound, who: Principal): Promise<Applied> {
    await this.#turns.run(async () => {
      const before = this.#find(id);
      const body = await this.#prepared(sent, before, who);
      // Programs send back all that they were shown: a switch that stands as it stood is no word of a person.
      const { enable = before.enable } = body;
      const said = enable !== before.enable && { depletedCause: null };
      await this.#change(before, { ...given(body), ...said }, who);
    });
    return this.#engine.reconcileConfig();
  }

  /** At a limit the wish is kept: the inbound comes back as soon as the limit is lifted. */
  async setEnable(
    id: number,
    enable: boolean,
    who: Principal,
  ): Promise<{ applied: Applied; held: Inbound['depletedCause'] }> {
    await this.#turns.run(() => this.#change(this.#find(id), { enable, depletedCause: null }, who));
    return {
      applied: await this.#engine.reconcileConfig(),
      held: this.#store.get(id)?.depletedCause ?? null,
    };
  }

  /** What plugins make of an inbound that was sent; one that they leave without port or protocol is ignored. */
  async #prepared<B extends UpdateInbound>(sent: B, before: Inbound | undefined, who: Principal): Promise<B> {
    const [body = sent] = await this.#hooks.prepare(prepareInboundSave, [sent], { before, who }, (next) => {
      if (!before && (next.port === undefined || next.protocol === undefined))
        return 'a new inbound needs a port and a protocol';
      // What the caller sent is the caller's, and is checked later.
      const own = (field: 'protocol' | 'remark' | 'tag'): string =>
        next[field] === sent[field] ? '' : (next[field] ?? '');
      if (own('protocol') && !this.#store.protocol(own('protocol')))
        return `no plugin knows the protocol ${own('protocol')}`;
      try {
        refuseHidden('remark', own('remark'), 'label');
        refuseHidden('tag', own('tag'), 'name');
      } catch (error) {
        if (error instanceof PanelError) return error.message;
        throw error;
      }
      return undefined;
    });
    return body as B;
  }

  async #change(before: Inbound, fields: Partial<Draft>, who: Principal): Promise<void> {
    const { id } = before;
    const now = this.#clock.now();
    const wanted: Draft = { ...before, ...fields };
    // Another schedule begins now; what was used before it is no period of its own.
    const newSchedule =
      wanted.trafficReset !== before.trafficReset || wanted.trafficResetDay !== before.trafficResetDay;
    const { draft } = await this.#check.run(
      {
        ...wanted,
        ...settleInbound(wanted, this.#store.usage(id), now),
        countedSince: newSchedule ? now : before.countedSince,
      },
      before,
      who,
    );
    await this.#save(before, who, async (tx) => {
      await this.#rows.update(draft, { where: { id }, transaction: tx.t });
      return { ...draft, id };
    });
  }

  /** Its clients stay, without it. */
  async delete(id: number, who: Principal): Promise<Applied> {
    await this.#turns.run(() => this.#destroy([this.#find(id)], who));
    return this.#engine.reconcileConfig();
  }

  async #destroy(inbounds: readonly Inbound[], who: Principal): Promise<void> {
    const changes = inbounds.map((before): InboundChange => ({ kind: 'deleted', before, after: undefined }));
    await this.#db.write(async (tx) => {
      await this.#rows.destroy({ where: { id: inbounds.map(({ id }) => id) }, transaction: tx.t });
      await tx.during(duringInboundSave, { changes, who });
      tx.after(afterInboundSave, { changes, who });
    });
  }

  /** In one transaction; the core is told once. */
  async deleteMany(
    ids: readonly number[],
    who: Principal,
  ): Promise<{ deleted: number; skipped: { id: number; reason: string; code: string }[]; applied: Applied }> {
    const skipped: { id: number; reason: string; code: string }[] = [];
    const known = [...new Set(ids)].filter((id) => {
      if (this.#store.get(id)) return true;
      skipped.push({ id, reason: errors.NOT_FOUND.text, code: errors.NOT_FOUND.code });
      return false;
    });
    const deleted = await this.#turns.run(async () => {
      const gone = known.flatMap((id) => this.#store.get(id) ?? []);
      if (gone.length > 0) await this.#destroy(gone, who);
      return gone.length;
    });
    return {
      deleted,
      skipped,
      applied: deleted === 0 ? { pending: false, reason: '' } : await this.#engine.reconcileConfig(),
    };
  }

  /** Where it stands in subscriptions; the core does not care. */
  async setSortIndex(id: number, subSortIndex: number, who: Principal): Promise<void> {
    await this.#turns.run(async () => {
      const before = this.#find(id);
      await this.#save(before, who, async (tx) => {
        await this.#rows.update({ subSortIndex }, { where: { id }, transaction: tx.t });
        return { ...before, subSortIndex };
      });
    });
  }

  async #save(
    before: Inbound | undefined,
    who: Principal,
    write: (tx: Tx) => Promise<Inbound>,
  ): Promise<Inbound> {
    try {
      return await this.#db.write(async (tx) => {
        const after = await write(tx);
        const changes: InboundChange[] = [{ kind: before ? 'updated' : 'added', before, after }];
        await tx.during(duringInboundSave, { changes, who });
        tx.after(afterInboundSave, { changes, who });
        return after;
      });
    } catch (error) {
      if (error instanceof UniqueConstraintError)
        throw errors.TAG_TAKEN(undefined, { path: 'tag', cause: error });
      throw error;
    }
  }
}
