// A core in memory: it keeps what it is told and refuses or fails as a test says.
import {
  type AppliedDigests,
  type BaseChange,
  type CoreBase,
  type CoreDriver,
  type CoreInbound,
  type CoreProcess,
  CoreRefused,
  CoreTooSlow,
  CoreUnreachable,
  type CoreUser,
  type DriverMonitor,
  type InboundWithUsers,
  type JsonObject,
  type LoggedConnection,
  NeedsRestart,
  type OutboundCounter,
  ProtocolRefused,
  type RunningParts,
  type UserCounter,
} from '../driver.js';

/** What a core process holds; it outlives the driver, as a real one does. */
export interface FakeCore {
  readonly process: CoreProcess;
  base: CoreBase;
  readonly inbounds: Map<
    string,
    { readonly config: CoreInbound['config']; readonly users: Map<string, CoreUser> }
  >;
  digests: AppliedDigests;
}

export class FakeDriver implements CoreDriver {
  readonly maxUserBytes = 2_500_000;
  /** what runs now */
  core: FakeCore | undefined;
  /** what a previous panel left running */
  left: FakeCore | undefined;
  /** every call that changes the core, in order */
  readonly calls: string[] = [];
  /** the core refuses these inbounds or users, by tag or name */
  readonly refuses = new Map<string, string>();
  /** the core refuses every base that has an outbound of this tag */
  refusesOutbound: string | undefined;
  /** so do these, by a part of the tag; `hidden` is only found out by a start */
  refusesOutboundsLike: string | undefined;
  /** the next calls of these kinds, e.g. `putUser`, get no answer */
  readonly silent = new Map<string, number>();
  /** `start` waits for this */
  gate: Promise<void> = Promise.resolve();
  /** times of all attempts to start, Unix ms */
  readonly starts: number[] = [];
  #exit: (reason: string) => void = () => undefined;
  #pid = 100;

  #call(kind: string, detail = ''): FakeCore {
    const left = this.silent.get(kind) ?? 0;
    if (left > 0) {
      this.silent.set(kind, left - 1);
      throw new CoreUnreachable(`${kind}: no answer`);
    }
    if (!this.core) throw new CoreUnreachable('no core is running');
    this.calls.push(detail ? `${kind} ${detail}` : kind);
    return this.core;
  }

  async version(): Promise<string> {
    if ((this.silent.get('version') ?? 0) > 0) {
      this.silent.set('version', (this.silent.get('version') ?? 0) - 1);
      throw new CoreUnreachable('this is no core');
    }
    return '1.2.3';
  }

  async test(base: CoreBase, inbounds: readonly CoreInbound[]): Promise<void> {
    this.calls.push('test');
    this.#judge(base, inbounds);
  }

  /** account types that the core does not read as they are declared, with what it says */
  readonly unreadable = new Map<string, string>();
  async testAccount({ protocol }: CoreInbound): Promise<void> {
    if (this.unreadable.has(protocol)) throw new ProtocolRefused(this.unreadable.get(protocol));
  }

  #judge(base: CoreBase, inbounds: readonly CoreInbound[]): void {
    const tags = (base['outbounds'] as readonly { tag: string }[]).map(({ tag }) => tag);
    if (this.refusesOutbound !== undefined && tags.includes(this.refusesOutbound))
      throw new CoreRefused(`outbound ${this.refusesOutbound}: refused`);
    const like = this.refusesOutboundsLike;
    const bad = like === undefined ? undefined : tags.find((tag) => tag?.includes(like));
    if (bad?.includes('slow')) throw new CoreTooSlow('xray run: no result within 20 s');
    if (bad !== undefined) throw new CoreRefused(`outbound ${bad}: unknown config id`);
    for (const { tag } of inbounds) if (this.refuses.has(tag)) throw new CoreRefused(this.refuses.get(tag));
  }

  configText(base: CoreBase, inbounds: readonly InboundWithUsers[]): string[] {
    return [
      JSON.stringify({
        ...base,
        inbounds: inbounds.map(({ config, users }) => ({
          ...config,
          users: [...users].map(({ name }) => name),
        })),
      }),
    ];
  }

  async adopt(): Promise<{ process: CoreProcess; digests: AppliedDigests } | undefined> {
    if (this.core) throw new Error('a core is in hand already');
    if (!this.left) return undefined;
    this.core = this.left;
    this.left = undefined;
    return { process: this.core.process, digests: this.core.digests };
  }

  async start(
    base: CoreBase,
    inbounds: readonly InboundWithUsers[],
    digests: AppliedDigests,
  ): Promise<CoreProcess> {
    if (this.core) throw new Error('a core runs already');
    this.starts.push(Date.now());
    this.calls.push(`start ${inbounds.map(({ tag }) => tag).join(' ')}`.trim());
    // A real driver reads the users once, into the config file, before the core is up.
    const given = new Map(
      inbounds.map(({ tag, config, users }) => [
        tag,
        { config, users: new Map([...users].map((user) => [user.name, user])) },
      ]),
    );
    await this.gate;
    const silent = this.silent.get('start') ?? 0;
    if (silent > 0) {
      this.silent.set('start', silent - 1);
      throw new CoreUnreachable('start: no answer');
    }
    this.#judge(base, inbounds);
    if (JSON.stringify(base).includes('hidden')) throw new CoreRefused('failed to listen');
    const pid = (this.#pid += 1);
    this.core = {
      process: { epoch: `core-${pid}`, pid, startedAt: Date.now() },
      base,
      inbounds: given,
      digests,
    };
    return this.core.process;
  }

  async stop(): Promise<void> {
    this.calls.push('stop');
    this.core = undefined;
  }
  async remember(digests: AppliedDigests): Promise<void> {
    if (!this.core) throw new CoreUnreachable('no core is running');
    this.core.digests = digests;
  }
  onExit(listener: (reason: string) => void): void {
    this.#exit = listener;
  }
  detach(): void {
    this.core = undefined;
  }
  /** The core ends by itself. */
  die(reason: string): void {
    this.core = undefined;
    this.#exit(reason);
  }

  /** `changeBase` says that only a restart can do it */
  needsRestart = false;
  async changeBase(base: CoreBase, { put, remove, rules, previousFirst }: BaseChange): Promise<void> {
    const words = [
      ...put.map((tag) => `+${tag}`),
      ...remove.map((tag) => `-${tag}`),
      ...(rules ? ['rules'] : []),
      ...(previousFirst === undefined ? [] : [`first was ${previousFirst}`]),
    ];
    const core = this.#call('changeBase', words.join(' '));
    if (this.needsRestart) throw new NeedsRestart('it is too large');
    const refused = put.find((tag) => this.refuses.has(tag));
    if (refused !== undefined) throw new CoreRefused(this.refuses.get(refused));
    core.base = base;
  }
  /** somebody changed the core behind the panel's back */
  readonly drift: { outbounds: Map<string, string>; lostRules: boolean } = {
    outbounds: new Map(),
    lostRules: false,
  };
  async running(): Promise<RunningParts> {
    const { inbounds, base } = this.#call('running');
    const { outbounds, routing } = base as unknown as {
      outbounds: JsonObject[];
      routing: { rules: { ruleTag: string }[] };
    };
    return {
      inbounds: [...inbounds.keys()],
      outbounds: new Map(
        outbounds.map((outbound) => {
          const tag = String(outbound['tag']);
          return [tag, this.drift.outbounds.get(tag) ?? JSON.stringify(outbound)];
        }),
      ),
      ruleTags: this.drift.lostRules ? [] : ['weir.api', ...routing.rules.map(({ ruleTag }) => ruleTag)],
    };
  }
  async userCount(tag: string): Promise<number> {
    return this.#users(this.#call('userCount', tag), tag).size;
  }

  async putInbound({ tag, config, users }: InboundWithUsers): Promise<void> {
    const { inbounds } = this.#call('putInbound', tag);
    if (this.refuses.has(tag)) throw new CoreRefused(this.refuses.get(tag));
    inbounds.set(tag, { config, users: new Map([...users].map((user) => [user.name, user])) });
  }
  async removeInbound(tag: string): Promise<void> {
    this.#call('removeInbound', tag).inbounds.delete(tag);
  }
  #users(core: FakeCore, tag: string): Map<string, CoreUser> {
    const inbound = core.inbounds.get(tag);
    if (!inbound) throw new CoreRefused(`the core has no inbound ${tag}`);
    if (inbound.config['protocol'] === 'socks') throw new CoreRefused('proxy is not a UserManager');
    return inbound.users;
  }
  async putUser(tag: string, user: CoreUser): Promise<void> {
    const users = this.#users(this.#call('putUser', user.name), tag);
    if (this.refuses.has(user.name)) throw new CoreRefused(this.refuses.get(user.name));
    users.set(user.name, user);
  }
  async removeUser(tag: string, name: string): Promise<void> {
    this.#users(this.#call('removeUser', name), tag).delete(name);
  }
  async users(tag: string): Promise<CoreUser[]> {
    return [...this.#users(this.#call('users', tag), tag).values()];
  }
  async counters(): Promise<UserCounter[]> {
    this.#call('counters');
    return [
      { name: 'i1.c1', up: 1, down: 2 },
      { name: 'somebody else', up: 3, down: 4 },
    ];
  }
  /** by tag; what the core counts for each outbound */
  outbounds: OutboundCounter[] = [
    { tag: 'direct', up: 5, down: 6 },
    { tag: 'weir.udp.direct', up: 1, down: 1 },
  ];
  async outboundCounters(): Promise<OutboundCounter[]> {
    // Not among the calls: it comes with `counters`.
    if (!this.core) throw new CoreUnreachable('no core is running');
    return this.outbounds;
  }
  /** lines of its log that nobody has read */
  readonly lines: LoggedConnection[] = [];
  async readConnections(listener: (batch: readonly LoggedConnection[]) => void): Promise<void> {
    this.#call('readConnections');
    listener(this.lines.splice(0));
  }
  async readLog(): Promise<void> {}
  async logEnd() {
    return { epoch: 'fake', at: 0 };
  }
  /** it runs and does not answer; `connection`: until there is another connection */
  hangs: 'no' | 'core' | 'connection' = 'no';
  /** called with each call of the monitor */
  asked: () => void = () => undefined;
  readonly monitor: DriverMonitor = {
    figures: async (timeout) => {
      this.asked();
      if (this.hangs !== 'no') throw new CoreUnreachable(`GetSysStats: no reply within ${timeout} ms`);
      return {
        heapBytes: 1,
        systemBytes: 2,
        liveObjects: 3,
        collections: 4,
        pausedNs: 5,
        goroutines: 6,
        uptime: 7,
      };
    },
    outbounds: async () => undefined,
    reconnect: () => {
      this.calls.push('reconnect');
      if (this.hangs === 'connection') this.hangs = 'no';
    },
    kill: async () => {
      this.calls.push('kill');
      this.hangs = 'no';
      this.die('killed by SIGKILL');
    },
  };
  async trimLogs(): Promise<void> {}

  /** Names of the users an inbound accepts; undefined when there is no such inbound. */
  names(tag: string): string[] | undefined {
    const inbound = this.core?.inbounds.get(tag);
    return inbound && [...inbound.users.keys()].sort();
  }
  /** Changes since the last look. */
  news(): string[] {
    return this.calls.splice(0);
  }
}
