// Disables inbounds at their limit, and enables them when the limit is raised or the traffic reset.
import type { Database, Principal, SerialQueue, Tx } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { type Applied, DONE } from '../engine/contract.js';
import type { InboundChange, InboundLimitsApi } from './contract.js';
import type { CoreEdits } from './core-edits.js';
import type { Inbound } from './schema.js';
import type { InboundStore } from './store.js';
import type { InboundTables } from './tables.js';

export type InboundDepletion = 'quota' | 'expiry' | undefined;
interface Used {
  readonly up: number;
  readonly down: number;
}
const NOTHING: Used = { up: 0, down: 0 };

/** Returns the limit that an inbound has reached, enabled or not. */
export function inboundDepletion(
  { total, expiryTime }: Pick<Inbound, 'total' | 'expiryTime'>,
  { up, down }: Used,
  now: number,
): InboundDepletion {
  if (total > 0 && up + down >= total) return 'quota';
  return expiryTime > 0 && expiryTime <= now ? 'expiry' : undefined;
}

/** Disables an inbound at its limit and names the cause; enables it when the limit is lifted. An inbound that an admin disabled stays disabled. */
export function settleInbound(
  inbound: Pick<Inbound, 'enable' | 'depletedCause' | 'total' | 'expiryTime'>,
  used: Used,
  now: number,
): Pick<Inbound, 'enable' | 'depletedCause'> {
  const cause = inboundDepletion(inbound, used, now) ?? null;
  const wanted = inbound.enable || inbound.depletedCause !== null;
  return { enable: wanted && cause === null, depletedCause: wanted ? cause : null };
}

export class InboundLimits implements InboundLimitsApi {
  readonly #db: Database;
  readonly #rows: InboundTables['inbounds'];
  readonly #store: InboundStore;
  readonly #core: Pick<CoreEdits, 'follow'>;
  readonly #queue: SerialQueue;
  readonly #audit: AuditTrailApi | undefined;

  constructor({
    db,
    tables,
    store,
    coreEdits,
    queue,
    audit,
  }: {
    db: Database;
    tables: InboundTables;
    store: InboundStore;
    coreEdits: Pick<CoreEdits, 'follow'>;
    queue: SerialQueue;
    audit?: AuditTrailApi | undefined;
  }) {
    this.#audit = audit;
    this.#db = db;
    this.#rows = tables.inbounds;
    this.#store = store;
    this.#core = coreEdits;
    this.#queue = queue;
  }

  async deplete(
    inbounds: readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[],
    who: Principal,
  ): Promise<Applied> {
    const depleted = await this.#queue.run(async () => {
      const changes = inbounds.flatMap(({ id, cause }) => {
        const before = this.#store.get(id);
        return before?.enable ? [updated(before, { enable: false, depletedCause: cause })] : [];
      });
      if (changes.length > 0) await this.#db.write((tx) => this.#save(tx, changes, who));
      return changes.map(({ before }) => before);
    });
    return this.#core.follow(depleted);
  }

  /** Leaves `lastTrafficResetTime`, which is for resets of all inbounds. */
  async resetOne(id: number, now: number, who: Principal): Promise<Applied> {
    this.#store.find(id);
    return this.#reset([id], now, {}, who, (work) => this.#db.write(work));
  }

  async resetAll(now: number, who: Principal): Promise<Applied> {
    const ids = this.#store.list().map(({ id }) => id);
    return this.#reset(ids, now, { lastTrafficResetTime: now }, who, (work) => this.#db.write(work));
  }

  reset(
    ids: readonly number[],
    now: number,
    who: Principal,
    within: (work: (tx: Tx) => Promise<void>) => Promise<unknown>,
  ): Promise<Applied> {
    return this.#reset(ids, now, { lastTrafficResetTime: now, countedSince: now }, who, within);
  }

  async #reset(
    ids: readonly number[],
    now: number,
    stamp: Partial<Inbound>,
    who: Principal,
    within: (work: (tx: Tx) => Promise<void>) => Promise<unknown>,
  ): Promise<Applied> {
    const moved = await this.#queue.run(async () => {
      const changes = ids.flatMap((id) => {
        const before = this.#store.get(id);
        return before ? [updated(before, { ...stamp, ...settleInbound(before, NOTHING, now) })] : [];
      });
      if (changes.length === 0) return [];
      const there = changes.map(({ after }) => after.id);
      await within(async (tx) => {
        const used = changes.map(({ after: { id, tag } }) => ({
          kind: 'updated' as const,
          ...{ name: tag, id, before: { ...this.#store.usage(id) }, after: { ...NOTHING } },
        }));
        await this.#audit?.record(tx, 'inboundTraffic', who, used);
        await this.#store.resetUsage(tx, there);
        if (Object.keys(stamp).length > 0)
          await this.#rows.update(stamp, { where: { id: there }, transaction: tx.t });
        await this.#save(tx, changes, who);
      });
      return changes.flatMap(({ before, after }) => (before.enable === after.enable ? [] : before));
    });
    return moved.length > 0 ? this.#core.follow(moved) : DONE;
  }

  /** Writes `enable` and `depletedCause`, with one statement for each pair of values; the caller writes the other columns. */
  async #save(tx: Tx, changes: readonly Updated[], who: Principal): Promise<void> {
    for (const cause of ['quota', 'expiry', null] as const)
      for (const enable of [true, false]) {
        const ids = changes.filter(
          ({ before, after }) =>
            !sameSwitch(before, after) && after.enable === enable && after.depletedCause === cause,
        );
        if (ids.length > 0)
          await this.#rows.update(
            { enable, depletedCause: cause },
            { where: { id: ids.map(({ after }) => after.id) }, transaction: tx.t },
          );
      }
    await this.#store.saved(tx, changes, who);
  }
}

type Updated = InboundChange & { readonly before: Inbound; readonly after: Inbound };
const updated = (before: Inbound, fields: Partial<Inbound>): Updated => ({
  kind: 'updated',
  before,
  after: { ...before, ...fields },
});
const sameSwitch = (a: Inbound, b: Inbound): boolean =>
  a.enable === b.enable && a.depletedCause === b.depletedCause;
