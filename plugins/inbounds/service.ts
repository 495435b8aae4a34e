// Adding, changing and removing inbounds: checked, saved, then told to the core.
import { UniqueConstraintError } from 'sequelize';
import {
  type Clock,
  type Database,
  type Hooks,
  inspect,
  type Issue,
  issuesAt,
  kernelErrors,
  refuseHidden,
  type Tx,
  whyNotJson,
} from '../../kernel/index.js';
import {
  type Applied,
  type CoreInbound,
  CoreRefused,
  type EngineApi,
  type JsonObject,
} from '../engine/contract.js';
import {
  afterInboundSave,
  beforeInboundSave,
  describeInbounds,
  type InboundChange,
  type InboundView,
  type Protocol,
} from './contract.js';
import { errors } from './errors.js';
import { settleInbound } from './limits.js';
import { optionOf } from './option.js';
import { refusePortInUse, refuseTakenPort, samePlace } from './ports.js';
import { type AddInbound, FRESH, type Inbound, type UpdateInbound } from './schema.js';
import type { InboundStore } from './store.js';
import { refuseTooMuch } from './size.js';
import { coreStream, streamIssues } from './stream/stream.js';
import type { InboundTables } from './tables.js';
import type { Turns } from './turns.js';

type Draft = Omit<Inbound, 'id'>;
const UNUSED = { up: 0, down: 0 };
const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

const isGenerated = (tag: string, port: number): boolean =>
  tag.startsWith(`in-${port}-tcp`) && /^in-\d+-tcp(?:-\d+)?$/.test(tag);

/** The tag that was asked for, or one made of the port; a made one follows its port. */
function tagFor(wanted: Draft, before: Inbound | undefined, others: readonly Inbound[]): string {
  const moved =
    before !== undefined &&
    before.port !== wanted.port &&
    wanted.tag === before.tag &&
    isGenerated(before.tag, before.port);
  if (wanted.tag !== '' && !moved) return wanted.tag;
  const taken = new Set(others.map(({ tag }) => tag));
  const plain = `in-${wanted.port}-tcp`;
  let free = plain;
  for (let i = 2; taken.has(free); i++) free = `${plain}-${i}`;
  return free;
}

/** The inbound as the core's config has it. */
export function coreInbound(inbound: Draft, protocol: Protocol): CoreInbound {
  const { tag, listen, port, streamSettings, sniffing, settings } = inbound;
  const config = {
    tag,
    listen: listen || '0.0.0.0',
    port,
    protocol: protocol.name,
    settings: protocol.coreSettings(settings),
    streamSettings: coreStream(streamSettings),
    sniffing,
  } as unknown as JsonObject;
  // Said when it is saved: later on it would keep all inbounds from the core.
  const problem = whyNotJson(config);
  if (problem !== undefined) throw kernelErrors.INVALID(`the core cannot be given this inbound: ${problem}`);
  return { tag, protocol: protocol.accounts?.(settings) ?? protocol.name, config };
}

export class InboundService {
  readonly #db: Database;
  readonly #rows: InboundTables['inbounds'];
  readonly #hooks: Hooks;
  readonly #store: InboundStore;
  readonly #engine: EngineApi;
  readonly #clock: Clock;
  readonly #turns: Turns;

  constructor(needs: {
    db: Database;
    tables: InboundTables;
    hooks: Hooks;
    clock: Clock;
    store: InboundStore;
    engine: EngineApi;
    turns: Turns;
  }) {
    this.#db = needs.db;
    this.#rows = needs.tables.inbounds;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
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
    }));
    return this.#hooks.refine(describeInbounds, rows, { whole }).map((row) => ({
      ...row,
      ...(!whole && { settings: null, streamSettings: null, sniffing: null }),
      clientStats: row.clientStats as Record<string, unknown>[],
      fallbackParent: null,
      nodeId: null,
      originNodeGuid: '',
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

  async add(body: AddInbound): Promise<{ id: number; applied: Applied }> {
    const clients = body.settings?.['clients'];
    if (Array.isArray(clients) && clients.length > 0)
      throw errors.CLIENTS_APART(undefined, { path: 'settings.clients' });
    const { id } = await this.#turns.run(async () => {
      const now = this.#clock.now();
      const wanted = { ...FRESH, ...given(body), countedSince: now } as Draft;
      const draft = await this.#check({ ...wanted, ...settleInbound(wanted, UNUSED, now) }, undefined);
      return this.#save(undefined, async (tx) => {
        const row = await this.#rows.create({ ...draft }, { transaction: tx.t });
        return { ...draft, id: Number(row.get('id')) };
      });
    });
    return { id, applied: await this.#engine.reconcileConfig() };
  }

  async update(id: number, body: UpdateInbound): Promise<Applied> {
    await this.#turns.run(async () => {
      const before = this.#find(id);
      // Programs send back all that they were shown: a switch that stands as it stood is no word of a person.
      const { enable = before.enable } = body;
      await this.#change(before, {
        ...given(body),
        ...(enable !== before.enable && { depletedCause: null }),
      });
    });
    return this.#engine.reconcileConfig();
  }

  /** At a limit the wish is kept: the inbound comes back as soon as the limit is lifted. */
  async setEnable(
    id: number,
    enable: boolean,
  ): Promise<{ applied: Applied; held: Inbound['depletedCause'] }> {
    await this.#turns.run(() => this.#change(this.#find(id), { enable, depletedCause: null }));
    return {
      applied: await this.#engine.reconcileConfig(),
      held: this.#store.get(id)?.depletedCause ?? null,
    };
  }

  async #change(before: Inbound, fields: Partial<Draft>): Promise<void> {
    const { id } = before;
    const now = this.#clock.now();
    const wanted: Draft = { ...before, ...fields };
    // Another schedule begins now; what was used before it is no period of its own.
    const newSchedule =
      wanted.trafficReset !== before.trafficReset || wanted.trafficResetDay !== before.trafficResetDay;
    const draft = await this.#check(
      {
        ...wanted,
        ...settleInbound(wanted, this.#store.usage(id), now),
        countedSince: newSchedule ? now : before.countedSince,
      },
      before,
    );
    await this.#save(before, async (tx) => {
      await this.#rows.update(draft, { where: { id }, transaction: tx.t });
      return { ...draft, id };
    });
  }

  /** Its clients stay, without it. */
  async delete(id: number): Promise<Applied> {
    await this.#turns.run(() => this.#destroy([this.#find(id)]));
    return this.#engine.reconcileConfig();
  }

  async #destroy(inbounds: readonly Inbound[]): Promise<void> {
    await this.#db.write(async (tx) => {
      await this.#rows.destroy({ where: { id: inbounds.map(({ id }) => id) }, transaction: tx.t });
      tx.after(afterInboundSave, {
        changes: inbounds.map((before): InboundChange => ({ kind: 'deleted', before, after: undefined })),
      });
    });
  }

  /** In one transaction; the core is told once. */
  async deleteMany(
    ids: readonly number[],
  ): Promise<{ deleted: number; skipped: { id: number; reason: string; code: string }[]; applied: Applied }> {
    const skipped: { id: number; reason: string; code: string }[] = [];
    const known = [...new Set(ids)].filter((id) => {
      if (this.#store.get(id)) return true;
      skipped.push({ id, reason: errors.NOT_FOUND.text, code: errors.NOT_FOUND.code });
      return false;
    });
    const deleted = await this.#turns.run(async () => {
      const gone = known.flatMap((id) => this.#store.get(id) ?? []);
      if (gone.length > 0) await this.#destroy(gone);
      return gone.length;
    });
    return {
      deleted,
      skipped,
      applied: deleted === 0 ? { pending: false, reason: '' } : await this.#engine.reconcileConfig(),
    };
  }

  /** Where it stands in subscriptions; the core does not care. */
  async setSortIndex(id: number, subSortIndex: number): Promise<void> {
    await this.#turns.run(async () => {
      const before = this.#find(id);
      await this.#save(before, async (tx) => {
        await this.#rows.update({ subSortIndex }, { where: { id }, transaction: tx.t });
        return { ...before, subSortIndex };
      });
    });
  }

  /** Everything that can be said against an inbound before it is written. */
  async #check(wanted: Draft, before: Inbound | undefined): Promise<Draft> {
    const protocol = this.#store.protocol(wanted.protocol);
    if (!protocol)
      throw errors.UNKNOWN_PROTOCOL(
        `no plugin knows the protocol ${wanted.protocol}; there are ${this.#store.protocolNames().join(', ')}`,
        {
          path: 'protocol',
        },
      );
    if (wanted.remark !== before?.remark) refuseHidden('remark', wanted.remark, 'label');
    if (wanted.tag !== before?.tag) refuseHidden('tag', wanted.tag, 'name');
    refuseTooMuch(wanted);
    const { clients: _managedElsewhere, ...own } = wanted.settings;
    const settings = inspect(protocol.settings, own);
    const issues: Issue[] = [
      ...issuesAt('settings', settings),
      ...(await streamIssues(wanted.streamSettings)),
    ];
    if (issues.length > 0)
      throw kernelErrors.INVALID(issues.map(({ message }) => message).join('; '), { issues });
    const others = this.#store.list().filter(({ id }) => id !== before?.id);
    const draft: Draft = {
      ...wanted,
      settings: 'value' in settings ? settings.value : {},
      tag: tagFor(wanted, before, others),
    };
    await this.#hooks.check(beforeInboundSave, { before, after: draft });
    refuseTakenPort(others, draft);
    if (others.some(({ tag }) => tag === draft.tag))
      throw errors.TAG_TAKEN(`another inbound has the tag ${draft.tag}`, { path: 'tag' });
    // A place that this inbound holds already is held by our own core.
    if (draft.enable && !(before?.enable && samePlace(before, draft))) await refusePortInUse(draft);
    await this.#examine(coreInbound(draft, protocol));
    return draft;
  }

  async #examine(inbound: CoreInbound): Promise<void> {
    try {
      await this.#engine.examine(inbound);
    } catch (cause) {
      if (cause instanceof CoreRefused)
        throw errors.CORE_REFUSED(`the core refuses this inbound: ${cause.message}`, {
          cause,
          path: 'streamSettings',
        });
      throw cause;
    }
  }

  async #save(before: Inbound | undefined, write: (tx: Tx) => Promise<Inbound>): Promise<Inbound> {
    try {
      return await this.#db.write(async (tx) => {
        const after = await write(tx);
        const changes: InboundChange[] = [{ kind: before ? 'updated' : 'added', before, after }];
        tx.after(afterInboundSave, { changes });
        return after;
      });
    } catch (error) {
      if (error instanceof UniqueConstraintError)
        throw errors.TAG_TAKEN(undefined, { path: 'tag', cause: error });
      throw error;
    }
  }
}
