// API of the engine: one core process that runs what other plugins describe.
import { draft, event, extensionPoint, guard, token } from '../../kernel/index.js';
import { type AccountType, accountTypeProblem } from './users/account-type.js';
import type { SectionName } from './config/base-config.js';
import type { CoreChange } from './config/core-change.js';
import type { CoreFigures, CoreInbound, CoreUser, Json, JsonObject, OutboundHealth } from './driver.js';
import { partShape } from './config/part-shape.js';
import type { SwapStep } from './life/core-swap.js';
import type { Applied } from './result.js';

export { assetFolder, SYSTEM_ASSETS } from './asset-folder.js';
export { type Applied, describeResult, DONE } from './result.js';
export type { SwapStep } from './life/core-swap.js';
export { installedCore, coresFolder, isVersion } from './install/chosen-core.js';
export { digestIn } from './install/download.js';
export { assetOf, CORE_VERSION, PROGRAM, RELEASES, thisMachine } from './install/release.js';
export { unzip } from './install/unzip.js';
export type { AccountValue, CoreAccount, CoreInbound, CoreUser, Json, JsonObject } from './driver.js';
export { CoreRefused, ProtocolRefused } from './driver.js';
export type { BalancerState, RouteQuestion } from './driver.js';
export { beforeRulesInForce, CoreRoutes, type CoreRoutesApi, type FoundRoute } from './apply/core-routes.js';
export { coreEnvironment } from './xray/environment.js';
export { type Command, runCommand } from './xray/command.js';
export { OWN_OUTBOUNDS, type SectionName } from './config/base-config.js';
export { type CoreChange, coreChangeFields } from './config/core-change.js';
export { userName, userOf } from './users/user-name.js';
export { type UserServer, UserServers } from './users/user-servers.js';
export type { AccountField, AccountType, ApiAccountType, ConfigAccountType } from './users/account-type.js';

/** running; stop: stopped or absent; error: it failed and is retried */
export type EngineState = 'running' | 'stop' | 'error';
export interface EngineStatus {
  readonly state: EngineState;
  readonly errorMsg: string;
  readonly version: string;
  /** Unix ms; 0 when no core runs */
  readonly startedAt: number;
  /** users whose change the core does not have yet: of large calls, and of inbounds that are replaced once a second */
  readonly usersOnTheWay: number;
  readonly memory: CoreMemory;
}
/** Memory of the core's process; all 0 while no core runs, and until it is measured. */
export interface CoreMemory {
  /** bytes in RAM */
  readonly bytes: number;
  /** bytes above which it is high; 0 for none */
  readonly limit: number;
  readonly isHigh: boolean;
}

/** Absolute counters of one core process. With a new `epoch` they start at zero again. */
export interface CoreCounters {
  readonly epoch: string;
  /** bytes */
  readonly users: readonly {
    readonly inboundId: number;
    readonly clientId: number;
    readonly up: number;
    readonly down: number;
  }[];
  /** Outbounds that the config has or had since the core started; zero until they move bytes. The panel's own (`weir.…`) are not among them, and what passes through one counts where it leaves. */
  readonly outbounds: readonly { readonly tag: string; readonly up: number; readonly down: number }[];
}
export interface UserRef {
  readonly inboundId: number;
  readonly clientId: number;
}

/** A part that cannot run. */
export interface PartProblem {
  /** undefined when the core rejects the config also without all of the parts */
  readonly part: CorePart | undefined;
  readonly reason: string;
}
export interface CorePreview extends CoreChange {
  readonly problems: readonly PartProblem[];
  /** false when there is no core to ask */
  readonly tested: boolean;
}

export interface EngineApi {
  status(): EngineStatus;
  /** Reconciles these users with the core; more than a thousand follow after it has resolved, as `onTheWay` says, and later small calls overtake them. Call it after the commit. Never rejects. */
  reconcileUsers(users: readonly UserRef[]): Promise<Applied>;
  /** Reconciles the core with what `composeCoreConfig` returns now. Call it after the commit. Never rejects. `elsewhere`: only inbounds of other machines have changed, and only `UserServers` learn of it. */
  reconcileConfig(only?: 'elsewhere'): Promise<Applied>;
  /** Removes the inbound and puts it back, users included. TCP connections stay open; UDP sessions of all its users are closed. Never rejects. */
  replaceInbound(inboundId: number): Promise<Applied>;
  /** Restarts the core with the current config, after a last poll; closes all connections. Rejects with CoreRefused when the core rejects the config; it then keeps running. */
  restart(reason: string): Promise<void>;
  /**
   * Has the core test an inbound before it is saved; rejects with CoreRefused and the core's reason. With `sample`, a
   * user of this inbound, it rejects with ProtocolRefused when no plugin declares such accounts, or the core reads them
   * otherwise than declared. Without a core only the declaration is checked; `status` then shows the core's reason once
   * there is one.
   */
  examine(inbound: CoreInbound, sample?: CoreUser): Promise<void>;
  /** Says what the core would do with these parts in place of those that `plugin` adds now, and which of them cannot run. Changes nothing. Rejects when the core cannot be asked. */
  preview(plugin: string, parts: readonly CorePart[]): Promise<CorePreview>;
  /** Reads all counters; undefined when no core runs. Rejects when it does not answer. With `only`, `users` is empty: of 100,000 clients they are 10 MiB. */
  counters(only?: 'outbounds'): Promise<CoreCounters | undefined>;
}
/** The core for who shows it: where several panels share a database, that of the panel which runs one. */
export interface CoreShownApi {
  status(): ReturnType<EngineApi['status']>;
}
export const CoreShown = token<CoreShownApi>('engine', 'CoreShown');
export const Engine = token<EngineApi>('engine', 'Engine');

/** A connection of a user that the core accepted, or a stream inside one. */
export interface AcceptedPeer extends UserRef {
  /** IP address without brackets: of the peer, or what a proxy claimed in its headers */
  readonly address: string;
  /** 0 when a proxy reported the address */
  readonly port: number;
  /** Unix ms of its beginning, to the second; absent where the core's log does not say */
  readonly at?: number;
}
/** Accepted connections, from the core's log. It loses lines in bursts: good for hints, not for accounting. */
export interface CoreAccessApi {
  /** Whether the core should accept this user now, from memory; true for all while its config is not known. */
  admits(user: UserRef): boolean;
  /** Calls the listener about once a second with a batch of accepted connections; for an adopted core also with earlier ones, as far back as its log goes. The log is read only while there are followers. */
  follow(listener: (connections: readonly AcceptedPeer[]) => void): () => void;
  /** Resolves when followers have received all lines that the core has written by now. Never rejects. */
  catchUp(): Promise<void>;
}
export const CoreAccess = token<CoreAccessApi>('engine', 'CoreAccess');

/** What users may reach, for programs that carry their packets beside the core. */
export interface UserReachApi {
  /** value of `WEIR_ENGINE_PRIVATE`: whether they reach loopback and private addresses */
  readonly private: 'allow' | 'block';
}
export const UserReach = token<UserReachApi>('engine', 'UserReach');

/** A user with an open connection from this address. */
export interface OnlineAddress extends UserRef {
  readonly address: string;
}
/** From where users are connected now, as the core counts its open connections: also users whom its log does not name. Loopback addresses are left out by the core. */
export interface CoreOnlineApi {
  /** Asks about the users for whom `wanted` says so, about 500 of them at a time in turn. Each costs a call to the core. Empty without a core; rejects when it does not answer. */
  addresses(wanted: (user: UserRef) => boolean): Promise<readonly OnlineAddress[]>;
}
export const CoreOnline = token<CoreOnlineApi>('engine', 'CoreOnline');

/** A line of the core's log of connections. */
export interface CoreLogEntry {
  /** Unix ms, to the second */
  readonly at: number;
  readonly from: string;
  /** network, host and port, as the user named them; '' for a refused login */
  readonly to: string;
  /** tags; '' where the line does not say */
  readonly inbound: string;
  readonly outbound: string;
  /** by the protocol of the outbound */
  readonly way: 'direct' | 'blocked' | 'proxied';
  /** undefined for a user that belongs to no client */
  readonly user: UserRef | undefined;
  /** the core's own name of the user; '' for none */
  readonly name: string;
}
/** A place in the log, in bytes of all that was ever written to it, also over cuts. With another `epoch` it is of other numbers. */
export interface CoreLogPlace {
  readonly epoch: string;
  readonly at: number;
}
export interface CoreLogApi {
  /** Calls the listener with one line after another, the newest first, until it returns false or 8 MiB were read. `at` is the place where the line ends. */
  readBackwards(listener: (entry: CoreLogEntry, at: number) => boolean): Promise<void>;
  /** Where the log ends now; the same until something is written. Undefined while no core runs. */
  end(): Promise<CoreLogPlace | undefined>;
}
export const CoreLog = token<CoreLogApi>('engine', 'CoreLog');

/** The outbounds of the core's config, as it is composed now. */
export interface CoreOutboundsApi {
  /** Returns their tags without the panel's own (`weir.…`). Composes the config, so it is nothing for each request of a user. */
  tags(): Promise<ReadonlySet<string>>;
  /** Returns the outbounds themselves, without the panel's own; one that the guard blocks is a blackhole. As costly. */
  all(): Promise<readonly JsonObject[]>;
}
export const CoreOutbounds = token<CoreOutboundsApi>('engine', 'CoreOutbounds');

/** Figures of the runtime of one core process. With a new `epoch` counts begin at zero again. */
export type CoreRuntime = CoreFigures & { readonly epoch: string };
/** The last probe of an outbound by the core's observatory. */
export type OutboundProbe = OutboundHealth;
/** What the core says of itself. Both are undefined when no core runs, or none that answers; they reject when an answer fails to come within 1.5 s. */
export interface CoreMonitorApi {
  runtime(): Promise<CoreRuntime | undefined>;
  /** Undefined too when the config has neither `observatory` nor `burstObservatory`. An outbound is missing until its first probe. */
  outbounds(): Promise<readonly OutboundProbe[] | undefined>;
}
export const CoreMonitor = token<CoreMonitorApi>('engine', 'CoreMonitor');

/** A part of the core's config. Users are not part of it: see CoreUsers. Tags of inbounds, of outbounds and of balancers, ids of inbounds, and sections are unique over all plugins: a second part with one is left out. Built-in plugins take precedence. */
export type CorePart =
  /** `accounts` is what accounts depend on beside the config. It is compared only: when it changes, the inbound is put again, with all its users. */
  | { readonly inbound: CoreInbound & { readonly id: number; readonly accounts?: string } }
  /** A freedom among them is protected like our own: names only by the core's DNS, packets only to a checked address. `isDefault`: it takes what no rule takes; the first part that says so wins. */
  | { readonly outbound: JsonObject; readonly isDefault?: boolean }
  /** Rules apply in the order of the plugins' taps, after the engine's own. `looksUp: false`: its `ip` matches targets that are addresses; names are not looked up for it. */
  | { readonly rule: JsonObject; readonly looksUp?: boolean }
  /** with `tag` and `selector`; rules name it by `balancerTag` */
  | { readonly balancer: JsonObject }
  /** a part of which the config has one; `policy` and `log` are merged with what the engine needs */
  | { readonly section: SectionName; readonly value: Json }
  /** as an entry of the core's `dns.servers`; instead of the system's resolver. Private addresses are removed from its answers. */
  | { readonly nameServer: string | JsonObject };
/** Collects everything that the core must run; called at starts and by `reconcileConfig`. Third-party parts that the core rejects are left out until they change. */
export const composeCoreConfig = draft<CorePart, undefined>('engine/composeCoreConfig', partShape);

/** The core's verdict on what third-party plugins add to its config. */
export interface CoreCheckResult {
  /** which core was asked; empty when there is none */
  readonly core: string;
  /** why none could be asked; empty when one was */
  readonly missing: string;
  readonly refused: readonly { readonly plugin: string; readonly reason: string }[];
}
export interface CoreCheckApi {
  /** Has the core test what third-party plugins add; starts nothing and changes nothing. Uses the core of `dataDirectory`; downloads none. */
  checkPlugins(dataDirectory: string): Promise<CoreCheckResult>;
}
export const CoreCheck = token<CoreCheckApi>('engine', 'CoreCheck');

/** The program that is the core. */
export interface CoreProgram {
  readonly binary: string;
  /** `installed`: a version in `cores/` of the data folder; for the others see docs/environment.md */
  readonly source: 'WEIR_ENGINE_BIN' | 'installed' | 'data' | 'PATH' | 'cache' | 'downloaded' | 'built';
}
/** What the environment says about where cores come from. */
export interface CoreSource {
  /** address of the releases */
  readonly releases: string;
  /** whether environment or config file set that address */
  readonly isPinned: boolean;
  /** of the archive of the version that Weir is tested with; empty for none */
  readonly sha256: string;
  readonly mayDownload: boolean;
  /** the program that WEIR_ENGINE_BIN names; empty for none */
  readonly program: string;
}
export interface CoreProgramsApi {
  /** undefined when no core was found */
  readonly present: CoreProgram | undefined;
  readonly source: CoreSource;
  /** Versions in `cores/`, empty for a core elsewhere: which one runs, and which ran before. */
  choice(): Promise<{ readonly chosen: string; readonly previous: string }>;
  /**
   * Runs `cores/<version>` of the data folder as the core from now on, also after restarts of the panel. Tests it with the
   * current config first, stops the running core after a last poll, and starts the new one. Rejects with CoreRefused, or
   * another error with the reason, when it does not serve; the previous core then runs again. One call at a time.
   */
  use(version: string, onStep: (step: SwapStep) => void): Promise<void>;
}
/** Replaces the program of the core. */
export const CorePrograms = token<CoreProgramsApi>('engine', 'CorePrograms');

/** Checks a part of the core's config before the core gets it. */
export interface PartCheck {
  /** Returns the reason to keep this part out of the core; undefined for none. Called whenever the config is composed, so answer from memory. */
  problem(part: CorePart): string | undefined | Promise<string | undefined>;
  /** Returns a mark of what else the part is made of, such as a file that it names. When the mark changes, a rule, name server or section is given to the core again. */
  madeOf?(part: CorePart): string | undefined | Promise<string | undefined>;
}
/** Checks of the parts of the core's config, beside those of core-guard. */
export const PartChecks = extensionPoint<PartCheck>('engine', 'PartChecks', ({ problem }) =>
  typeof problem === 'function' ? undefined : 'it needs the function problem',
);

/** Account types: each protocol adds its own. `protocol` of an inbound and of its accounts names one. */
export const AccountTypes = extensionPoint<AccountType>('engine', 'AccountTypes', (type, _, others) => {
  const other = others.find(({ value }) => value.name === type.name);
  return other
    ? `the account type ${type.name} already exists, in plugin ${other.plugin}; choose another name`
    : accountTypeProblem(type);
});

/** Source of the users of inbounds, from memory: asked for all at starts, and for one after each change of it. */
export interface CoreUserSource {
  user(ref: UserRef): CoreUser | undefined;
  users(inboundId: number): Iterable<CoreUser>;
}
/** Sources of the users that the core should have. */
export const CoreUsers = extensionPoint<CoreUserSource>('engine', 'CoreUsers', ({ user, users }) =>
  typeof user === 'function' && typeof users === 'function'
    ? undefined
    : 'it needs the functions user and users',
);

/** Called before a running core gets another config: `hot` changes inbounds (by tag), outbounds and rules while it runs, `restart` closes all connections. A refusal keeps the current config and is shown in the status; the hook is called again, with the changes due then, until no tap refuses. Not called for users, nor for the start of a stopped core. */
export const beforeCoreReload = guard<{
  readonly reason: string;
  readonly plan: 'hot' | 'restart';
  readonly changes: {
    /** anything but inbounds: outbounds, rules, DNS */
    readonly base: boolean;
    /** new or changed */
    readonly put: readonly string[];
    readonly remove: readonly string[];
  };
}>('engine/beforeCoreReload');
/** Called before a planned stop: the core accepts no connections any more and still answers, so a last poll is possible. Refusals are ignored. */
export const beforeCoreStop = guard<{ readonly reason: string }>('engine/beforeCoreStop');
/** Called after a planned stop, also when the process could not be ended, with the last reading of the counters. Refusals are ignored. */
export const beforeCountersGo = guard<{ readonly counters: CoreCounters }>('engine/beforeCountersGo');
/** The core ran something else than it should, and the engine fixes it; `found` says what, for people. */
export const coreDrifted = event<{ readonly found: readonly string[] }>('engine/coreDrifted');
/** The core started, stopped or failed; `reason` may be empty. */
export const coreStateChanged = event<{
  readonly from: EngineState;
  readonly to: EngineState;
  readonly reason: string;
}>('engine/coreStateChanged');

/** The core rejects new connections of these users; it cannot close their open ones. */
export const usersRemoved = event<{ readonly users: readonly UserRef[] }>('engine/usersRemoved');

/** The core has used more memory than `limit` (bytes) for some seconds. Emitted again only after it was below 90 % of the limit, and for another core. */
export const coreMemoryHigh = event<{ readonly bytes: number; readonly limit: number }>(
  'engine/coreMemoryHigh',
);
