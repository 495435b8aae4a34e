// Plugins that start after the listeners are open, so that they delay nothing: third-party plugins with a start, and
// third-party plugins that use one of them. Until a plugin has started, none of its code is called.
import type { HookRegistry } from '../hooks/registry.js';
import type { ListenerSet } from '../http/listeners.js';
import { afterPluginStart } from '../lifecycle.js';
import type { Log } from '../log/log.js';
import { hasStart } from './define.js';
import { attributeErrors, checkNeeds, type PluginError } from './error.js';
import type { PluginInstance } from './instance.js';
import type { Offers } from './offers.js';
import { startPlugin, stopPlugin } from './start-stop.js';
import type { Limits } from './limits.js';

interface Parts {
  readonly hooks: HookRegistry;
  readonly listeners: ListenerSet;
  readonly offers: Offers;
  readonly limits: Limits;
  readonly log: Log;
  /** aborts when the kernel stops */
  readonly signal: AbortSignal;
}

export class LateStarts {
  readonly #parts: Parts;
  readonly #settle = new Map<PluginInstance, () => void>();
  /** in start order */
  readonly plugins = new Set<PluginInstance>();
  /** Resolves when each of them has started or failed. */
  ended: Promise<void> = Promise.resolve();

  /** `instances` in start order. */
  constructor(parts: Parts, instances: readonly PluginInstance[]) {
    this.#parts = parts;
    for (const instance of instances)
      if (instance.outside && (hasStart(instance.plugin) || this.#usedBy(instance).length > 0))
        this.plugins.add(instance);
  }

  /** Stops calling them from now on; changes that they must not miss are queued for them. */
  hold(): void {
    for (const instance of this.plugins) {
      instance.state = 'starting';
      instance.starting = new Promise((resolve) => this.#settle.set(instance, resolve));
      this.#parts.listeners.expect(instance);
    }
  }

  #usedBy(instance: PluginInstance): PluginInstance[] {
    const owners = Object.values(instance.plugin.uses).map((used) =>
      used.kind === 'token' ? used.owner : used.token.owner,
    );
    return [...this.plugins].filter(({ name }) => owners.includes(name));
  }

  /** Starts all at once; a plugin waits only for those it uses. Without `serve` their routes are checked and not served. */
  begin(serve: boolean): void {
    const all = [...this.plugins].map((instance) => {
      const used = this.#usedBy(instance);
      return Promise.all(used.map(({ starting }) => starting))
        .then(() => this.#start(instance, used, serve))
        .catch((error: unknown) => this.#giveUp(instance, error as PluginError));
    });
    this.ended = Promise.all(all).then(() => undefined);
  }

  /** The start has finished or failed. */
  #over(instance: PluginInstance): void {
    instance.starting = undefined;
    this.#settle.get(instance)?.();
  }

  async #start(instance: PluginInstance, used: readonly PluginInstance[], serve: boolean): Promise<void> {
    const { hooks, limits, log, offers, signal } = this.#parts;
    const { name, plugin } = instance;
    const missing = new Set(used.flatMap((other) => (other.state === 'running' ? [] : [other.name])));
    checkNeeds(plugin, missing);
    // The user of a command is shown errors only.
    await startPlugin(instance, limits, log, serve ? 'warn' : 'error');
    if (signal.aborted) return this.#over(instance);
    offers.addCommands(instance);
    offers.addRoutes(instance);
    offers.addJobs(instance);
    if (serve) await attributeErrors(plugin, 'cannot serve its routes', () => offers.serve(instance));
    instance.state = 'running';
    this.#over(instance);
    const tapped = hooks.taps.filter((tap) => tap.plugin === name).map(({ hook }) => hook.id);
    if (serve) await hooks.after(afterPluginStart, { plugin: name, hooks: tapped });
  }

  /** Closes only this plugin; the panel is not booted again for it. */
  async #giveUp(instance: PluginInstance, { message: reason, cause: error }: PluginError): Promise<void> {
    const { log, offers, signal } = this.#parts;
    instance.fail(reason);
    this.#over(instance);
    if (signal.aborted) return;
    log.error('a plugin is left out', {
      plugin: instance.name,
      reason,
      ...(error !== undefined && { error }),
    });
    offers.drop(instance);
    await stopPlugin(instance);
  }
}
