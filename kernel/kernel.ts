// Boot and stop, readable from top to bottom. Each step is complete for all plugins before the next begins.
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkCommands, Commands, type OwnedCommand } from './command/list.js';
import { configure, type PluginConfig } from './config/configure.js';
import { type ConfigFile, noFile } from './config/file.js';
import { unknownVariables } from './config/load.js';
import { type Extended, type ExtensionPoint, provide, type Provision, type Token } from './container/token.js';
import { connect, type Connections } from './database/connect.js';
import { type FolderLock, lockFolder } from './database/lock.js';
import { Migrations } from './database/migrate.js';
import { defineModel } from './database/table.js';
import { Database, Writer } from './database/writer.js';
import { HookRegistry, Hooks } from './hooks/registry.js';
import { isLoopback, Proxies } from './http/address.js';
import { health } from './http/health.js';
import { Listeners, ListenerSet } from './http/listeners.js';
import { Upgrades } from './http/upgrade.js';
import { type Clock, systemClock } from './jobs/clock.js';
import { Schedule } from './jobs/schedule.js';
import { SessionStore, sessionMigrations, Sessions } from './auth/session.js';
import { createLog, type Log } from './log/log.js';
import type { Plugin, PluginContext } from './plugin/define.js';
import { PluginInstance } from './plugin/instance.js';
import { messageOf } from './errors/errors.js';
import { afterKernelOpen, beforeKernelStop, composeReadyLine, kernelReady } from './lifecycle.js';
import { PluginError } from './plugin/order.js';

export interface KernelOptions {
  readonly plugins: readonly Plugin[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** what a config file says; none by default */
  readonly file?: ConfigFile;
  readonly clock?: Clock;
  readonly write?: (line: string) => void;
  readonly readable?: boolean;
  /** Plugins start, but nothing listens, no job runs, and what they run beside the panel is left alone: for a command while no panel runs. */
  readonly forCommand?: boolean;
  /** for tests: replies are checked against their declaration, and a write inside a write is refused at once */
  readonly strict?: boolean;
}

const START_LIMIT_MS = 120_000;
/** How long a stop waits for the events of one plugin, and for its own end. */
const EVENTS_LIMIT_MS = 2_000;
const STOP_LIMIT_MS = 8_000;

/** Rejects when the work takes longer; nothing can end it then, but nobody waits for it. */
async function within<T>(ms: number, what: string, work: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export class Kernel {
  readonly log: Log;
  readonly listeners: ListenerSet;
  readonly dataDirectory: string;
  readonly #clock: Clock;
  readonly #instances: PluginInstance[];
  readonly #hooks: HookRegistry;
  readonly #connections: Connections;
  readonly #lock: FolderLock;
  readonly #writer: Writer;
  readonly #schedule: Schedule;
  readonly #stopping: AbortController;
  /** Whose the kernel's own routes and jobs are. */
  readonly #self = { name: 'kernel', about: 'The panel itself.', faulty: false, fault: (where: string, error: unknown) => this.log.error('kernel fault', { where, error }) };
  /** of all plugins, for the command line */
  commands: readonly OwnedCommand[] = [];
  #isOpen = false;
  #stopped: Promise<void> | undefined;

  private constructor(parts: { log: Log; listeners: ListenerSet; dataDirectory: string; clock: Clock; instances: PluginInstance[]; hooks: HookRegistry; connections: Connections; lock: FolderLock; writer: Writer; stopping: AbortController }) {
    this.log = parts.log;
    this.listeners = parts.listeners;
    this.dataDirectory = parts.dataDirectory;
    this.#clock = parts.clock;
    this.#instances = parts.instances;
    this.#hooks = parts.hooks;
    this.#connections = parts.connections;
    this.#lock = parts.lock;
    this.#writer = parts.writer;
    this.#stopping = parts.stopping;
    this.#schedule = new Schedule(parts.clock, parts.log);
  }

  /** Resolves when everything runs. Rejects with ConfigError, PluginError or the first failure of a start; nothing is left open then. */
  static async boot(options: KernelOptions): Promise<Kernel> {
    const { clock = systemClock, strict = false } = options;
    // Configure: every mistake of every plugin at once.
    const { plugins, panel, certificate, configs, known } = await configure(options.plugins, options.env, options.file ?? noFile);
    const log = createLog({ level: panel.logLevel, readable: options.readable ?? false, write: options.write ?? ((line) => process.stdout.write(line)) });
    for (const name of unknownVariables(options.env, known)) log.warn('no plugin that is on knows this variable; is it misspelt?', { variable: name });
    if (!certificate && !isLoopback(panel.host)) log.warn('passwords and cookies of the panel travel in the clear: set WEIR_TLS_CERT and WEIR_TLS_KEY, or put a proxy with TLS before it and WEIR_HOST on 127.0.0.1', { host: panel.host });

    // Connect and migrate.
    const dataDirectory = resolve(panel.dataDirectory);
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    const lock = await lockFolder(dataDirectory);
    const connections = await connect(panel.databaseUrl, dataDirectory).catch(async (cause: unknown) => (await lock.release(), Promise.reject(cause)));
    const hooks = new HookRegistry();
    const writer = new Writer(connections, hooks, log, { strict });
    try {
      const migrations = new Migrations(connections, log);
      await migrations.run('kernel', sessionMigrations);
      for (const plugin of plugins) await migrations.run(plugin.name, plugin.migrations);
      const sessions = new SessionStore(new Database(connections, writer, 'kernel'), clock);
      await sessions.load();

      // Build: containers, hooks, routes. No plugin does I/O here.
      const proxies = new Proxies(panel.trustedProxies ?? []);
      const listeners = new ListenerSet({ hooks, sessions, proxies, log, checkReplies: strict }, { ...panel, certificate });
      const stopping = new AbortController();
      const instances = plugins.map((plugin) => new PluginInstance(plugin, log.child({ plugin: plugin.name }), clock));
      const kernel = new Kernel({ log, listeners, dataDirectory, clock, instances, hooks, connections, lock, writer, stopping });
      kernel.#build(configs, [provide(Sessions, sessions), provide(Listeners, listeners), provide(Commands, { list: () => kernel.commands })]);
      await kernel.#start(sessions, options.forCommand ?? false);
      return kernel;
    } catch (error) {
      await writer.close();
      await connections.close();
      await lock.release();
      throw error;
    }
  }

  #build(configs: ReadonlyMap<string, PluginConfig>, own: readonly Provision[]): void {
    const provided = new Map(own.map((provision) => [`${provision.token.owner}/${provision.token.name}`, provision]));
    const resolveFor = (user: string) => (wanted: Token<unknown>): object | undefined => {
      const found = provided.get(`${wanted.owner}/${wanted.name}`);
      if (found && found.token.api !== wanted.api) throw new PluginError(`plugin ${user} was written for number ${wanted.api} of ${wanted.owner}/${wanted.name}, but ${wanted.owner} provides number ${found.token.api}; update the older of the two`);
      return found?.value;
    };
    const extensions: { point: ExtensionPoint<unknown>; plugin: string; value: unknown }[] = [];
    const extensionsOf = <X>(point: ExtensionPoint<X>) => extensions.filter((e) => e.point.owner === point.owner && e.point.name === point.name) as unknown as Extended<X>[];
    const { sequelize } = this.#connections;
    const owners = new Map<string, string>();
    for (const instance of this.#instances) {
      const { plugin, name } = instance;
      for (const { name: tableName } of Object.values(plugin.tables)) {
        const other = owners.get(tableName);
        if (other) throw new PluginError(`the table ${tableName} is declared by ${other} and by ${name}`);
        owners.set(tableName, name);
      }
      const context: PluginContext = {
        name,
        log: instance.log,
        config: configs.get(name)?.values,
        configSource: configs.get(name)?.sources ?? {},
        db: new Database(this.#connections, this.#writer, name),
        tables: Object.fromEntries(Object.entries(plugin.tables).map(([key, declared]) => [key, defineModel(sequelize, declared)])),
        hooks: new Hooks(this.#hooks, name),
        clock: this.#clock,
        signal: this.#stopping.signal,
        dataDirectory: this.dataDirectory,
        extensions: extensionsOf,
      };
      try {
        instance.build(context, resolveFor(name));
        for (const { token, value } of plugin.provides(instance.scope)) {
          const id = `${token.owner}/${token.name}`;
          if (token.owner !== name) throw new PluginError(`plugin ${name} provides ${id}, a token of another plugin`);
          if (provided.has(id)) throw new PluginError(`plugin ${name} provides ${id} twice`);
          provided.set(id, { token, value: instance.facade(value) });
        }
        for (const { point, value } of plugin.extends(instance.scope)) extensions.push({ point, plugin: name, value });
        for (const tap of plugin.hooks(instance.scope)) this.#hooks.add(instance, tap);
      } catch (cause) {
        if (cause instanceof PluginError) throw cause;
        throw new Error(`plugin ${name} could not be built: ${messageOf(cause)}`, { cause });
      }
    }
    this.listeners.upgrades.mount(extensionsOf(Upgrades), this.#instances);
  }

  async #start(sessions: SessionStore, forCommand: boolean): Promise<void> {
    const started: PluginInstance[] = [];
    const startedAt = this.#clock.now();
    try {
      for (const instance of this.#instances) {
        started.push(instance);
        await within(START_LIMIT_MS, 'its start', async () => instance.plugin.start(instance.scope)).catch((cause: unknown) => {
          throw new Error(`plugin ${instance.name} did not start: ${messageOf(cause)}`, { cause });
        });
        instance.state = 'running';
      }
      this.commands = checkCommands(this.#instances.flatMap((owner) => owner.plugin.commands(owner.scope).map((command) => ({ ...command, owner }))));
      if (forCommand) return;
      const own = { owner: this.#self, route: health };
      this.listeners.mount([own, ...this.#instances.flatMap((owner) => owner.plugin.routes(owner.scope).map((route) => ({ owner, route })))]);
      await this.listeners.listen();
      for (const instance of this.#instances) for (const job of instance.plugin.jobs(instance.scope)) this.#schedule.start(instance, job);
      await this.#open(sessions, startedAt);
    } catch (error) {
      await this.listeners.close();
      await this.#schedule.stop();
      this.#stopping.abort();
      await this.#stopPlugins(started);
      throw error;
    }
  }

  async #open(sessions: SessionStore, startedAt: number): Promise<void> {
    this.#schedule.start(this.#self, { name: 'sessions', every: '1m', run: () => sessions.sweep() });
    this.#schedule.start(this.#self, { name: 'certificate', every: '1m', run: () => this.listeners.renewCertificate() });
    this.#isOpen = true;
    await this.#hooks.after(afterKernelOpen, { startedAt });
    const facts = await this.#hooks.compose(composeReadyLine, undefined);
    this.log.info('ready', Object.assign({ ms: this.#clock.now() - startedAt, panelUrl: this.listeners.panelUrl }, ...facts.map(({ entry }) => entry)) as object);
    this.#hooks.emit(kernelReady, { startedAt, plugins: this.#instances.map(({ name }) => name) });
  }

  /** Everything that was acknowledged is in the database when this resolves. */
  stop(reason: string): Promise<void> {
    this.#stopped ??= this.#shutDown(reason);
    return this.#stopped;
  }

  async #shutDown(reason: string): Promise<void> {
    this.log.info('stopping', { reason });
    await this.listeners.close();
    await this.#schedule.stop();
    if (this.#isOpen) await this.#hooks.check(beforeKernelStop, { reason }, false);
    this.#stopping.abort();
    await this.#stopPlugins(this.#instances);
    await this.#writer.close();
    await this.#connections.close();
    await this.#lock.release();
    this.log.info('stopped', { reason });
  }

  async #stopPlugins(instances: readonly PluginInstance[]): Promise<void> {
    for (const instance of [...instances].reverse()) {
      // One that hangs must not keep the others, and the database, from an orderly end.
      await within(EVENTS_LIMIT_MS, 'the events', () => instance.queue.settled()).catch((error: unknown) => instance.fault('stop', error));
      await within(STOP_LIMIT_MS, 'its stop', async () => instance.plugin.stop(instance.scope)).catch((error: unknown) => instance.fault('stop', error));
      await instance.dispose();
    }
  }

  /** No job is under way and all queues of events are empty. For tests. */
  async settled(): Promise<void> {
    await this.#schedule.settled();
    for (const { queue } of this.#instances) await queue.settled();
  }

  /** The kernel's view of its plugins. */
  plugins(): { name: string; version: string; about: string; state: string }[] {
    return this.#instances.map(({ plugin: { name, version, about }, state }) => ({ name, version, about, state }));
  }
}
