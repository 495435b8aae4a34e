// The alarms themselves: their state in memory, their events, and a copy in the database for the next start.
import {
  type Clock,
  type Database,
  type Hooks,
  type Log,
  messageOf,
  storageFailure,
} from '../../kernel/index.js';
import { type Alarm, alarmChanged, type AlarmsApi } from './contract.js';
import { type Bounds, Hysteresis } from './hysteresis.js';
import type { AlarmTables } from './tables.js';

export interface Reading extends Bounds {
  readonly name: string;
  /** for display: percent, or days that are left */
  readonly value: number;
  /** compared with the bounds: more is worse */
  readonly level: number;
  /** the limit as the setting has it; 0: no alarm */
  readonly setting: number;
  /** readings in a row that speak for a change */
  readonly needed: number;
  /** what the alarm says while it is active */
  readonly text: string;
}
interface State {
  readonly hysteresis: Hysteresis;
  since: number;
  reading: Reading | undefined;
}

export class ActiveAlarms implements AlarmsApi {
  readonly #db: Database;
  readonly #tables: AlarmTables;
  readonly #hooks: Hooks;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #states = new Map<string, State>();
  /** what the database should have but may not yet */
  #isSaved = true;

  constructor(needs: { db: Database; tables: AlarmTables; hooks: Hooks; clock: Clock; log: Log }) {
    this.#db = needs.db;
    this.#tables = needs.tables;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#log = needs.log;
  }

  /** Reads the alarms that were active when this panel stopped, or when another one stopped measuring. */
  async start(): Promise<void> {
    this.#states.clear();
    for (const row of await this.#tables.active.findAll()) {
      const { name, since } = row.get();
      this.#states.set(name, { hysteresis: new Hysteresis(1, true), since, reading: undefined });
    }
  }

  list(): Alarm[] {
    return [...this.#states.keys()].sort().map((name) => this.#shown(name));
  }

  take(reading: Reading): void {
    const { name, level, setting, needed } = reading;
    let state = this.#states.get(name);
    if (!state?.reading)
      this.#states.set(
        name,
        (state = {
          hysteresis: new Hysteresis(needed, state?.hysteresis.isActive),
          since: state?.since ?? 0,
          reading,
        }),
      );
    state.reading = reading;
    const { hysteresis } = state;
    const isChanged =
      setting === 0 ? hysteresis.set(false) : Number.isFinite(level) && hysteresis.take(level, reading);
    if (isChanged) this.#changed(name, state);
  }

  /** Ends alarms of this kind about what is there no longer, such as a certificate that is not served any more. */
  keepOnly(kind: string, names: ReadonlySet<string>): void {
    for (const [name, state] of this.#states) {
      if (!name.startsWith(kind) || names.has(name)) continue;
      if (state.hysteresis.set(false)) this.#changed(name, state);
      this.#states.delete(name);
    }
  }

  #changed(name: string, state: State): void {
    state.since = this.#clock.now();
    this.#isSaved = false;
    const alarm = this.#shown(name);
    if (alarm.isActive) this.#log.warn('an alarm is raised', { alarm: name, why: alarm.text });
    else this.#log.info('an alarm is over', { alarm: name });
    // Not in a write: a full disk is an alarm, and fails the write.
    this.#hooks.emit(alarmChanged, { alarm, at: state.since });
  }

  /** Stores which alarms are active. While the database fails, the next call does it. */
  async save(): Promise<void> {
    if (this.#isSaved) return;
    this.#isSaved = true;
    const rows = [...this.#states].flatMap(([name, { hysteresis, since }]) =>
      hysteresis.isActive ? [{ name, since }] : [],
    );
    try {
      await this.#db.write(async (tx) => {
        await this.#tables.active.destroy({ where: {}, transaction: tx.t });
        await this.#tables.active.bulkCreate(rows, { transaction: tx.t });
      });
    } catch (error) {
      this.#isSaved = false;
      if (!storageFailure(error)) throw error;
      this.#log.debug('active alarms are not stored yet', { reason: messageOf(error) });
    }
  }

  #shown(name: string): Alarm {
    const state = this.#states.get(name);
    const { value = null, setting = 0, text = '' } = state?.reading ?? {};
    const isActive = state?.hysteresis.isActive ?? false;
    return {
      name,
      isActive,
      since: state?.since ?? 0,
      value: value !== null && Number.isFinite(value) ? value : null,
      limit: setting,
      text: isActive ? text : '',
    };
  }
}
