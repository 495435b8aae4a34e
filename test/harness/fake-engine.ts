// An engine without a core: remembers what it was told and counts what a test says.
import {
  type AccountValue,
  beforeCoreReload,
  beforeCoreStop,
  beforeCountersGo,
  composeCoreConfig,
  coreDrifted,
  coreMemoryHigh,
  beforeRulesInForce,
  coreStateChanged,
  type CoreCounters,
  CoreLog,
  type CoreLogEntry,
  CoreMonitor,
  CoreOutbounds,
  CoreRefused,
  type CoreRuntime,
  CoreUsers,
  Engine,
  type EngineApi,
  usersRemoved,
  type JsonObject,
  type OutboundProbe,
  type UserRef,
} from '../../plugins/engine/contract.js';
import { coreCrash, coreDrift, coreMemory, coreStates } from '../../plugins/engine/notified.js';
import { AllUserServers } from '../../plugins/engine/users/user-servers.js';
import { NotifiedEvents } from '../../plugins/notifications/contract.js';
import { contribute, definePlugin, type Plugin, provide } from '../../kernel/index.js';

export class FakeEngine {
  /** Users the core would accept, by `i<inbound>.c<client>`. */
  readonly users = new Map<string, Readonly<Record<string, AccountValue>>>();
  /** Every call of reconcileUsers. */
  readonly told: UserRef[][] = [];
  inbounds: string[] = [];
  /** what the core's config would have of them */
  configs: JsonObject[] = [];
  /** Ids of inbounds that were replaced, reasons of restarts. */
  readonly replaced: number[] = [];
  readonly restarts: string[] = [];
  epoch = 'first';
  readonly counters = new Map<string, { inboundId: number; clientId: number; up: number; down: number }>();
  /** bytes by tag */
  readonly outbounds = new Map<string, { up: number; down: number }>();
  /** tags of the outbounds in the config */
  outboundTags: string[] = ['direct', 'blocked'];
  /** the log of the core, oldest first */
  readonly connections: CoreLogEntry[] = [];
  /** the reason with which the core refuses the next inbound */
  refuses: string | undefined;
  running = true;
  /** how the core is; a failure is thrown */
  runtime: Omit<CoreRuntime, 'epoch'> | Error | undefined;
  /** undefined: it observes nothing */
  probes: readonly OutboundProbe[] | undefined;
  #enter: (to: 'running' | 'stop') => void = () => undefined;
  #lastReading: () => Promise<void> = async () => undefined;

  /** Moves bytes through an attachment, as a core would count them. */
  move(inboundId: number, clientId: number, up: number, down: number): void {
    const key = `i${inboundId}.c${clientId}`;
    const now = this.counters.get(key) ?? { inboundId, clientId, up: 0, down: 0 };
    this.counters.set(key, { inboundId, clientId, up: now.up + up, down: now.down + down });
  }
  /** The same through an outbound. */
  moveOut(tag: string, up: number, down: number): void {
    const now = this.outbounds.get(tag) ?? { up: 0, down: 0 };
    this.outbounds.set(tag, { up: now.up + up, down: now.down + down });
  }
  #reading(): CoreCounters {
    const outbounds = [...this.outbounds].map(([tag, bytes]) => ({ tag, ...bytes }));
    return { epoch: this.epoch, users: [...this.counters.values()], outbounds };
  }
  /** A new process: its counters begin at zero. */
  restart(epoch: string): void {
    this.epoch = epoch;
    this.counters.clear();
    this.outbounds.clear();
  }

  /** As `restart`, after a last reading of the counters that go. */
  async replace(epoch: string): Promise<void> {
    await this.#lastReading();
    this.restart(epoch);
  }

  /** The core stops or starts, and all are told. */
  enter(to: 'running' | 'stop'): void {
    this.#enter(to);
  }

  get plugin(): Plugin {
    return definePlugin({
      name: 'engine',
      version: '0.0.0',
      api: 1,
      about: 'An engine without a core, for tests.',
      hooks: [
        beforeCoreReload,
        beforeCoreStop,
        beforeCountersGo,
        composeCoreConfig,
        coreStateChanged,
        coreDrifted,
        usersRemoved,
        coreMemoryHigh,
        beforeRulesInForce,
      ],
      contributes: () =>
        [coreStates, coreCrash, coreMemory, coreDrift].map((event) => contribute(NotifiedEvents, event)),
      provides: ({ hooks, contributions }) => {
        this.#enter = (to) => {
          const from = this.running ? 'running' : 'stop';
          this.running = to === 'running';
          hooks.emit(coreStateChanged, { from, to, reason: '' });
        };
        this.#lastReading = () =>
          hooks.notify(beforeCountersGo, {
            counters: this.#reading(),
          });
        const done = { pending: false, reason: '' };
        const servers = new AllUserServers({ contributions });
        const api: EngineApi = {
          status: () => ({
            state: this.running ? 'running' : 'stop',
            errorMsg: '',
            version: '0.0.0',
            startedAt: 0,
            usersOnTheWay: 0,
            memory: { bytes: 0, limit: 0, isHigh: false },
          }),
          reconcileUsers: (users) =>
            servers.reconcile(users, async (refs) => {
              this.told.push([...refs]);
              for (const ref of refs) {
                const user = contributions(CoreUsers)
                  .map(({ value }) => value.user(ref))
                  .find(Boolean);
                const name = `i${ref.inboundId}.c${ref.clientId}`;
                if (user) this.users.set(name, { ...user.account });
                else this.users.delete(name);
              }
              return done;
            }),
          reconcileConfig: (only) =>
            servers.reconcileInbounds(async () => {
              if (only === 'elsewhere') return done;
              const parts = await hooks.compose(composeCoreConfig, undefined);
              this.inbounds = parts.flatMap(({ entry }) => ('inbound' in entry ? [entry.inbound.tag] : []));
              this.configs = parts.flatMap(({ entry }) => ('inbound' in entry ? [entry.inbound.config] : []));
              return done;
            }),
          replaceInbound: async (id) => {
            this.replaced.push(id);
            return done;
          },
          restart: async (reason) => void this.restarts.push(reason),
          preview: async () => ({
            change: 'none',
            inbounds: { put: [], remove: [] },
            outbounds: { put: [], remove: [] },
            rules: false,
            sections: [],
            connections: { end: 'none', inbounds: [], users: 0 },
            problems: [],
            tested: true,
          }),
          examine: async () => {
            if (this.refuses) throw new CoreRefused(this.refuses);
          },
          counters: async (only): Promise<CoreCounters | undefined> => {
            if (!this.running) return undefined;
            return only === 'outbounds' ? { ...this.#reading(), users: [] } : this.#reading();
          },
        };
        const orThrow = <T>(value: T | Error): T => {
          if (value instanceof Error) throw value;
          return value;
        };
        const monitor = {
          runtime: async () => {
            const runtime = orThrow(this.runtime);
            return this.running && runtime ? { ...runtime, epoch: this.epoch } : undefined;
          },
          outbounds: async () => (this.running ? this.probes : undefined),
        };
        return [
          provide(Engine, api),
          provide(CoreMonitor, monitor),
          provide(CoreLog, {
            readBackwards: async (listener) => {
              for (let at = this.connections.length; at > 0; at--)
                if (!listener(this.connections[at - 1] as CoreLogEntry, at)) return;
            },
            end: async () => (this.running ? { epoch: this.epoch, at: this.connections.length } : undefined),
          }),
          provide(CoreOutbounds, {
            tags: async () => new Set(this.outboundTags),
            all: async () => this.outboundTags.map((tag) => ({ tag, protocol: 'freedom' })),
          }),
        ];
      },
    });
  }
}
