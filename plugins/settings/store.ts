// The values in force: environment, then database, then config file, then what a fresh panel has. Kept in memory, fed after every commit.
import { type Database, inspect, type Log, messageOf, type PluginContext, type TableModel, type Tx } from '../../kernel/index.js';
import { type SettingGroup, type SettingGroupEntry, SettingGroups, type SettingsApi, type SettingValues } from './contract.js';
import type { tables } from './tables.js';

interface Known {
  readonly schema: SettingGroup[string]['schema'];
  readonly secret: boolean;
  readonly group: SettingGroup;
  readonly variable: string | undefined;
  value: unknown;
}

export class SettingsStore implements SettingsApi {
  readonly #db: Database;
  readonly #rows: TableModel<typeof tables.settings>;
  readonly #log: Log;
  readonly #extensions: PluginContext['extensions'];
  readonly #known = new Map<string, Known>();
  readonly #groups = new Map<SettingGroup, Readonly<Record<string, unknown>>>();

  constructor({ db, tables: { settings }, log, extensions }: { db: Database; tables: { settings: TableModel<typeof tables.settings> }; log: Log; extensions: PluginContext['extensions'] }) {
    this.#db = db;
    this.#rows = settings;
    this.#log = log;
    this.#extensions = extensions;
  }

  async load(): Promise<void> {
    const stored = new Map((await this.#rows.findAll({ raw: true })).map((row) => [(row as unknown as { name: string }).name, (row as unknown as { value: string }).value]));
    const fresh: Record<string, unknown> = {};
    for (const { plugin, value: entry } of this.#extensions(SettingGroups)) this.#declare(plugin, entry, stored, fresh);
    if (Object.keys(fresh).length > 0) await this.#db.write((tx) => this.write(tx, fresh));
    for (const group of this.#groups.keys()) this.#refresh(group);
  }

  #declare(plugin: string, { group, pinned = {}, defaults = {} }: SettingGroupEntry, stored: ReadonlyMap<string, string>, fresh: Record<string, unknown>): void {
    this.#groups.set(group, {});
    for (const [name, { schema, initial, secret }] of Object.entries(group)) {
      if (this.#known.has(name)) throw new Error(`the setting ${name} of plugin ${plugin} is declared twice`);
      const pin = pinned[name];
      const kept = stored.get(name);
      let value: unknown = pin?.value ?? (kept === undefined ? undefined : this.#parse(name, schema, kept)) ?? defaults[name];
      if (value === undefined) {
        value = typeof initial === 'function' ? (initial as () => unknown)() : initial;
        if (typeof initial === 'function') fresh[name] = value;
      }
      this.#known.set(name, { schema, secret, group, variable: pin?.variable, value });
    }
  }

  /** A value that no longer fits must not keep the panel from starting. */
  #parse(name: string, schema: Known['schema'], json: string): unknown {
    let problem: string;
    try {
      const result = inspect(schema.label(name), JSON.parse(json) as unknown);
      if ('value' in result) return result.value;
      problem = result.issues.map(({ message }) => message).join('; ');
    } catch (error) {
      problem = messageOf(error);
    }
    this.#log.warn('a stored setting does not fit any more; its default is used', { setting: name, problem });
    return undefined;
  }

  #refresh(group: SettingGroup): void {
    this.#groups.set(group, Object.freeze(Object.fromEntries(Object.keys(group).map((name) => [name, this.#known.get(name)?.value]))));
  }

  read<G extends SettingGroup>(group: G): SettingValues<G> {
    const values = this.#groups.get(group);
    if (!values) throw new Error('this group of settings was not added to SettingGroups');
    return values as SettingValues<G>;
  }

  known(name: string): Omit<Known, 'group'> | undefined {
    return this.#known.get(name);
  }
  names(): string[] {
    return [...this.#known.keys()];
  }

  async write(tx: Tx, changes: Readonly<Record<string, unknown>>): Promise<void> {
    for (const [name, value] of Object.entries(changes)) await this.#rows.upsert({ name, value: JSON.stringify(value) }, { transaction: tx.t });
  }

  /** Takes over what has been committed. */
  apply(changes: Readonly<Record<string, unknown>>): void {
    const touched = new Set<SettingGroup>();
    for (const [name, value] of Object.entries(changes)) {
      const known = this.#known.get(name);
      if (!known) continue;
      known.value = value;
      touched.add(known.group);
    }
    for (const group of touched) this.#refresh(group);
  }
}
