// Adds, changes and deletes inbounds: checks them, saves them, updates the core.
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
import { type Applied, DONE } from '../engine/contract.js';
import type { InboundCheck } from './check.js';
import { type Added, type AddOptions, type InboundChange, prepareInboundSave } from './contract.js';
import type { CoreEdits } from './core-edits.js';
import { errors } from './errors.js';
import { settleInbound } from './limits.js';
import { type Inbound, inboundRecord } from './fields.js';
import type { AddInbound, UpdateInbound } from './schema.js';
import { firstPending, type SentClientsPlans } from './sent-clients.js';
import type { InboundStore } from './store.js';
import type { InboundTables } from './tables.js';

type Draft = Omit<Inbound, 'id'>;
/** The fields that have a value. */
const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
const UNUSED = { up: 0, down: 0, lastTrafficResetTime: 0 };

export class InboundService {
  readonly #db: Database;
  readonly #rows: InboundTables['inbounds'];
  readonly #hooks: Hooks;
  readonly #store: InboundStore;
  readonly #core: CoreEdits;
  readonly #clock: Clock;
  readonly #check: InboundCheck;
  readonly #queue: SerialQueue;
  readonly #sentClients: SentClientsPlans;

  constructor(needs: {
    db: Database;
    tables: InboundTables;
    hooks: Hooks;
    clock: Clock;
    check: InboundCheck;
    store: InboundStore;
    coreEdits: CoreEdits;
    queue: SerialQueue;
    sentClients: SentClientsPlans;
  }) {
    this.#db = needs.db;
    this.#rows = needs.tables.inbounds;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#check = needs.check;
    this.#store = needs.store;
    this.#core = needs.coreEdits;
    this.#queue = needs.queue;
    this.#sentClients = needs.sentClients;
  }

  async add(sent: AddInbound, who: Principal, options: AddOptions = {}): Promise<Added> {
    const body = await this.#prepared(sent, undefined, who);
    const { ignored = new Set(), also, committing } = options;
    const { id, kept, clients } = await this.#queue.run(async () => {
      const { draft, kept } = await this.#checked(body, who, options);
      const clients = await this.#sentClients.of(
        body.settings,
        { before: undefined, saved: draft },
        who,
        ignored,
      );
      const saved = await this.#save(
        undefined,
        who,
        async (tx) => {
          const row = await this.#rows.create({ ...draft }, { transaction: tx.t });
          return { ...draft, id: Number(row.get('id')) };
        },
        async (tx, inbound) => {
          await clients.write(tx, inbound);
          if (options.counted)
            await this.#store.addUsage(tx, [{ inboundId: inbound.id, ...options.counted }]);
          await also?.(tx, inbound);
          committing?.({ id: inbound.id, applied: DONE, kept, note: clients.note });
        },
      );
      return { id: saved.id, kept, clients };
    });
    const applied = await this.#core.apply([], [id]);
    return { id, applied: firstPending(applied, await clients.apply()), kept, note: clients.note };
  }

  /** Does all checks of `add`, and saves nothing. Rejects as `add` would. */
  async check(sent: AddInbound, who: Principal, options: AddOptions = {}): Promise<void> {
    const body = await this.#prepared(sent, undefined, who);
    await this.#queue.run(() => this.#checked(body, who, options));
  }

  #checked(body: AddInbound, who: Principal, options: AddOptions) {
    const now = this.#clock.now();
    const { originGuid = '', counted = UNUSED } = options;
    const { lastTrafficResetTime } = counted;
    const wanted: Draft = inboundRecord.create({ ...body, originGuid, countedSince: now });
    return this.#check.run(
      { ...wanted, lastTrafficResetTime, ...settleInbound(wanted, counted, now) },
      undefined,
      who,
      options,
    );
  }

  async update(
    id: number,
    sent: UpdateInbound,
    who: Principal,
    ignored = new Set<string>(),
  ): Promise<{ applied: Applied; note: string }> {
    const { before, clients } = await this.#queue.run(async () => {
      const before = this.#store.find(id);
      const body = await this.#prepared(sent, before, who);
      // Programs send back all they were shown: an echoed `enable` is not an edit.
      const { enable = before.enable } = body;
      const edited = enable !== before.enable && { depletedCause: null };
      const fields = { ...given(body), ...edited };
      const clients = await this.#sentClients.of(
        body.settings,
        { before, saved: { ...before, ...fields } },
        who,
        ignored,
      );
      await this.#change(before, fields, who, clients.write);
      return { before, clients };
    });
    const applied = await this.#core.apply([before]);
    return { applied: firstPending(applied, await clients.apply()), note: clients.note };
  }

  /** An inbound at its limit stays disabled, and is enabled when the limit is lifted; `held` names the limit. */
  async setEnable(
    id: number,
    enable: boolean,
    who: Principal,
  ): Promise<{ applied: Applied; held: Inbound['depletedCause'] }> {
    const before = await this.#queue.run(async () => {
      const before = this.#store.find(id);
      await this.#change(before, { enable, depletedCause: null }, who);
      return before;
    });
    return {
      applied: await this.#core.apply([before]),
      held: this.#store.get(id)?.depletedCause ?? null,
    };
  }

  /** Lets plugins prepare what was sent. A result that breaks a rule is ignored, so that the fault is the plugin's and not the caller's. */
  async #prepared<B extends UpdateInbound>(sent: B, before: Inbound | undefined, who: Principal): Promise<B> {
    const [body = sent] = await this.#hooks.prepare(prepareInboundSave, [sent], { before, who }, (next) => {
      if (!before && (next.port === undefined || next.protocol === undefined))
        return 'a new inbound needs a port and a protocol';
      // Values of the caller are checked later.
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

  async #change(
    before: Inbound,
    fields: Partial<Draft>,
    who: Principal,
    also?: (tx: Tx, inbound: Inbound) => Promise<void>,
  ): Promise<void> {
    const { id } = before;
    const now = this.#clock.now();
    const wanted: Draft = { ...before, ...fields };
    // A new schedule starts now: earlier usage does not complete a period.
    const newSchedule =
      wanted.trafficReset !== before.trafficReset || wanted.trafficResetDay !== before.trafficResetDay;
    const { draft } = await this.#check.run(
      {
        ...wanted,
        ...settleInbound(wanted, this.#store.usage(id), now),
        countedSince: newSchedule ? now : before.countedSince,
        originGuid: wanted.nodeId === before.nodeId ? before.originGuid : '',
      },
      before,
      who,
    );
    await this.#save(
      before,
      who,
      async (tx) => {
        await this.#rows.update(draft, { where: { id }, transaction: tx.t });
        return { ...draft, id };
      },
      also,
    );
  }

  /** Clients of the inbound stay, without it. */
  async delete(id: number, who: Principal): Promise<Applied> {
    const before = await this.#queue.run(async () => {
      const before = this.#store.find(id);
      await this.#destroy([before], who);
      return before;
    });
    return this.#core.apply([before]);
  }

  async #destroy(inbounds: readonly Inbound[], who: Principal): Promise<void> {
    const changes = inbounds.map((before): InboundChange => ({ kind: 'deleted', before, after: undefined }));
    await this.#db.write(async (tx) => {
      for (const { id } of inbounds) await this.#store.checkVersion(tx, id);
      await this.#rows.destroy({ where: { id: inbounds.map(({ id }) => id) }, transaction: tx.t });
      await this.#store.saved(tx, changes, who);
    });
  }

  /** Deletes in one transaction and updates the core once. Unknown ids are `skipped`. */
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
    const deleted = await this.#queue.run(async () => {
      const gone = known.flatMap((id) => this.#store.get(id) ?? []);
      if (gone.length > 0) await this.#destroy(gone, who);
      return gone;
    });
    return {
      deleted: deleted.length,
      skipped,
      applied: deleted.length === 0 ? DONE : await this.#core.apply(deleted),
    };
  }

  /** Sets the position in subscriptions, which the core does not know. */
  async setSortIndex(id: number, subSortIndex: number, who: Principal): Promise<void> {
    await this.#queue.run(async () => {
      const before = this.#store.find(id);
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
    also?: (tx: Tx, inbound: Inbound) => Promise<void>,
  ): Promise<Inbound> {
    try {
      return await this.#db.write(async (tx) => {
        if (before) await this.#store.checkVersion(tx, before.id);
        const after = await write(tx);
        const changes: InboundChange[] = [{ kind: before ? 'updated' : 'added', before, after }];
        await this.#store.saved(tx, changes, who);
        await also?.(tx, after);
        return after;
      });
    } catch (error) {
      if (error instanceof UniqueConstraintError)
        throw errors.TAG_TAKEN(undefined, { path: 'tag', cause: error });
      throw error;
    }
  }
}
