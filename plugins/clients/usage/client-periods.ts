// Clients whose time starts again: they renew, or a period of their own schedule is over. Counters, dates and what is
// enabled because of them change in one transaction.
import { type Database, type Principal, TimeSlice, type Tx } from '../../../kernel/index.js';
import {
  afterClientSwitch,
  type ClientChange,
  type ClientPeriodsApi,
  duringClientSave,
  type PeriodEdit,
  type Renewable,
} from '../contract.js';
import type { GroupStore } from '../groups/group-store.js';
import type { ClientStore } from '../model/client-store.js';
import { decideEnabled, isSameSwitch, NOTHING_USED } from '../model/depletion.js';
import type { ClientRow } from '../model/row.js';
import { updateClients } from '../model/statements.js';
import type { Schedule } from '../model/value-schemas.js';
import { setUsage } from './counters.js';

type Reader = Pick<Database, 'query'>;
type Limits = Pick<ClientRow, 'id' | 'enable' | 'depletedCause' | 'totalGB' | 'expiryTime'>;

const UNUSED = NOTHING_USED;
const DAYS = Array.from({ length: 31 }, (_, i) => i + 1);
/** Not those that an admin disabled, and not those that are expired: their period ends when they are back. */
const DUE = `counted_since < :latest AND (enable = 1 OR depleted_cause = 'quota') AND NOT (expiry_time > 0 AND expiry_time <= :now)`;
const OF_DAY = `counted_since < CASE traffic_reset_day ${DAYS.map((day) => `WHEN ${day} THEN :day${day}`).join(' ')} END`;

export class ClientPeriods implements ClientPeriodsApi {
  readonly #store: ClientStore;
  readonly #groupStore: GroupStore;

  constructor({ store, groupStore }: { store: ClientStore; groupStore: GroupStore }) {
    this.#store = store;
    this.#groupStore = groupStore;
  }

  renewable(db: Reader, now: number, limit: number): Promise<Renewable[]> {
    return db.query<Renewable>(
      `SELECT id, email, expiry_time AS "expiryTime", reset, reset_day AS "resetDay", reset_max AS "resetMax", reset_count AS "resetCount"
       FROM clients WHERE renews_at <= :now ORDER BY renews_at LIMIT :limit`,
      { now, limit },
    );
  }

  async withEndedPeriod(
    db: Reader,
    startOf: (schedule: Exclude<Schedule, 'never'>, day: number) => number,
    now: number,
    limit: number,
  ): Promise<number[]> {
    const ids: number[] = [];
    const find = async (
      schedule: Schedule,
      starts: Readonly<Record<string, number>>,
      ofDay = '',
    ): Promise<void> => {
      if (ids.length >= limit) return;
      const rows = await db.query<{ id: number }>(
        `SELECT id FROM clients WHERE traffic_reset = :schedule AND ${DUE} ${ofDay} LIMIT :limit`,
        { schedule, latest: Math.max(...Object.values(starts)), ...starts, now, limit: limit - ids.length },
      );
      for (const { id } of rows) ids.push(id);
    };
    for (const schedule of ['hourly', 'daily', 'weekly'] as const)
      await find(schedule, { start: startOf(schedule, 1) });
    const ofDays = Object.fromEntries(DAYS.map((day) => [`day${day}`, startOf('monthly', day)]));
    await find('monthly', ofDays, `AND ${OF_DAY}`);
    return ids;
  }

  async save(tx: Tx, edits: readonly PeriodEdit[], now: number, who: Principal): Promise<Set<number>> {
    if (edits.length === 0) return new Set();
    const ids = edits.flatMap(({ id, isNew }) => (isNew ? [id] : []));
    const limits = await limitsOf(tx, ids);
    const enabled = new Set<number>();
    const changes: ClientChange[] = [];
    const rowEdits = edits.map(({ id, fields, isNew }) => {
      const before = limits.get(id);
      if (!isNew || !before) return { id, fields };
      const after = decideEnabled({ ...before, ...fields, ...UNUSED }, now);
      if (after.enable && !before.enable) enabled.add(id);
      return { id, fields: { ...fields, ...(!isSameSwitch(after, before) && after), ...UNUSED } };
    });
    const slice = new TimeSlice();
    for (const [i, { id, fields }] of rowEdits.entries()) {
      if (slice.isOver) await slice.next();
      const row = this.#store.byId(id);
      // Also where nothing was counted here: what other panels counted is over too.
      if (row)
        changes.push({
          kind: 'updated',
          before: { ...row },
          after: { ...row, ...fields },
          ...(edits[i]?.isNew && { setsUsage: true }),
        });
    }
    await this.#groupStore.shift(tx, ids, -1);
    await updateClients(
      tx,
      rowEdits.map(({ id, fields: { up: _, down: __, ...fields } }: PeriodRowEdit) => ({ id, fields })),
    );
    await setUsage(
      tx,
      ids.map((id) => ({ id, up: 0, down: 0 })),
    );
    this.#store.change(tx, { edited: rowEdits });
    await tx.during(duringClientSave, { changes, who });
    if (enabled.size > 0) tx.after(afterClientSwitch, { ids: [...enabled] });
    return enabled;
  }
}

interface PeriodRowEdit {
  readonly id: number;
  readonly fields: Partial<ClientRow>;
}

/** From the database: memory may lack the write before this one. */
async function limitsOf(tx: Tx, ids: readonly number[]): Promise<Map<number, Limits>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query<Limits>(
    'SELECT id, enable, depleted_cause AS "depletedCause", total_gb AS "totalGB", expiry_time AS "expiryTime" FROM clients WHERE id IN (:ids)',
    { ids },
  );
  return new Map(rows.map((row) => [row.id, { ...row, enable: Boolean(row.enable) }]));
}
