// A supervisor with a core in memory, and the inbounds and users that other plugins would describe.
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../panel/log.js';
import { HookRegistry } from '../../../kernel/hooks/registry.js';
import type { EventQueue } from '../../../timing/event-queue.js';
import { type Hooks, type Log, type PluginContext, stage, type Tap, tap } from '../../../kernel/index.js';
import type { CoreGuardApi } from '../../core-guard/contract.js';
import { Accounts } from '../users/accounts.js';
import {
  AccountTypes,
  type ApiAccountType,
  type ConfigAccountType,
  beforeCoreStop,
  composeCoreConfig,
  type CorePart,
  CoreUsers,
  type CoreUserSource,
  type JsonObject,
  type UserRef,
  userName,
  userOf,
  usersRemoved,
} from '../contract.js';
import type { CoreInbound, CoreUser } from '../driver.js';
import engine from '../index.js';
import { Supervisor } from '../life/supervisor.js';
import { FakeDriver } from './fake-driver.js';

export const account = (id: string): CoreUser['account'] => ({ protocol: 'vless', id, flow: '' });

/** Any text is an id. */
export const vlessLike: ApiAccountType = {
  name: 'vless',
  users: 'api',
  inboundType: 'test.Vless',
  usersField: 1,
  message: 'test.Account',
  fields: { id: { number: 1, type: 'string' }, flow: { number: 2, type: 'string' } },
};
/** The core cannot change these users. */
export const socksLike: ConfigAccountType = {
  name: 'socks',
  users: 'config',
  inboundType: 'test.Socks',
  fields: { password: { type: 'string' } },
  nobody: () => ({ password: 'nobody' }),
};

/** Nothing is kept out. */
export const unguarded: CoreGuardApi = {
  examine: async () => [],
  problem: async () => undefined,
  destinations: () => [],
  readCertificate: async () => '',
};

export class World {
  readonly driver: FakeDriver;
  readonly supervisor: Supervisor;
  readonly hooks: Hooks;
  readonly logger: Log;
  /** ms that its clock is ahead */
  later = 0;
  /** by id */
  readonly inbounds = new Map<number, CoreInbound>();
  readonly outbounds: JsonObject[] = [];
  /** rules, sections and the like */
  readonly parts: CorePart[] = [];
  /** `i<inbound>.c<client>` → its credential */
  readonly users = new Map<string, string>();
  readonly log: string[] = [];
  /** state of the core at each beforeCoreStop */
  readonly stops: string[] = [];
  /** users that the core was said to have given up */
  readonly removed: UserRef[] = [];
  /** what of plugins is left out, and why, as it was last said */
  readonly leftOut = new Map<string, string>();
  /** parts that third-party plugins add, by their names */
  readonly thirdParty = new Map<string, CorePart[]>();
  /** thrown while the config is composed */
  trouble: Error | undefined;
  /** thrown when users are read */
  unreadable: Error | undefined;

  readonly #registry = new HookRegistry();
  readonly #tapper = {
    name: 'test',
    about: '',
    isOff: false,
    offReason: '',
    queue: { push: (run: () => void) => run() } as unknown as EventQueue,
    fault: () => undefined,
  };

  constructor(driver = new FakeDriver()) {
    this.driver = driver;
    const registry = this.#registry;
    registry.declare('engine', engine.hooks);
    const tapper = this.#tapper;
    registry.add(
      tapper,
      tap(
        composeCoreConfig,
        (add) => {
          if (this.trouble) throw this.trouble;
          for (const [id, inbound] of this.inbounds) add({ inbound: { ...inbound, id } });
          for (const outbound of this.outbounds) add({ outbound });
          add(...this.parts);
        },
        { strict: true },
      ),
    );
    registry.add(
      tapper,
      tap(usersRemoved, ({ users }) => void this.removed.push(...users)),
    );
    registry.add(
      tapper,
      tap(beforeCoreStop, () => void this.stops.push(this.driver.core ? 'alive' : 'gone')),
    );
    const source: CoreUserSource = {
      user: (ref) => this.#user(userName(ref)),
      users: (inboundId) =>
        [...this.users.keys()]
          .filter((name) => name.startsWith(`i${inboundId}.`))
          .flatMap((name) => this.#user(name) ?? []),
    };
    const entries = new Map<unknown, readonly unknown[]>([
      [CoreUsers, [source]],
      [AccountTypes, [vlessLike, socksLike]],
    ]);
    const contributions = ((point: unknown) =>
      (entries.get(point) ?? []).map((value) => ({
        plugin: 'test',
        value,
        fault: () => undefined,
      }))) as unknown as PluginContext['contributions'];
    const log = createLog({ level: 'debug', readable: true, write: (line) => void this.log.push(line) });
    this.hooks = registry.of('engine');
    this.logger = log;
    this.supervisor = new Supervisor({
      db: { refuseInsideWrite: () => undefined },
      hooks: this.hooks,
      log,
      clock: { now: () => Date.now() + this.later, every: () => () => undefined },
      config: { private: 'allow', udp: 'single' },
      plugins: {
        leaveOut: (plugin, _, reason) => {
          if (reason === '') this.leftOut.delete(plugin);
          else this.leftOut.set(plugin, reason);
        },
      },
      guard: unguarded,
      accounts: new Accounts({ contributions }),
      contributions,
    });
  }

  /** Another plugin taps a hook. */
  tap(tapped: Tap): void {
    this.#registry.add(this.#tapper, tapped);
  }

  /** A third-party plugin adds these, from the next composition on. */
  addThirdParty(name: string, ...parts: CorePart[]): void {
    if (!this.thirdParty.has(name))
      this.#registry.add(
        { ...this.#tapper, name, outside: true },
        tap(composeCoreConfig, (add) => add(...(this.thirdParty.get(name) ?? [])), { stage: stage.FIRST }),
      );
    this.thirdParty.set(name, parts);
  }

  #user(name: string): CoreUser | undefined {
    if (this.unreadable) throw this.unreadable;
    const id = this.users.get(name);
    const { protocol } = this.inbounds.get(Number(userOf(name)?.inboundId)) ?? { protocol: 'vless' };
    if (id === undefined) return undefined;
    return { name, account: protocol === 'vless' ? account(id) : { protocol, password: id } };
  }

  /** An inbound called `in-<id>` with these users, `<client>: <credential>`. */
  inbound(
    id: number,
    users: Readonly<Record<number, string>> = {},
    port = 1000 + id,
    protocol = 'vless',
  ): void {
    const tag = `in-${id}`;
    this.inbounds.set(id, { tag, protocol, config: { tag, port, protocol } });
    for (const [client, credential] of Object.entries(users)) this.users.set(`i${id}.c${client}`, credential);
  }

  /** The panel goes, its core stays for the next one to find. */
  leaveCore(): FakeDriver {
    this.driver.left = this.driver.core;
    this.driver.detach();
    return this.driver;
  }

  open(): Promise<void> {
    return this.supervisor.open(this.driver);
  }
  get state(): string {
    return this.supervisor.status().state;
  }
  said(text: string): number {
    return this.log.filter((line) => line.includes(text)).length;
  }

  /** Waits for a condition with a deadline that only a broken supervisor meets. */
  async until(condition: () => boolean, what: string): Promise<void> {
    for (const deadline = Date.now() + 15_000; !condition(); await sleep(10)) {
      if (Date.now() > deadline) throw new Error(`did not happen: ${what}\n${this.log.join('')}`);
    }
  }
}
