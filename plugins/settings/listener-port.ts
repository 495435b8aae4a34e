// Ports and addresses of listeners that are settings: checked when they change, used from the next start on.
import { once } from 'node:events';
import { createServer, isIP } from 'node:net';
import { type ListenersApi, type Log, messageOf, type PluginContext } from '../../kernel/index.js';
import { type ListenerPlacesApi, ListenerPorts, NextStartSettings } from './contract.js';
import { errors } from './errors.js';
import type { SettingsStore } from './store.js';

type Values = Readonly<Record<string, unknown>>;

const ALL = ['0.0.0.0', '::'];

/** Whether a socket on one leaves the port of the other free. A name may stand for either. */
const areApart = (a: string, b: string): boolean =>
  a !== b && [a, b].every((address) => isIP(address) !== 0 && !ALL.includes(address));

/** Why nobody could listen there; undefined when the port is free. An empty address is all of them. */
async function obstacleAt(port: number, address: string): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(port, address || undefined);
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    server.close();
  }
}

export class ListenerPortSettings implements ListenerPlacesApi {
  readonly #listeners: ListenersApi;
  readonly #contributions: PluginContext['contributions'];
  readonly #store: Pick<SettingsStore, 'known'>;
  readonly #log: Log;

  constructor({
    listeners,
    contributions,
    store,
    log,
  }: {
    listeners: ListenersApi;
    contributions: PluginContext['contributions'];
    store: Pick<SettingsStore, 'known'>;
    log: Log;
  }) {
    this.#listeners = listeners;
    this.#contributions = contributions;
    this.#store = store;
    this.#log = log;
  }

  /** An inbound on the port of the next start would keep the panel from starting. */
  places(): { name: string; port: number }[] {
    const next = this.#all.map(({ listener, setting }) => ({
      name: listener,
      port: Number(this.#store.known(setting)?.value ?? 0),
    }));
    return [...this.#listeners.places(), ...next.filter(({ port }) => port > 0)];
  }

  /** Of these settings with their new values, those that wait for the next start of the panel. */
  waiting(values: Values): string[] {
    const places = this.#all.flatMap(({ setting, addressSetting = '' }) => [setting, addressSetting]);
    const others = this.#contributions(NextStartSettings).flatMap(({ value: { settings, waits }, fault }) =>
      settings.filter((name) => {
        try {
          return name in values && waits(values[name]);
        } catch (error) {
          fault('waits of NextStartSettings', error);
          return false;
        }
      }),
    );
    return [...places.filter((name) => name in values), ...others];
  }

  /** Logs how to start when the address is none of this machine any more, as in a database from another one. */
  async warnOf(address: string): Promise<void> {
    if (address === '') return;
    const problem = await obstacleAt(0, address);
    if (problem !== undefined)
      this.#log.error(
        'the panel cannot listen on the address of the setting webListen; start it with WEIR_HOST=127.0.0.1, which takes precedence, and change the setting',
        { webListen: address, problem },
      );
  }

  /** Refuses a port or an address with which the panel could not start again. */
  async check({ changes, values }: { readonly changes: Values; readonly values: Values }): Promise<void> {
    const places = this.#listeners.places();
    for (const { listener, setting, addressSetting: path = '' } of this.#all) {
      const address = String(values[path] ?? '');
      if (!(path in changes) || address === '') continue;
      const now = places.find(({ name }) => name === listener);
      const stays = !(setting in changes) && now !== undefined && values[setting] === now.port;
      const port = stays && areApart(now.host, address) ? now.port : 0;
      const obstacle = await obstacleAt(port, address);
      if (obstacle !== undefined)
        throw errors.ADDRESS(`${path}: the panel could not listen on ${address}: ${obstacle}`, { path });
    }
    const ports = new Map(this.#all.map(({ listener, setting }) => [listener, values[setting]]));
    for (const { listener, setting, addressSetting = '' } of this.#all) {
      const port = values[setting];
      if (!(setting in changes) || port === 0) continue;
      const other = places.find(
        ({ name, port: now }) => name !== listener && (ports.get(name) ?? now) === port,
      );
      if (other)
        throw errors.PORT_TAKEN(`${setting}: the listener ${other.name} uses port ${port}; choose another`, {
          path: setting,
        });
      // Our own listeners hold their ports until the restart.
      if (places.some((place) => place.port === port)) continue;
      const obstacle = await obstacleAt(Number(port), String(values[addressSetting] ?? ''));
      if (obstacle !== undefined)
        throw errors.PORT_TAKEN(`${setting}: the panel could not listen on port ${port}: ${obstacle}`, {
          path: setting,
        });
    }
  }

  get #all() {
    return this.#contributions(ListenerPorts).map(({ value }) => value);
  }
}
