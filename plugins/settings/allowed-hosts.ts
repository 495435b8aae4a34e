// The hosts under which the panel answers: those of the setting, and those of other plugins.
import type { Database, ListenersApi, PluginContext, Principal } from '../../kernel/index.js';
import { PanelHosts, type SettingsCaller } from './contract.js';
import { errors } from './errors.js';
import { panelSettings } from './panel-settings.js';
import type { SettingsStore } from './store.js';

type Values = Readonly<Record<string, unknown>>;

export class AllowedHosts {
  readonly #db: Database;
  readonly #store: SettingsStore;
  readonly #listeners: ListenersApi;
  readonly #contributions: PluginContext['contributions'];

  constructor({
    db,
    store,
    listeners,
    contributions,
  }: {
    db: Database;
    store: SettingsStore;
    listeners: ListenersApi;
    contributions: PluginContext['contributions'];
  }) {
    this.#db = db;
    this.#store = store;
    this.#listeners = listeners;
    this.#contributions = contributions;
  }

  get #added() {
    return this.#contributions(PanelHosts).map(({ value }) => value);
  }

  /** Empty when every host is allowed. */
  #hosts({ allowedHosts = [], ...values }: Values): readonly string[] {
    const listed = allowedHosts as readonly string[];
    if (listed.length === 0) return [];
    const settings = this.#added.flatMap(({ settings = [] }) => settings);
    return [
      ...listed,
      ...this.#added.flatMap(({ hosts = [] }) => hosts),
      ...settings.map((name) => String(values[name] ?? '')),
    ].filter((host) => host !== '');
  }

  /** Applies the current settings to the listeners. */
  apply(): void {
    const values = Object.fromEntries(
      this.#store.names().map((name) => [name, this.#store.known(name)?.value]),
    );
    const variable = this.#store.known('allowedHosts')?.variable;
    const wayOut =
      variable === undefined
        ? 'on the machine itself add it to the setting allowedHosts over a loopback address, or allow every host with: weir hosts reset'
        : `add it to ${variable} in the environment of the panel`;
    const hosts = this.#hosts(values);
    // Until the next start this is another address than that of the setting, and after a restart that failed.
    const now = this.#listeners.places().flatMap(({ name, host }) => (name === 'panel' ? [host] : []));
    this.#listeners.allowHosts(hosts.length === 0 ? [] : [...hosts, ...now], wayOut);
  }

  /** Refuses a change that would lock out its caller. */
  check({
    changes,
    values,
    who,
  }: {
    readonly changes: Values;
    readonly values: Values;
    readonly who: SettingsCaller;
  }): void {
    const names = ['allowedHosts', ...this.#added.flatMap(({ settings = [] }) => settings)];
    const changed = names.find((name) => name in changes);
    if (changed === undefined) return;
    const refused = this.#listeners.refusedHost(this.#hosts(values), who.hosts);
    if (refused !== undefined)
      throw errors.OWN_HOST(
        `${changed}: you came under the host "${refused}", and the panel would not answer there any more; add it to allowedHosts, or save this from another allowed host or a loopback address`,
        { path: changed },
      );
  }

  /** Allows every host, for an admin who is locked out. */
  async reset(who: Principal): Promise<void> {
    await this.#db.write((tx) => this.#store.change(tx, panelSettings, { allowedHosts: [] }, who));
  }
}
