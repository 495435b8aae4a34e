// The interface between the engine plugin and a core program. A driver starts, adopts and talks to one core process;
// it knows nothing of clients, quotas or the database. The engine decides what the core should run.
import type { LogLimits } from '../processes/contract.js';

/** JSON of a config file. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Value of a field of an account; bytes are base64. */
export type AccountValue = string | number | boolean;

/** Credentials of one user; `protocol` names an account type, whose fields are the others, e.g. `{ protocol: 'trojan', password }`. */
export interface CoreAccount {
  readonly protocol: string;
  readonly [field: string]: AccountValue;
}

/** `name` is the core's own user name (`i<inboundId>.c<clientId>`), never an email. */
export interface CoreUser {
  readonly name: string;
  readonly account: CoreAccount;
}

/** One inbound as the core's config file has it, without its users. `config.tag` is `tag`. */
export interface CoreInbound {
  readonly tag: string;
  /** The account type of its users: the config's own protocol, or a kind of it (`shadowsocks-2022`). */
  readonly protocol: string;
  readonly config: JsonObject;
}

export type InboundWithUsers = CoreInbound & { readonly users: Iterable<CoreUser> };

/** Everything of a config but its inbounds: log, api, policy, outbounds, routing, dns … */
export type CoreBase = JsonObject;

/** Absolute bytes since the core started. */
export interface UserCounter {
  readonly name: string;
  readonly up: number;
  readonly down: number;
}

export interface OutboundCounter {
  readonly tag: string;
  readonly up: number;
  readonly down: number;
}

/** A connection, or a stream inside one, that the core's log shows for a user. Lines may be missing. */
export interface LoggedConnection {
  readonly name: string;
  /** IP address without brackets: of the peer, or what a proxy claimed in its headers */
  readonly address: string;
  /** 0 when a proxy reported the address */
  readonly port: number;
  /** Unix ms; absent where the log does not say when */
  readonly at?: number;
}

/** A line of the core's log of connections. */
export interface LogLine {
  /** Unix ms */
  readonly at: number;
  /** address and port of the peer, without the network */
  readonly from: string;
  /** network, host and port, as the user named them; '' for a refused login */
  readonly to: string;
  /** '' where the line does not say */
  readonly inbound: string;
  readonly outbound: string;
  /** of the user; '' for none */
  readonly name: string;
}

/** A user with open connections, and where they come from. */
export interface OnlineUser {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** Which process answers: with a new `epoch` all counters begin at zero. */
export interface CoreProcess {
  readonly epoch: string;
  readonly pid: number;
  /** Unix ms */
  readonly startedAt: number;
}

/** What the core's runtime says of itself. */
export interface CoreFigures {
  readonly heapBytes: number;
  /** bytes that it has from the system, whether they are in use or not */
  readonly systemBytes: number;
  readonly liveObjects: number;
  /** garbage collections since its start */
  readonly collections: number;
  /** ns that they have stopped it for, in all */
  readonly pausedNs: number;
  readonly goroutines: number;
  /** seconds */
  readonly uptime: number;
}

/** The last probe of an outbound that the core observes. */
export interface OutboundHealth {
  readonly tag: string;
  readonly alive: boolean;
  /** ms; of no use for an outbound that is not alive */
  readonly delay: number;
  /** '' also where the core does not say */
  readonly lastError: string;
  /** Unix seconds; 0 for never, and where the core does not say */
  readonly lastSeen: number;
  readonly lastTry: number;
}

/** Reads how the core is, beside what it runs, and ends one that does not answer. */
export interface DriverMonitor {
  /** The cheapest call. Rejects with CoreUnreachable when no answer comes within `timeout` ms. */
  figures(timeout: number): Promise<CoreFigures>;
  /** Undefined where the core observes no outbounds. */
  outbounds(timeout: number): Promise<OutboundHealth[] | undefined>;
  /** Calls under way fail, and the next one opens another connection. Never throws. */
  reconnect(): void;
  /** Ends the process at once; `onExit` reports it. */
  kill(): Promise<void>;
}

/** A connection, to ask where it would leave; '' and 0 for what is not known of it. */
export interface RouteQuestion {
  readonly network: 'tcp' | 'udp';
  readonly inboundTag: string;
  readonly domain: string;
  readonly ip: string;
  readonly port: number;
  /** as the core sniffs it: `http`, `tls`, `bittorrent` … */
  readonly protocol: string;
  /** the core's name of the user, see userName */
  readonly user: string;
}
export interface RouteAnswer {
  readonly outboundTag: string;
  readonly groupTags: readonly string[];
}
/** A balancer of the running core. */
export interface BalancerState {
  /** tag of the outbound that takes everything; '' for none */
  readonly override: string;
  /** tags of the outbounds that its strategy chooses from, or has chosen */
  readonly selected: readonly string[];
}
/** Asks the core where connections would leave, and steers its balancers. Tags are those of the core. */
export interface DriverRoutes {
  /** Undefined when no rule takes the connection: it leaves by the first outbound. */
  route(question: RouteQuestion): Promise<RouteAnswer | undefined>;
  /** Undefined when the core does not have the balancer. */
  balancer(tag: string): Promise<BalancerState | undefined>;
  /** Makes the balancer use this outbound, unchecked; '' ends that. The core forgets it with a restart. */
  override(tag: string, target: string): Promise<void>;
}

/** Digests of the base of a config. An empty one marks a change that may not have been carried out. */
export interface BaseDigests {
  /** of what only a restart changes: name servers, policy, observatory … */
  readonly base: string;
  /** by tag */
  readonly outbounds: Readonly<Record<string, string>>;
  /** tag of the first outbound: the core's default */
  readonly first: string;
  /** of rules and balancers, in their order */
  readonly rules: string;
}
/** Digests of what a running core runs, for the next panel. */
export interface AppliedDigests extends BaseDigests {
  /** inbound tag → digest of its config; an empty digest marks a change that may not have been carried out */
  readonly inbounds: Readonly<Record<string, string>>;
}

/** What to change of the outbounds and rules of a running core. */
export interface BaseChange {
  /** tags of outbounds to add or to replace */
  readonly put: readonly string[];
  readonly remove: readonly string[];
  /** tag of the core's default outbound, where another one must be it */
  readonly previousFirst?: string;
  /** whether rules or balancers differ */
  readonly rules: boolean;
}

/** What a core runs, as it says itself. */
export interface RunningParts {
  readonly inbounds: readonly string[];
  /** tag → digest of the bytes that the core has; comparable within one core only */
  readonly outbounds: ReadonlyMap<string, string>;
  /** in their order */
  readonly ruleTags: readonly string[];
}

/** The core rejected the config; `message` is its reason, shortened to the last cause. */
export class CoreRefused extends Error {
  override readonly name = 'CoreRefused';
}

/** The core does not support the protocol: it is unknown, or its accounts differ from their declaration. */
export class ProtocolRefused extends CoreRefused {}

/** The change is possible only with a new start: a part of it is too large for one message. */
export class NeedsRestart extends Error {
  override readonly name = 'NeedsRestart';
}

/** The core did not answer (not running, crashed in the call, time-out). Desired and running state may differ from now on. */
export class CoreUnreachable extends Error {
  override readonly name = 'CoreUnreachable';
}
/** A test run took too long: the config may be too large for the core. */
export class CoreTooSlow extends CoreUnreachable {}

export interface CoreDriver {
  /** Bytes of users, as JSON, that the config of an inbound has room for while the core runs. */
  readonly maxUserBytes: number;
  /** Version of the binary, e.g. `26.3.27`. */
  version(): Promise<string>;

  /** Has the core test a whole config (inbounds without users) without starting it. Rejects with CoreRefused. */
  test(base: CoreBase, inbounds: readonly CoreInbound[]): Promise<void>;
  /** Has the core read an account of the type that the inbound takes. Rejects with ProtocolRefused when the result differs from what the type declares. */
  testAccount(inbound: CoreInbound, sample: CoreUser): Promise<void>;
  /** Returns the config file of a start with these, in chunks. */
  configText(base: CoreBase, inbounds: readonly InboundWithUsers[]): Iterable<string>;
  /** Finds the running core of a previous panel by pid, start ticks and boot id. */
  adopt(): Promise<{ process: CoreProcess; digests: AppliedDigests } | undefined>;
  /** Starts a core in a session of its own; resolves when its API answers. Rejects with CoreRefused. */
  start(base: CoreBase, inbounds: readonly InboundWithUsers[], digests: AppliedDigests): Promise<CoreProcess>;
  /** SIGTERM, and SIGKILL after five seconds; resolves when the process is gone. No poll is taken here. */
  stop(): Promise<void>;
  /** Stores the digests of the running core, atomically. */
  remember(digests: AppliedDigests): Promise<void>;
  /** Called once for each core that exits without `stop`; `reason` is the last line that explains it. */
  onExit(listener: (reason: string) => void): void;
  /** Closes the channel to the core and leaves the core running. */
  detach(): void;

  /**
   * Makes outbounds and rules those of `base`, whose rules have tags. Connections stay open; a new one may fail within
   * about a millisecond while its outbound is replaced. The rules that stay at the beginning are in force all the time.
   * Rejects with CoreRefused and leaves everything as it was, or with NeedsRestart.
   */
  changeBase(base: CoreBase, change: BaseChange): Promise<void>;
  /** What the core runs now, without users. */
  running(): Promise<RunningParts>;
  /** How many users an inbound has whose users the API changes. */
  userCount(tag: string): Promise<number>;
  /** Replaces the inbound of that tag, users included. Running transfers continue where the core allows it. */
  putInbound(inbound: InboundWithUsers): Promise<void>;
  /** Unknown tags are fine. */
  removeInbound(tag: string): Promise<void>;
  /** Adds the user or replaces its credentials. Not for inbounds whose users are part of their config; those are replaced whole. */
  putUser(tag: string, user: CoreUser): Promise<void>;
  /** Unknown users are fine. */
  removeUser(tag: string, name: string): Promise<void>;
  /** Users that the inbound accepts now, with accounts of this type. */
  users(tag: string, protocol: string): Promise<CoreUser[]>;
  /** Counters of all users whose name begins with `prefix` and that ever moved a byte. */
  counters(prefix: string): Promise<UserCounter[]>;
  /** Counters of all outbounds that the core has or had, also of those that never moved a byte. */
  outboundCounters(): Promise<OutboundCounter[]>;
  /** Calls the listener with batches of connections since the last call (at first: since the start, or for an adopted core all of the log). Resolves when all lines written by now are read. One call at a time. */
  readConnections(listener: (batch: readonly LoggedConnection[]) => void): Promise<void>;
  /** Calls the listener with the lines of the log of connections, the last one first, until it returns false or 8 MiB were read; also those of parts that were cut off. `place` is where a line ends, in the numbers of `logEnd`. */
  readLog(listener: (line: LogLine, place: number) => boolean): Promise<void>;
  /** Where the log ends: in bytes of all that was written to it since this driver knows it, with a name for these numbers. */
  logEnd(): Promise<{ readonly epoch: string; readonly at: number }>;
  /** From where users have open connections; `pick` chooses users among all that have any. Absent where the core cannot say. */
  online?(pick: (names: readonly string[]) => readonly string[]): Promise<OnlineUser[]>;
  /** Cuts logs that are over the limit; those who read them lose no line and read none twice. */
  trimLogs(limits: LogLimits): Promise<void>;
  /** Absent where the core cannot say how it is. */
  readonly monitor?: DriverMonitor;
  /** Absent where the core cannot be asked. */
  readonly routes?: DriverRoutes;

  /** Rejects when the API of the running core does not answer as this driver needs it: for versions that it was not written for. */
  checkApi?(): Promise<void>;
}
