// Settings that go to another panel, without secrets: an export, and an import that shows first what it would change.
import type { PluginContext } from '../../kernel/index.js';
import type { CallersOwn } from './callers-own.js';
import { NotTransferred, type SettingsCaller } from './contract.js';
import type { ListenerPortSettings } from './listener-port.js';
import type { SettingsService } from './service.js';
import type { SettingsStore } from './store.js';

type Values = Readonly<Record<string, unknown>>;

/** What an export is, for an import to recognise. */
export const KIND = 'weir-settings';

export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}
export interface Exported {
  readonly kind: typeof KIND;
  readonly settings: Values;
  readonly leftOut: readonly LeftOut[];
}
export interface PlannedChange {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly from: 'now' | 'next start';
}
export interface Imported {
  readonly applied: boolean;
  readonly changes: readonly PlannedChange[];
  /** how many settings have the imported value already */
  readonly unchanged: number;
  readonly leftOut: readonly LeftOut[];
}

export class SettingsTransfer {
  readonly #store: SettingsStore;
  readonly #service: SettingsService;
  readonly #listenerPorts: ListenerPortSettings;
  readonly #contributions: PluginContext['contributions'];
  readonly #own: CallersOwn;

  constructor({
    store,
    service,
    own,
    listenerPorts,
    contributions,
  }: {
    store: SettingsStore;
    service: SettingsService;
    own: CallersOwn;
    listenerPorts: ListenerPortSettings;
    contributions: PluginContext['contributions'];
  }) {
    this.#store = store;
    this.#service = service;
    this.#listenerPorts = listenerPorts;
    this.#contributions = contributions;
    this.#own = own;
  }

  /** Whether this panel has a setting of this name. */
  has(name: string): boolean {
    return this.#store.known(name) !== undefined;
  }

  /** The values in force. Names of what is missing are in `leftOut`. */
  export(): Exported {
    const settings: Record<string, unknown> = {};
    const leftOut: LeftOut[] = [];
    for (const name of this.#store.names()) {
      const { variable } = this.#store.known(name) ?? {};
      const reason =
        variable === undefined ? this.#staysBecause(name) : `${variable} sets it in the environment`;
      if (reason === undefined) settings[name] = this.#store.known(name)?.value;
      else leftOut.push({ name, reason });
    }
    return { kind: KIND, settings, leftOut };
  }

  /** The same as records of an archive; with secrets if asked. */
  records(secrets: boolean): { readonly name: string; readonly value: unknown }[] {
    const { settings } = this.export();
    const hidden = this.#store.names().flatMap((name) => {
      const { secret, variable, value } = this.#store.known(name) ?? {};
      const goes = secret && variable === undefined && value !== '' && !this.#own.has(name);
      return secrets && goes ? [{ name, value }] : [];
    });
    return [...Object.entries(settings).map(([name, value]) => ({ name, value })), ...hidden];
  }

  /** Checks all values as an update does, and applies them if `apply` is true: all or none. */
  async import(
    sent: Values,
    apply: boolean,
    who: SettingsCaller,
    { secrets = false }: { readonly secrets?: boolean } = {},
  ): Promise<Imported> {
    const wanted: Record<string, unknown> = {};
    const leftOut: LeftOut[] = [];
    for (const [name, value] of Object.entries(sent)) {
      const reason = this.#refusedBecause(name, value, secrets);
      if (reason === undefined) wanted[name] = value;
      else leftOut.push({ name, reason });
    }
    const planned = await this.#service.plan(wanted, who);
    const changes = Object.entries(planned).map(([name, after]) => this.#change(name, after));
    if (apply) await this.#service.update(wanted, who);
    const unchanged = Object.keys(wanted).filter((name) => !(name in planned)).length;
    return { applied: apply && changes.length > 0, changes, unchanged, leftOut };
  }

  #change(name: string, after: unknown): PlannedChange {
    const { value, secret } = this.#store.known(name) ?? {};
    const isLater = this.#listenerPorts.waiting({ [name]: after }).length > 0;
    return {
      name,
      // A plugin may clear a secret because of a change.
      before: secret ? '' : value,
      after: secret ? '' : after,
      from: isLater ? 'next start' : 'now',
    };
  }

  #staysBecause(name: string): string | undefined {
    if (this.#store.known(name)?.secret) return 'it is a secret';
    const stays = this.#contributions(NotTransferred).find(({ value }) => value.setting === name);
    return stays?.value.reason ?? (this.#own.has(name) ? 'each admin has its own' : undefined);
  }

  #refusedBecause(name: string, value: unknown, secrets: boolean): string | undefined {
    const known = this.#store.known(name);
    if (!known) return 'this panel has no such setting';
    const isSame = JSON.stringify(value) === JSON.stringify(known.value);
    if (known.variable !== undefined && !isSame) return `${known.variable} sets it in the environment`;
    const goes = secrets && known.secret && !this.#own.has(name);
    return goes ? undefined : this.#staysBecause(name);
  }
}
