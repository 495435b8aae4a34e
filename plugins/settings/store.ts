// Reads and changes settings, for the plugins that declare them and for the API.
import {
  inspect,
  type LiveSettings,
  type Plugin,
  type Principal,
  type SettingGroup,
  type SettingsSource,
  type SettingValues,
  tap,
  type Tx,
  sentenceOf,
} from '../../kernel/index.js';
import { afterSettingsSave, duringSettingsSave, type SettingsApi } from './contract.js';
import type { Definition, Definitions } from './definitions.js';
import { errors } from './errors.js';
import type { SettingsValues } from './values.js';

/** A setting with its value in force. */
export interface KnownSetting extends Definition {
  readonly value: unknown;
}

export class SettingsStore implements SettingsApi, SettingsSource {
  readonly #definitions: Definitions;
  readonly #values: SettingsValues;

  constructor({ definitions, values }: { definitions: Definitions; values: SettingsValues }) {
    this.#definitions = definitions;
    this.#values = values;
  }

  declare<G extends SettingGroup>(plugin: Pick<Plugin, 'name' | 'outside'>, group: G): LiveSettings<G> {
    this.#definitions.declare(plugin, group);
    return {
      read: () => this.read(group),
      change: (tx, values, who) => this.change(tx, group, values, who),
      changed: (run) =>
        tap(afterSettingsSave, ({ keys }) =>
          Object.keys(group).some((name) => keys.has(name)) ? run(this.read(group)) : undefined,
        ),
    };
  }

  read<G extends SettingGroup>(group: G): SettingValues<G> {
    const values = this.#values.ofGroup(group);
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
      const known = this.known(name);
      if (known?.group !== group)
        throw new Error(
          `${name} is not a setting of this group; its settings: ${Object.keys(group).join(', ')}`,
        );
      const result = inspect(known.schema.label(name), value);
      if ('issues' in result) throw new Error(sentenceOf(result.issues));
      if (known.value === value) return false;
      if (known.variable)
        throw errors.PINNED(`${name} is set by ${known.variable} in the environment; change it there`, {
          path: name,
        });
      return true;
    });
    if (changes.length > 0) await this.save(tx, Object.fromEntries(changes), who);
  }

  /** Returns what `work` returns while `read` gives these values. See `SettingsTrial`. */
  readingAs<T>(values: Readonly<Record<string, unknown>>, work: () => T): T {
    return this.#values.runWith(values, work);
  }

  known(name: string): KnownSetting | undefined {
    const definition = this.#definitions.byName.get(name);
    return definition && { ...definition, value: this.#values.of(name) };
  }
  /** The same by its name or its alias, with its name. */
  named(name: string): (KnownSetting & { readonly name: string }) | undefined {
    const own = this.known(name)
      ? name
      : this.names().find((one) => this.#definitions.byName.get(one)?.alias === name);
    const known = own === undefined ? undefined : this.known(own);
    return known && own !== undefined ? { ...known, name: own } : undefined;
  }
  /** All values as the database has them, within a write. */
  stored(tx: Tx): Promise<ReadonlyMap<string, unknown>> {
    return this.#values.stored(tx);
  }
  names(): string[] {
    return [...this.#definitions.byName.keys()];
  }

  /** Returns the value of a fresh panel; a generated one differs at each call. */
  initial(name: string): unknown {
    return this.#values.initial(name);
  }

  /** Whether a fresh panel generates this value. */
  isGenerated(name: string): boolean {
    return typeof this.#definitions.byName.get(name)?.initial === 'function';
  }

  /** Writes checked values, and notifies other plugins. */
  async save(tx: Tx, changes: Readonly<Record<string, unknown>>, who: Principal): Promise<void> {
    await this.#values.write(tx, changes);
    await tx.during(duringSettingsSave, {
      changes: Object.entries(changes).map(([name, after]) => {
        const { value: before, secret = false } = this.known(name) ?? {};
        return { name, before: secret ? '' : before, after: secret ? '' : after, secret };
      }),
      who,
    });
    tx.after(afterSettingsSave, { keys: new Set(Object.keys(changes)), who });
  }
}
