// Boot and stop, readable from top to bottom. Each step is complete for all plugins before the next begins, except load
// and start, which run plugin by plugin.
import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Commands, type OwnedCommand } from './command/list.js';
import type { PluginConfig } from '../schema/variable.js';
import { provide, type Provision } from './container/token.js';
import { connect, type Connections } from './database/connect.js';
import { type FolderLock, lockFolder } from '../file/lock.js';
import { Migrations } from './database/migrate.js';
import { defineModel } from '../tables/table.js';
import { Cluster } from './database/cluster.js';
import { Database, Projections } from './database/database.js';
import { Writer } from './database/writer.js';
import { isPanelError, storageFailure } from './errors/errors.js';
import { HookRegistry } from './hooks/registry.js';
import { Proxies } from '../net/proxies.js';
import { health } from './http/health.js';
import { Listeners, ListenerSet } from './http/listeners.js';
import { uploadsFolder } from './http/request-body.js';
import { Permits } from './http/permits.js';
import { Replays } from './http/replays.js';
import { RouteAdapters } from './http/table.js';
import { Upgrades } from './http/upgrade.js';
import { type Clock, systemClock } from '../timing/clock.js';
import { everywhere, job, Jobs, Schedule } from './jobs/schedule.js';
import { SessionStore, sessionMigrations, Sessions } from './auth/session.js';
import { SessionCookies } from './auth/session-cookie.js';
import type { Log } from './log/log.js';
import { frozen } from '../schema/frozen.js';
import { PluginInstance, thirdPartyLast } from './plugin/instance.js';
import { afterKernelLead, afterKernelOpen, beforeKernelStop } from './lifecycle.js';
import { composeStartupSummary, kernelReady } from './lifecycle.js';
import { attributeErrors } from './plugin/error.js';
import { type LeftOut, Plugins, type PluginState, statesOf } from './plugin/plugins.js';
import { Wiring } from './plugin/wiring.js';
import { LateStarts } from './plugin/late-starts.js';
import { Registrations } from './plugin/registrations.js';
import { startPlugin, stopPlugins } from './plugin/start-stop.js';
import { type Limits, LIMITS } from './plugin/limits.js';
import type { KernelOptions } from './options.js';

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
  bootBeganAt: number;
}>;

export class Kernel {
  readonly listeners: ListenerSet;
  readonly #parts: Parts;
  readonly #schedule: Schedule;
  /** Owner of the kernel's routes and jobs. */
  readonly #self = {
    name: 'kernel',
    about: 'The panel itself.',
    isOff: false,
    offReason: '',
    fault: (where: string, error: unknown) => {
      if (!isPanelError(storageFailure(error))) this.#parts.log.error('kernel fault', { where, error });
    },
  };
  readonly #registrations: Registrations;
  readonly #late: LateStarts;
  #isOpen = false;
  #stopped: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.listeners = parts.listeners;
    this.#schedule = new Schedule(parts.clock, parts.log, parts.limits.stop);
    const own = [{ owner: this.#self, route: health(() => !parts.writer.isFailing) }];
    this.#registrations = new Registrations(parts.listeners, this.#schedule, own);
    this.#late = new LateStarts({ ...parts, registrations: this.#registrations }, parts.instances);
  }

  /** of all plugins, for the command line */
  get commands(): readonly OwnedCommand[] {
    return this.#registrations.commands;
  }

  /** Resolves when the start of every plugin has finished or failed. */
  get started(): Promise<void> {
    return this.#late.ended;
  }

  /** Resolves when everything runs. Rejects with a PluginError whose culprit could be left out, or with the first failure of something essential; closes everything before. */
  static async boot(options: KernelOptions): Promise<Kernel> {
    const { plugins, dataDirectory, host, port, certificate, log, clock = systemClock } = options;
    const { bootBeganAt = performance.now(), leftOut = [], selfChecks = false } = options;
    const limits = { ...LIMITS, ...options.limits };

    // Connect and migrate.
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    const lock = await lockFolder(dataDirectory, log);
    const connections = await connect(options.databaseUrl, dataDirectory, options.member).catch(
      async (cause: unknown) => {
        await lock.release();
        throw cause;
      },
    );
    const hooks = new HookRegistry(limits);
    const writer = new Writer(connections, hooks, log, { selfChecks });
    const uploads = uploadsFolder(dataDirectory);
    try {
      // A crash leaves unfinished uploads behind.
      await rm(uploads, { recursive: true, force: true });
      const migrations = new Migrations(connections, log);
      await migrations.run('kernel', sessionMigrations);
      for (const plugin of plugins)
        await attributeErrors(plugin, 'cannot have its tables', () =>
          migrations.run(plugin.name, plugin.migrations),
        );
      const database = new Database(connections, writer, 'kernel');
      const sessions = new SessionStore(database, clock);

      // Build: containers, hooks, taps. No plugin does I/O here.
      const proxies = new Proxies(options.trustedProxies ?? []);
      const listeners = new ListenerSet(
        { hooks, sessions, proxies, log, checkReplies: selfChecks, uploads },
        { host, port, portVariable: 'WEIR_PANEL_PORT', certificate },
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
        bootBeganAt,
      });
      kernel.#build(options.configs, [
        provide(Sessions, sessions),
        provide(Listeners, listeners),
        provide(Jobs, kernel.#schedule),
        provide(Projections, writer.projections),
        provide(Commands, { list: () => kernel.commands }),
        provide(Plugins, {
          list: () => kernel.plugins(),
          hooks: () => instances.flatMap(({ plugin }) => plugin.hooks),
          taps: () => hooks.taps,
          leaveOut: (name, work, reason) =>
            instances.find((one) => one.name === name)?.leaveOut(work, reason),
        }),
        ...(options.provides ?? []),
      ]);
      await database.loadProjections();
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
    const { hooks, connections } = this.#parts;
    const { sequelize } = connections;
    for (const instance of this.#parts.instances) {
      const { plugin, name } = instance;
      attributeErrors(plugin, 'could not be built', () => {
        hooks.declare(name, plugin.hooks);
        wiring.build(instance, {
          name,
          self: frozen({ kind: 'plugin', name }),
          log: instance.log,
          config: frozen(configs.get(name)?.values),
          configSource: frozen(configs.get(name)?.sources ?? {}),
          db: new Database(connections, this.#parts.writer, name),
          tables: Object.fromEntries(
            Object.entries(plugin.tables).map(([key, table]) => [key, defineModel(sequelize, table)]),
          ),
          hooks: hooks.of(name),
          clock: this.#parts.clock,
          signal: this.#parts.stopping.signal,
          dataDirectory: this.#parts.dataDirectory,
          contributions: wiring.contributions,
        });
      });
    }
    const cluster = wiring.resolve('kernel', Cluster) as Cluster | undefined;
    this.#parts.writer.cluster = cluster;
    if (cluster) this.#schedule.leads = () => cluster.leads;
    const replays = wiring.resolve('kernel', Replays) as Replays | undefined;
    const permits = wiring.resolve('kernel', Permits) as Permits | undefined;
    this.#registrations.replays = replays;
    this.#registrations.permits = permits;
    permits?.onChange(() => this.listeners.upgrades.askAgain());
    this.#parts.writer.lastStep = replays?.settle.bind(replays);
    const extending = thirdPartyLast(this.#parts.instances);
    for (const instance of extending)
      attributeErrors(instance.plugin, 'could not be built', () => wiring.extend(instance));
    // A plugin may tap the hooks that others name in its lists.
    for (const instance of extending)
      attributeErrors(instance.plugin, 'could not be built', () => {
        for (const tap of instance.plugin.taps(instance.scope)) hooks.add(instance, tap);
        this.listeners.upgrades.mount(instance, wiring.contributions(Upgrades), permits);
      });
    this.listeners.cookies.further = wiring.contributions(SessionCookies).map(({ value }) => value);
    this.listeners.adapters = wiring.contributions(RouteAdapters);
  }

  async #start(sessions: SessionStore, forCommand: boolean): Promise<void> {
    const { instances, log, limits, clock } = this.#parts;
    const started: PluginInstance[] = [];
    const startedAt = clock.now();
    this.#late.markStarting();
    const first = instances.filter((instance) => !this.#late.plugins.has(instance));
    try {
      for (const instance of first) {
        started.push(instance);
        await startPlugin(instance, limits, log);
        instance.state = 'running';
      }
      const offering = thirdPartyLast(first);
      for (const instance of offering) this.#registrations.addCommands(instance);
      for (const instance of offering) this.#registrations.addRoutes(instance);
      for (const instance of offering) this.#registrations.addJobs(instance);
      if (!forCommand) {
        await this.#registrations.serve();
        this.#schedule.begin();
      }
      started.push(...this.#late.plugins);
      this.#late.startAll(!forCommand);
      if (forCommand) return await this.started;
      await Promise.race([this.started, sleep(limits.slowStart, undefined, { ref: false })]);
      await this.#announceReady(sessions, startedAt);
    } catch (error) {
      await this.listeners.close();
      await this.#schedule.stop();
      this.#parts.stopping.abort();
      await stopPlugins(started);
      throw error;
    }
  }

  async #announceReady(sessions: SessionStore, startedAt: number): Promise<void> {
    const { hooks, log, leftOut, bootBeganAt, stopping, writer } = this.#parts;
    this.#schedule.add(this.#self, [
      everywhere(job('sessions', '1m', () => sessions.sweep())),
      everywhere(job('database', '5s', () => writer.probe())),
      everywhere(job('certificate', '1m', () => this.listeners.renewCertificate())),
    ]);
    this.#isOpen = true;
    await hooks.after(afterKernelOpen, { startedAt });
    const lead = () => hooks.after(afterKernelLead, {});
    const leading = writer.cluster ? writer.cluster.leading().then(lead) : lead();
    if (!writer.cluster) await leading;
    const facts = await hooks.compose(composeStartupSummary, undefined).catch(() => []);
    for (const { name, reason, error } of leftOut)
      log.error('a plugin is left out', { plugin: name, reason, ...(error !== undefined && { error }) });
    const starting = this.#namesOf('starting');
    const ready = {
      ms: Math.round(performance.now() - bootBeganAt),
      panelUrl: this.listeners.panelUrl,
      ...(starting.length > 0 && { starting }),
    };
    // Later objects win, so the facts of built-in plugins replace those of third-party ones. `ready` comes first for
    // the order of the keys, and last because no fact may replace one of its own.
    const told = facts.toSorted((a, b) => Number(a.outside ?? false) - Number(b.outside ?? false));
    log.info('ready', Object.assign({}, ready, ...told.map(({ entry }) => entry).reverse(), ready) as object);
    void Promise.all([this.started, leading]).then(() => {
      if (stopping.signal.aborted) return;
      hooks.emit(kernelReady, { startedAt, plugins: this.#namesOf('running') });
    });
  }

  #namesOf(state: PluginState['state']): string[] {
    return this.#parts.instances.filter((instance) => instance.state === state).map(({ name }) => name);
  }

  /** Attributes a failure outside of every call to a plugin; false where it does not run. */
  fault(plugin: string, where: string, error: unknown): boolean {
    const instance = this.#parts.instances.find(({ name }) => name === plugin);
    instance?.fault(where, error);
    return instance !== undefined;
  }

  /** Resolves when everything acknowledged is in the database. With `restarting` another kernel follows at once, so programs beside this one keep running for it. */
  stop(reason: string, restarting = false): Promise<void> {
    this.#stopped ??= this.#shutDown(reason, restarting);
    return this.#stopped;
  }

  async #shutDown(reason: string, restarting: boolean): Promise<void> {
    this.#parts.log.info('stopping', { reason });
    await Promise.all([this.listeners.close(), this.#schedule.stop()]);
    if (this.#isOpen) await this.#parts.hooks.notify(beforeKernelStop, { reason, again: restarting });
    this.#parts.stopping.abort();
    await stopPlugins(this.#parts.instances);
    await this.#parts.writer.close();
    await this.#parts.connections.close();
    await this.#parts.lock.release();
    this.#parts.log.info('stopped', { reason });
  }

  /** Whether no job runs and all queues of events are empty. For tests. */
  async settled(): Promise<void> {
    await this.#schedule.settled();
    for (const { queue } of this.#parts.instances) await queue.settled();
  }

  /** The kernel's view of its plugins, those that could not run included. */
  plugins(): PluginState[] {
    return statesOf(this.#parts.instances, this.#parts.leftOut);
  }
}
