// Boot and stop, readable from top to bottom. Each step is complete for all plugins before the next begins.
import { mkdir } from 'node:fs/promises';
import { checkCommands, Commands, type OwnedCommand } from './command/list.js';
import type { PluginConfig } from './config/variable.js';
import { provide, type Provision } from './container/token.js';
import { connect, type Connections } from './database/connect.js';
import { type FolderLock, lockFolder } from './database/lock.js';
import { Migrations } from './database/migrate.js';
import { defineModel } from './database/table.js';
import { Database, Writer } from './database/writer.js';
import { HookRegistry } from './hooks/registry.js';
import { Proxies } from './http/address.js';
import type { Certificate } from './http/certificate.js';
import { health } from './http/health.js';
import { Listeners, ListenerSet } from './http/listeners.js';
import type { Owned } from './http/table.js';
import { Upgrades } from './http/upgrade.js';
import { type Clock, systemClock } from './jobs/clock.js';
import { Schedule } from './jobs/schedule.js';
import { SessionStore, sessionMigrations, Sessions } from './auth/session.js';
import type { Log } from './log/log.js';
import type { Plugin } from './plugin/define.js';
import { PluginInstance } from './plugin/instance.js';
import { afterKernelOpen, beforeKernelStop, composeReadyLine, kernelReady } from './lifecycle.js';
import { blame, type LeftOut, Plugins, type PluginState } from './plugin/left-out.js';
import { Wiring } from './plugin/wiring.js';
import { type Limits, LIMITS, within } from './plugin/within.js';

export interface KernelOptions {
  /** in start order, as `orderPlugins` gives them */
  readonly plugins: readonly Plugin[];
  /** what was to run and cannot */
  readonly leftOut?: readonly LeftOut[];
  /** boot settings of plugins, by their names */
  readonly configs: ReadonlyMap<string, PluginConfig>;
  readonly dataDirectory: string;
  /** of a server; without it the database is a file in the data folder */
  readonly databaseUrl?: string | undefined;
  /** of the panel's listener; without a certificate it speaks plain HTTP */
  readonly host: string;
  readonly port: number;
  readonly certificate?: Certificate | undefined;
  /** addresses and CIDRs whose forwarded headers count */
  readonly trustedProxies?: readonly string[] | undefined;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** what the program around it offers to plugins */
  readonly provides?: readonly Provision[] | undefined;
  /** Plugins start, but nothing listens, no job runs, and what they run beside the panel is left alone: for a command while no panel runs. */
  readonly forCommand?: boolean | undefined;
  /** for tests, which do not wait as long */
  readonly limits?: Partial<Limits> | undefined;
  /** for tests: replies are checked against their declaration, and a write inside a write is refused at once */
  readonly strict?: boolean | undefined;
}

/** How long a stop waits for the events of one plugin, and for its own end; in all less than those allow who stop the panel. */
const EVENTS_LIMIT_MS = 1_000;
const STOP_LIMIT_MS = { essential: 8_000, other: 2_000 };

type Parts = Readonly<{
  log: Log;
  listeners: ListenerSet;
  dataDirectory: string;
  clock: Clock;
  instances: PluginInstance[];
  hooks: HookRegistry;
  connections: Connections;
  lock: FolderLock;
  writer: Writer;
  stopping: AbortController;
  limits: Limits;
  leftOut: readonly LeftOut[];
}>;

export class Kernel {
  readonly listeners: ListenerSet;
  readonly #parts: Parts;
  readonly #schedule: Schedule;
  /** Whose the kernel's own routes and jobs are. */
  readonly #self = {
    name: 'kernel',
    about: 'The panel itself.',
    faulty: false,
    fault: (where: string, error: unknown) => this.#parts.log.error('kernel fault', { where, error }),
  };
  /** of all plugins, for the command line */
  commands: readonly OwnedCommand[] = [];
  #isOpen = false;
  #stopped: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.listeners = parts.listeners;
    this.#schedule = new Schedule(parts.clock, parts.log, parts.limits.job);
  }

  /** Resolves when everything runs. Rejects with a PluginError whose culprit could be left out, or with the first failure of something essential; nothing is left open then. */
  static async boot(options: KernelOptions): Promise<Kernel> {
    const {
      plugins,
      dataDirectory,
      host,
      port,
      certificate,
      log,
      clock = systemClock,
      strict = false,
      leftOut = [],
    } = options;
    const limits = { ...LIMITS, ...options.limits };

    // Connect and migrate.
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    const lock = await lockFolder(dataDirectory);
    const connections = await connect(options.databaseUrl, dataDirectory).catch(async (cause: unknown) => {
      await lock.release();
      throw cause;
    });
    const hooks = new HookRegistry(limits);
    const writer = new Writer(connections, hooks, log, { strict });
    try {
      const migrations = new Migrations(connections, log);
      await migrations.run('kernel', sessionMigrations);
      for (const plugin of plugins)
        await blame(plugin, 'cannot have its tables', () => migrations.run(plugin.name, plugin.migrations));
      const sessions = new SessionStore(new Database(connections, writer, 'kernel'), clock);
      await sessions.load();

      // Build: containers, hooks, routes. No plugin does I/O here.
      const proxies = new Proxies(options.trustedProxies ?? []);
      const listeners = new ListenerSet(
        { hooks, sessions, proxies, log, checkReplies: strict },
        { host, port, certificate },
      );
      const stopping = new AbortController();
      const instances = plugins.map(
        (plugin) => new PluginInstance(plugin, log.child({ plugin: plugin.name }), clock),
      );
      const kernel = new Kernel({
        log,
        listeners,
        dataDirectory,
        clock,
        instances,
        hooks,
        connections,
        lock,
        writer,
        stopping,
        limits,
        leftOut,
      });
      kernel.#build(options.configs, [
        provide(Sessions, sessions),
        provide(Listeners, listeners),
        provide(Commands, { list: () => kernel.commands }),
        provide(Plugins, {
          list: () => kernel.plugins(),
          taps: () => hooks.taps,
          leaveOut: (name, work, reason) =>
            instances.find((instance) => instance.name === name)?.leaveOut(work, reason),
        }),
        ...(options.provides ?? []),
      ]);
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
    const wiring = new Wiring(own);
    const { sequelize } = this.#parts.connections;
    for (const instance of this.#parts.instances) {
      const { plugin, name } = instance;
      blame(plugin, 'could not be built', () =>
        wiring.build(instance, {
          name,
          log: instance.log,
          config: configs.get(name)?.values,
          configSource: configs.get(name)?.sources ?? {},
          db: new Database(this.#parts.connections, this.#parts.writer, name),
          tables: Object.fromEntries(
            Object.entries(plugin.tables).map(([key, declared]) => [key, defineModel(sequelize, declared)]),
          ),
          hooks: this.#parts.hooks.of(name),
          clock: this.#parts.clock,
          signal: this.#parts.stopping.signal,
          dataDirectory: this.#parts.dataDirectory,
          extensions: wiring.extensions,
        }),
      );
    }
    this.#each('could not be built', (instance) => {
      wiring.extend(instance);
      for (const tap of instance.plugin.hooks(instance.scope)) this.#parts.hooks.add(instance, tap);
      this.listeners.upgrades.mount(instance, wiring.extensions(Upgrades));
    });
  }

  /** Those from outside come last: who clashes with what is built in is the one to blame. */
  #each(what: string, work: (instance: PluginInstance) => void): void {
    for (const instance of [...this.#parts.instances].sort((a, b) => Number(a.outside) - Number(b.outside)))
      blame(instance.plugin, what, () => work(instance));
  }

  async #start(sessions: SessionStore, forCommand: boolean): Promise<void> {
    const started: PluginInstance[] = [];
    const startedAt = this.#parts.clock.now();
    try {
      for (const instance of this.#parts.instances) {
        started.push(instance);
        const limit = this.#parts.limits[instance.essential ? 'essentialStart' : 'start'];
        await blame(instance.plugin, 'did not start', () =>
          within(limit, 'its start', async () => instance.plugin.start(instance.scope)),
        );
        instance.state = 'running';
      }
      this.#each('cannot offer its commands', (owner) => {
        const own = owner.plugin.commands(owner.scope).map((command) => ({ ...command, owner }));
        this.commands = checkCommands([...this.commands, ...own]);
      });
      const routes: Owned[] = [{ owner: this.#self, route: health }];
      this.#each('cannot serve its routes', (owner) => {
        routes.push(...owner.plugin.routes(owner.scope).map((route) => ({ owner, route })));
        this.listeners.check(routes);
      });
      if (forCommand) return;
      this.listeners.mount(routes);
      await this.listeners.listen();
      this.#each('cannot run its jobs', (instance) => {
        for (const job of instance.plugin.jobs(instance.scope)) this.#schedule.start(instance, job);
      });
      await this.#open(sessions, startedAt);
    } catch (error) {
      await this.listeners.close();
      await this.#schedule.stop();
      this.#parts.stopping.abort();
      await this.#stopPlugins(started);
      throw error;
    }
  }

  async #open(sessions: SessionStore, startedAt: number): Promise<void> {
    this.#schedule.start(this.#self, { name: 'sessions', every: '1m', run: () => sessions.sweep() });
    this.#schedule.start(this.#self, {
      name: 'certificate',
      every: '1m',
      run: () => this.listeners.renewCertificate(),
    });
    this.#isOpen = true;
    await this.#parts.hooks.after(afterKernelOpen, { startedAt });
    const facts = await this.#parts.hooks.compose(composeReadyLine, undefined).catch(() => []);
    for (const { name, reason, error } of this.#parts.leftOut)
      this.#parts.log.error('a plugin is left out', {
        plugin: name,
        reason,
        ...(error !== undefined && { error }),
      });
    this.#parts.log.info(
      'ready',
      Object.assign(
        { ms: this.#parts.clock.now() - startedAt, panelUrl: this.listeners.panelUrl },
        ...facts.map(({ entry }) => entry),
      ) as object,
    );
    this.#parts.hooks.emit(kernelReady, {
      startedAt,
      plugins: this.#parts.instances.map(({ name }) => name),
    });
  }

  /** Everything that was acknowledged is in the database when this resolves. `again`: another kernel takes its place at once, so what runs beside this one is left to it. */
  stop(reason: string, again = false): Promise<void> {
    this.#stopped ??= this.#shutDown(reason, again);
    return this.#stopped;
  }

  async #shutDown(reason: string, again: boolean): Promise<void> {
    this.#parts.log.info('stopping', { reason });
    await Promise.all([this.listeners.close(), this.#schedule.stop()]);
    if (this.#isOpen) await this.#parts.hooks.announce(beforeKernelStop, { reason, again });
    this.#parts.stopping.abort();
    await this.#stopPlugins(this.#parts.instances);
    await this.#parts.writer.close();
    await this.#parts.connections.close();
    await this.#parts.lock.release();
    this.#parts.log.info('stopped', { reason });
  }

  /** Those from outside first, all at once: however many of them hang, the others and the database come to an orderly end. */
  async #stopPlugins(instances: readonly PluginInstance[]): Promise<void> {
    const end = async (instance: PluginInstance) => {
      await within(EVENTS_LIMIT_MS, 'the events', () => instance.queue.settled()).catch((error: unknown) =>
        instance.fault('stop', error),
      );
      const limit = STOP_LIMIT_MS[instance.essential ? 'essential' : 'other'];
      await within(limit, 'its stop', async () => instance.plugin.stop(instance.scope)).catch(
        (error: unknown) => instance.fault('stop', error),
      );
      await instance.dispose();
    };
    await Promise.all(instances.filter(({ outside }) => outside).map(end));
    for (const instance of instances.filter(({ outside }) => !outside).reverse()) await end(instance);
  }

  /** No job is under way and all queues of events are empty. For tests. */
  async settled(): Promise<void> {
    await this.#schedule.settled();
    for (const { queue } of this.#parts.instances) await queue.settled();
  }

  /** The kernel's view of its plugins, those that could not run included. */
  plugins(): PluginState[] {
    const running = this.#parts.instances.map((instance) => {
      const { plugin, outside, state, leftOut } = instance;
      const { name, version, about } = plugin;
      const reason =
        state === 'faulty'
          ? 'it failed twenty times within five minutes; its faults are in the log, and a restart of the panel tries it again'
          : [...leftOut.values()].join('; ');
      return { name, version, about, outside, state, reason };
    });
    return [
      ...running,
      ...this.#parts.leftOut.map(({ error: _, ...rest }) => ({ ...rest, state: 'failed' as const })),
    ];
  }
}
