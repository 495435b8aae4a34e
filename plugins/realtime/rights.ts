// Which messages a reader may have: each needs that the reader may read what the plugins behind it serve.
import type { PluginContext, Principal } from '../../kernel/index.js';
import type { CallerRightsApi } from '../access/contract.js';
import { LiveLogs, LiveTypes } from './contract.js';

/** Plugins whose data the messages of this plugin hold. Those that hold none are for everybody: `snapshot`, `invalidate`, `error`. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  status: ['server-status'],
  engine_state: ['engine'],
  notification: ['alarms', 'engine'],
  traffic: ['traffic', 'inbounds', 'outbound-traffic'],
  client_stats: ['clients', 'inbounds'],
  snapshot: [],
  invalidate: [],
  error: [],
};

export class Rights {
  readonly #rights: CallerRightsApi | undefined;
  readonly #contributions: PluginContext['contributions'];

  constructor({
    rights,
    contributions,
  }: { rights?: CallerRightsApi | undefined; contributions: PluginContext['contributions'] }) {
    this.#rights = rights;
    this.#contributions = contributions;
  }

  /** Asked for each message: a role that changes is in force at once. */
  mayRead(who: Principal, type: string): boolean {
    const rights = this.#rights;
    if (!rights) return true;
    const plugins = OWN[type] ?? this.#pluginOf(type);
    return plugins.every((plugin) => rights.mayRead(who, plugin));
  }

  #pluginOf(type: string): readonly string[] {
    return [...this.#contributions(LiveTypes), ...this.#contributions(LiveLogs)]
      .filter(({ value }) => value.type === type)
      .map(({ plugin }) => plugin);
  }
}
