// The values in force, in memory: environment, then what an admin saved, then config file, then what a fresh panel has.
import {
  type Database,
  frozen,
  inspect,
  type Log,
  messageOf,
  type Projection,
  type Row,
  type SettingGroup,
  type TableModel,
  type Tx,
  sentenceOf,
} from '../../kernel/index.js';
import { isSealed, type SecretsApi } from '../secrets/contract.js';
import type { Definition, Definitions } from './definitions.js';
import { sealedSettings, type tables } from './tables.js';

type Values = Readonly<Record<string, unknown>>;
type StoredRow = Row<typeof tables.settings>;

export interface SettingsState {
  readonly values: Map<string, unknown>;
  /** values by group; each object is frozen, and replaced at a change */
  readonly groups: Map<SettingGroup, Values>;
  /** generated values that are not in the database yet */
  readonly unwritten: Set<string>;
}

const initialOf = (initial: unknown): unknown =>
  typeof initial === 'function' ? (initial as () => unknown)() : initial;

export class SettingsValues {
  readonly #db: Database;
  readonly #rows: TableModel<typeof tables.settings>;
  readonly #log: Log;
  readonly #secrets: SecretsApi;
  readonly #definitions: Definitions;
  readonly projection: Projection<SettingsState, Values>;
  /** values generated in this process: a second load must use the same */
  readonly #generated = new Map<string, unknown>();

  constructor({
    db,
    tables: { settings },
    log,
    secrets,
    definitions,
  }: {
    db: Database;
    tables: { settings: TableModel<typeof tables.settings> };
    log: Log;
    secrets: SecretsApi;
    definitions: Definitions;
  }) {
    this.#db = db;
    this.#rows = settings;
    this.#log = log;
    this.#secrets = secrets;
    this.#definitions = definitions;
    this.projection = db.projection<SettingsState, Values>({
      load: () => this.#load(),
      apply: (state, changes) => this.#apply(state, changes),
    });
  }

  /** Returns undefined for a group that is not declared or not loaded yet. */
  ofGroup(group: SettingGroup): Values | undefined {
    return this.#definitions.areComplete ? this.projection.state.groups.get(group) : undefined;
  }
  of(name: string): unknown {
    return this.projection.state.values.get(name);
  }

  /** Runs `work` while groups have these values, and puts back what they had: nothing else runs in between, because `work` is synchronous. */
  runWith<T>(changes: Values, work: () => T): T {
    const { groups } = this.projection.state;
    const before = new Map<SettingGroup, Values>();
    for (const [name, value] of Object.entries(changes)) {
      const group = this.#definitions.byName.get(name)?.group;
      const values = group && groups.get(group);
      if (!group || !values) continue;
      if (!before.has(group)) before.set(group, values);
      groups.set(group, frozen({ ...values, [name]: value }));
    }
    try {
      const result = work();
      if (result instanceof Promise) throw new Error('a trial of settings must be synchronous');
      return result;
    } finally {
      for (const [group, values] of before) groups.set(group, values);
    }
  }

  /** Returns the value of a fresh panel; a generated one differs at each call. */
  initial(name: string): unknown {
    return initialOf(this.#definitions.byName.get(name)?.initial);
  }

  /** Writes what was generated, and encrypts secrets that an earlier panel stored as clear text. */
  async start(): Promise<void> {
    const { unwritten, values } = this.projection.state;
    const generated = Object.fromEntries([...unwritten].map((name) => [name, values.get(name)]));
    const clear = (await this.#read()).filter(
      ({ name, value }) =>
        this.#definitions.byName.get(name)?.secret && !isSealed(value) && !unwritten.has(name),
    );
    if (unwritten.size + clear.length > 0)
      await this.#db.write(async (tx) => {
        await this.#save(tx, [
          ...Object.entries(generated).map(([name, value]) => this.#rowOf(name, JSON.stringify(value), true)),
          ...clear.map(({ name, value, generated }) => this.#rowOf(name, value, generated)),
        ]);
        tx.apply(this.projection, generated);
      });
    if (clear.length > 0)
      this.#log.info('encrypted settings that are secrets', { settings: clear.map(({ name }) => name) });
  }

  /** Writes checked values. */
  async write(tx: Tx, changes: Values): Promise<void> {
    await this.#save(
      tx,
      Object.entries(changes).map(([name, value]) => this.#rowOf(name, JSON.stringify(value), false)),
    );
    tx.apply(this.projection, changes);
  }

  /** The values as the database has them, within a write. */
  async stored(tx: Tx): Promise<ReadonlyMap<string, unknown>> {
    return (await this.#load(tx)).values;
  }

  async #load(tx?: Tx): Promise<SettingsState> {
    this.#definitions.collect();
    const stored = new Map((await this.#read(tx)).map((row) => [row.name, row]));
    const state: SettingsState = { values: new Map(), groups: new Map(), unwritten: new Set() };
    for (const [name, definition] of this.#definitions.byName) {
      const { initial, pinned, preset } = definition;
      const row = stored.get(name);
      const saved = row && this.#parse(name, definition, row.value);
      let value: unknown = pinned ?? (row?.generated ? undefined : saved) ?? preset ?? saved;
      if (value === undefined && typeof initial === 'function') {
        if (!this.#generated.has(name)) this.#generated.set(name, this.initial(name));
        value = this.#generated.get(name);
        state.unwritten.add(name);
      }
      state.values.set(name, value === undefined ? initial : value);
    }
    for (const group of this.#definitions.groups) refresh(state, group);
    return state;
  }

  #apply(state: SettingsState, changes: Values): void {
    const touched = new Set<SettingGroup>();
    for (const [name, value] of Object.entries(changes)) {
      const definition = this.#definitions.byName.get(name);
      if (!definition) continue;
      state.values.set(name, value);
      state.unwritten.delete(name);
      touched.add(definition.group);
    }
    for (const group of touched) refresh(state, group);
  }

  async #read(tx?: Tx): Promise<StoredRow[]> {
    const rows = (await this.#rows.findAll({
      raw: true,
      ...(tx && { transaction: tx.t }),
    })) as unknown as StoredRow[];
    return rows.map((row) => ({ ...row, generated: Boolean(row.generated) }));
  }

  /** A value that is not valid any more must not keep the panel from starting. */
  #parse(name: string, { schema }: Definition, stored: string): unknown {
    let problem: string;
    try {
      const json = isSealed(stored) ? this.#secrets.open(sealedSettings, name, stored) : stored;
      const result = inspect(schema.label(name), JSON.parse(json) as unknown);
      if ('value' in result) return result.value;
      problem = sentenceOf(result.issues);
    } catch (error) {
      problem = messageOf(error);
    }
    this.#log.warn('a stored setting is not valid any more; using its default', { setting: name, problem });
    return undefined;
  }

  #rowOf(name: string, json: string, generated: boolean): StoredRow {
    const { secret = false } = this.#definitions.byName.get(name) ?? {};
    return { name, value: secret ? this.#secrets.seal(sealedSettings, name, json) : json, generated };
  }

  async #save({ t: transaction }: Tx, rows: readonly StoredRow[]): Promise<void> {
    await this.#rows.bulkCreate(rows, { updateOnDuplicate: ['value', 'generated'], transaction });
  }
}

function refresh({ groups, values }: SettingsState, group: SettingGroup): void {
  groups.set(group, frozen(Object.fromEntries(Object.keys(group).map((name) => [name, values.get(name)]))));
}
