// The values in force: environment, then database, then config file, then what a fresh panel has. Kept in memory, fed after every commit.
import {
  frozen,
  after,
  type Database,
  inspect,
  type Log,
  messageOf,
  type PluginContext,
  type LiveSettings,
  type Plugin,
  type Principal,
  type SettingGroup,
  type SettingsSource,
  type SettingValues,
  tap,
  type TableModel,
  type Tx,
} from '../../kernel/index.js';
import {
  afterSettingsSave,
  duringSettingsSave,
  type SettingGroupEntry,
  SettingGroups,
  type SettingsApi,
} from './contract.js';
import { isSealed, type SecretsApi } from '../secrets/contract.js';
import { errors } from './errors.js';
import { groupProblem } from './group-problem.js';
import { sealedSettings, type tables } from './tables.js';

/** Internal to this plugin: memory follows the commit before anybody else hears of it. */
export const afterValuesWritten = after<Readonly<Record<string, unknown>>>('settings/afterValuesWritten');

interface Known {
  readonly schema: SettingGroup[string]['schema'];
  readonly about: string;
  readonly secret: boolean;
  readonly group: SettingGroup;
  readonly initial: SettingGroup[string]['initial'];
  readonly variable: string | undefined;
  value: unknown;
}

interface StoredRow {
  readonly name: string;
  readonly value: string;
  readonly generated: boolean | number;
}
const initialOf = (initial: unknown): unknown =>
  typeof initial === 'function' ? (initial as () => unknown)() : initial;

export class SettingsStore implements SettingsApi, SettingsSource {
  readonly #db: Database;
  readonly #rows: TableModel<typeof tables.settings>;
  readonly #log: Log;
  readonly #contributions: PluginContext['contributions'];
  readonly #secrets: SecretsApi;
  /** by definePlugin, in the order in which plugins are built */
  readonly #declared: { readonly plugin: string; readonly value: SettingGroupEntry }[] = [];
  readonly #known = new Map<string, Known>();
  readonly #groups = new Map<SettingGroup, Readonly<Record<string, unknown>>>();

  constructor({
    db,
    tables: { settings },
    log,
    contributions,
    secrets,
  }: {
    db: Database;
    tables: { settings: TableModel<typeof tables.settings> };
    log: Log;
    contributions: PluginContext['contributions'];
    secrets: SecretsApi;
  }) {
    this.#db = db;
    this.#rows = settings;
    this.#log = log;
    this.#contributions = contributions;
    this.#secrets = secrets;
  }

  declare<G extends SettingGroup>(plugin: Pick<Plugin, 'name' | 'outside'>, group: G): LiveSettings<G> {
    const entry = { plugin: plugin.name, value: frozen({ group }) };
    const problem = groupProblem(entry.value, plugin, this.#declared);
    if (problem !== undefined) throw new Error(problem);
    this.#declared.push(entry);
    return {
      read: () => this.read(group),
      change: (tx, values, who) => this.change(tx, group, values, who),
      changed: (run) =>
        tap(afterSettingsSave, ({ keys }) =>
          Object.keys(group).some((name) => keys.has(name)) ? run(this.read(group)) : undefined,
        ),
    };
  }

  async load(): Promise<void> {
    const rows = (await this.#rows.findAll({ raw: true })) as unknown as readonly StoredRow[];
    const stored = new Map(rows.map((row) => [row.name, row]));
    const fresh: Record<string, unknown> = {};
    for (const { value } of this.#declared) this.#take(value, stored, fresh);
    for (const { value, fault } of this.#contributions(SettingGroups)) {
      const twice = Object.keys(value.group).find((name) => this.#known.has(name));
      if (twice === undefined) this.#take(value, stored, fresh);
      else fault('settings', new Error(`the setting ${twice} is declared already; choose another name`));
    }
    if (Object.keys(fresh).length > 0) await this.#db.write((tx) => this.#write(tx, fresh, true));
    await this.#sealClear(rows);
    for (const group of this.#groups.keys()) this.#refresh(group);
  }

  #take(
    { group, pinned = {}, defaults = {} }: SettingGroupEntry,
    stored: ReadonlyMap<string, StoredRow>,
    fresh: Record<string, unknown>,
  ): void {
    this.#groups.set(group, {});
    for (const [name, { schema, initial, about, secret }] of Object.entries(group)) {
      const pin = pinned[name];
      const row = stored.get(name);
      const kept = row && this.#parse(name, schema, row.value);
      let value: unknown = pin?.value ?? (row?.generated ? undefined : kept) ?? defaults[name] ?? kept;
      if (value === undefined) {
        value = initialOf(initial);
        if (typeof initial === 'function') fresh[name] = value;
      }
      this.#known.set(name, { schema, about, secret, group, initial, variable: pin?.variable, value });
    }
  }

  /** A value that no longer fits must not keep the panel from starting. */
  #parse(name: string, schema: Known['schema'], stored: string): unknown {
    let problem: string;
    try {
      const json = isSealed(stored) ? this.#secrets.open(sealedSettings, name, stored) : stored;
      const result = inspect(schema.label(name), JSON.parse(json) as unknown);
      if ('value' in result) return result.value;
      problem = result.issues.map(({ message }) => message).join('; ');
    } catch (error) {
      problem = messageOf(error);
    }
    this.#log.warn('a stored setting does not fit any more; its default is used', { setting: name, problem });
    return undefined;
  }

  /** Secrets that a panel from before wrote down as they are. */
  async #sealClear(rows: readonly StoredRow[]): Promise<void> {
    const clear = rows.filter(({ name, value }) => this.#known.get(name)?.secret && !isSealed(value));
    if (clear.length === 0) return;
    await this.#db.write(async (tx) => {
      for (const { name, value, generated } of clear)
        await this.#rows.update(
          { value: this.#secrets.seal(sealedSettings, name, value), generated: Boolean(generated) },
          { where: { name }, transaction: tx.t },
        );
    });
    this.#log.info('encrypted settings that are secrets', { settings: clear.map(({ name }) => name) });
  }

  #refresh(group: SettingGroup): void {
    this.#groups.set(
      group,
      frozen(Object.fromEntries(Object.keys(group).map((name) => [name, this.#known.get(name)?.value]))),
    );
  }

  read<G extends SettingGroup>(group: G): SettingValues<G> {
    const values = this.#groups.get(group);
    if (!values)
      throw new Error('these settings are not declared, or are read before the start of their plugin');
    return values as SettingValues<G>;
  }

  async change<G extends SettingGroup>(
    tx: Tx,
    group: G,
    values: Partial<SettingValues<G>>,
    who: Principal,
  ): Promise<void> {
    const changes = Object.entries(values).filter(([name, value]) => {
      const known = this.#known.get(name);
      if (known?.group !== group) throw new Error(`${name} is no setting of this group`);
      const result = inspect(known.schema.label(name), value);
      if ('issues' in result) throw new Error(result.issues.map(({ message }) => message).join('; '));
      if (known.value === value) return false;
      if (known.variable)
        throw errors.PINNED(`${name} is set by ${known.variable} in the environment; change it there`, {
          path: name,
        });
      return true;
    });
    if (changes.length > 0) await this.save(tx, Object.fromEntries(changes), who);
  }

  known(name: string): Omit<Known, 'group'> | undefined {
    return this.#known.get(name);
  }
  names(): string[] {
    return [...this.#known.keys()];
  }

  /** What a fresh panel has; one that is made up is made up anew. */
  initial(name: string): unknown {
    return initialOf(this.#known.get(name)?.initial);
  }

  /** Writes what has been checked; memory and all others follow the commit. */
  async save(tx: Tx, changes: Readonly<Record<string, unknown>>, who: Principal): Promise<void> {
    await this.#write(tx, changes, false);
    await tx.during(duringSettingsSave, {
      changes: Object.entries(changes).map(([name, after]) => {
        const { value: before, secret = false } = this.#known.get(name) ?? {};
        return { name, before: secret ? '' : before, after: secret ? '' : after, secret };
      }),
      who,
    });
    tx.after(afterValuesWritten, changes);
    tx.after(afterSettingsSave, { keys: new Set(Object.keys(changes)), who });
  }

  async #write(tx: Tx, changes: Readonly<Record<string, unknown>>, generated: boolean): Promise<void> {
    for (const [name, given] of Object.entries(changes)) {
      const json = JSON.stringify(given);
      const value = this.#known.get(name)?.secret ? this.#secrets.seal(sealedSettings, name, json) : json;
      await this.#rows.upsert({ name, value, generated }, { transaction: tx.t });
    }
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
