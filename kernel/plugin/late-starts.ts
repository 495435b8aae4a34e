// Plugins that start after the listeners are open, so that they delay nothing: third-party plugins with a start, and
// third-party plugins that use one of them. Until a plugin has started, none of its code is called; changes that it must
// not miss are delivered then, in order.
import type { HookRegistry } from '../hooks/registry.js';
import type { ListenerSet } from '../http/listeners.js';
import { afterPluginStart } from '../lifecycle.js';
import type { Log } from '../log/log.js';
import { hasStart } from './define.js';
import { attributeErrors, checkNeeds, type PluginError } from './error.js';
import type { PluginInstance } from './instance.js';
import type { Registrations } from './registrations.js';
import { startPlugin, stopPlugin } from './start-stop.js';
import type { Limits } from './limits.js';

interface Parts {
  readonly hooks: HookRegistry;
  readonly listeners: ListenerSet;
  readonly registrations: Registrations;
  readonly limits: Limits;
  readonly log: Log;
  /** aborts when the kernel stops */
  readonly stopping: AbortController;
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
      if (instance.outside && (hasStart(instance.plugin) || this.#lateDependenciesOf(instance).length > 0))
        this.plugins.add(instance);
  }

  /** Stops calling them from now on. */
  markStarting(): void {
    for (const instance of this.plugins) {
      instance.state = 'starting';
      const ended = new Promise<void>((resolve) => this.#settle.set(instance, resolve));
      instance.lateStart = { ended, changes: [] };
      this.#parts.listeners.expect(instance);
    }
  }

  /** The late plugins that this one uses. */
  #lateDependenciesOf(instance: PluginInstance): PluginInstance[] {
    const owners = Object.values(instance.plugin.uses).map((used) =>
      used.kind === 'token' ? used.owner : used.token.owner,
    );
    return [...this.plugins].filter(({ name }) => owners.includes(name));
  }

  /** Starts all at once; a plugin waits only for those it uses. Without `serve` their routes are checked and not served. */
  startAll(serve: boolean): void {
    const all = [...this.plugins].map((instance) => {
      const used = this.#lateDependenciesOf(instance);
      return Promise.all(used.map(({ lateStart }) => lateStart?.ended))
        .then(() => this.#start(instance, used, serve))
        .catch((error: unknown) => this.#giveUp(instance, error as PluginError));
    });
    this.ended = Promise.all(all).then(() => undefined);
  }

  /** The start has finished or failed. */
  #finish(instance: PluginInstance): void {
    instance.lateStart = undefined;
    this.#settle.get(instance)?.();
  }

  async #start(instance: PluginInstance, used: readonly PluginInstance[], serve: boolean): Promise<void> {
    const { hooks, limits, log, registrations, stopping } = this.#parts;
    const { name, plugin } = instance;
    const missing = new Set(used.flatMap((other) => (other.state === 'running' ? [] : [other.name])));
    checkNeeds(plugin, missing);
    // The user of a command is shown errors only.
    await startPlugin(instance, limits, log, serve ? 'warn' : 'error');
    if (stopping.signal.aborted) return this.#finish(instance);
    registrations.addCommands(instance);
    registrations.addRoutes(instance);
    registrations.addJobs(instance);
    if (serve) await attributeErrors(plugin, 'cannot serve its routes', () => registrations.serve(instance));
    instance.state = 'running';
    // The list grows while it is delivered.
    for (const change of instance.lateStart?.changes ?? []) {
      const done = change();
      if (!instance.isOff) await done;
    }
    this.#finish(instance);
    const tapped = hooks.taps.filter((tap) => tap.plugin === name).map(({ hook }) => hook.id);
    if (serve) await hooks.after(afterPluginStart, { plugin: name, hooks: tapped });
  }

  /** Closes only this plugin; the panel is not booted again for it. */
  async #giveUp(instance: PluginInstance, { message: reason, cause: error }: PluginError): Promise<void> {
    const { log, registrations, stopping } = this.#parts;
    instance.fail(reason);
    this.#finish(instance);
    if (stopping.signal.aborted) return;
    log.error('a plugin is left out', {
      plugin: instance.name,
      reason,
      ...(error !== undefined && { error }),
    });
    registrations.drop(instance);
    await stopPlugin(instance);
  }
}
