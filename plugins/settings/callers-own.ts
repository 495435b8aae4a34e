// Settings of which each caller has values of its own: other plugins store them.
import type { PluginContext, Principal, Tx } from '../../kernel/index.js';
import { OwnSettings, type OwnSettingsSource, type SettingsCaller } from './contract.js';

type Values = Readonly<Record<string, unknown>>;
const only = (values: Values, names: readonly string[]): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));

export class CallersOwn {
  readonly #contributions: PluginContext['contributions'];

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  get #sources(): readonly OwnSettingsSource[] {
    return this.#contributions(OwnSettings).map(({ value }) => value);
  }

  has(name: string): boolean {
    return this.#sources.some(({ settings }) => settings.includes(name));
  }

  /** The values of this caller, by name. */
  async read(who: Principal, tx?: Tx): Promise<Values> {
    const values: Record<string, unknown> = {};
    for (const source of this.#sources)
      Object.assign(values, only(await source.read(who, tx), source.settings));
    return values;
  }

  /** Checks changes; `own` are those that `write` will write. */
  async prepare(save: {
    readonly changes: Values;
    readonly values: Values;
    readonly sent: Values;
    readonly who: SettingsCaller;
  }): Promise<{ readonly own: Values; readonly write: (tx: Tx) => Promise<Values> }> {
    const own: Record<string, unknown> = {};
    const writes: ((tx: Tx) => Promise<Values>)[] = [];
    for (const source of this.#sources) {
      const changes = only(save.changes, source.settings);
      if (Object.keys(changes).length === 0) continue;
      const write = await source.prepare({ ...save, changes, values: only(save.values, source.settings) });
      if (!write) continue;
      Object.assign(own, changes);
      writes.push(write);
    }
    const write = async (tx: Tx): Promise<Values> => {
      const added: Record<string, unknown> = {};
      for (const one of writes) Object.assign(added, await one(tx));
      return added;
    };
    return { own, write };
  }
}
