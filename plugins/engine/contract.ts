// What the engine offers: one core process that runs what the other plugins describe.
import { draft, event, extensionPoint, guard, token } from '../../kernel/index.js';
import { type AccountType, accountTypeProblem } from './account-type.js';
import type { CoreInbound, CoreUser, JsonObject } from './driver.js';
import { partShape } from './shapes.js';

export type { AccountValue, CoreAccount, CoreInbound, CoreUser, Json, JsonObject } from './driver.js';
export { CoreRefused, ProtocolRefused } from './driver.js';
export type { AccountField, AccountType, ApiAccountType, ConfigAccountType } from './account-type.js';

/** running; stop: switched off or absent; error: it failed and is tried again */
export type EngineState = 'running' | 'stop' | 'error';
export interface EngineStatus {
  readonly state: EngineState;
  readonly errorMsg: string;
  readonly version: string;
  /** Unix ms; 0 when no core runs */
  readonly startedAt: number;
}

/** Absolute counters of one core process: a new `epoch` means that they began again at zero. */
export interface CoreCounters {
  readonly epoch: string;
  /** bytes */
  readonly users: readonly {
    readonly inboundId: number;
    readonly clientId: number;
    readonly up: number;
    readonly down: number;
  }[];
}
export interface UserRef {
  readonly inboundId: number;
  readonly clientId: number;
}

/** Whether the core runs what it should; `pending` is made good by the engine itself as soon as it can be. */
export interface Applied {
  readonly pending: boolean;
  readonly reason: string;
}
/** Saved is saved; whether the core has it already is worth a word. */
export const describeResult = (done: string, { pending, reason }: Applied): string =>
  pending ? `${done}; the core does not have it yet: ${reason}` : done;

export interface EngineApi {
  status(): EngineStatus;
  /** Makes the core agree about these users, whatever it knows of them now. Call it after the commit. Never rejects. */
  reconcileUsers(users: readonly UserRef[]): Promise<Applied>;
  /** Makes the core run the inbounds (and everything else) that `composeCoreConfig` gives now. Call it after the commit. Never rejects. */
  reconcileConfig(): Promise<Applied>;
  /** Takes the inbound out and puts it back, users included: what goes on over TCP goes on, what goes over UDP begins anew for everybody. Never rejects. */
  replaceInbound(inboundId: number): Promise<Applied>;
  /** A start with the present config, after a last poll; ends everything for everybody. Rejects with CoreRefused when the config is no good, and the core goes on. */
  restart(reason: string): Promise<void>;
  /**
   * Has the core examine an inbound before it is saved; rejects with CoreRefused and the core's reason. With `sample`, a
   * user as the inbound would have them, it rejects with ProtocolRefused when no plugin declares such accounts, or the
   * core does not read them as they are declared. Where no core can be asked, only the declaration is looked at; the
   * core's refusal then stands in `status` as soon as there is one.
   */
  examine(inbound: CoreInbound, sample?: CoreUser): Promise<void>;
  /** Reads all users' counters; undefined when no core runs. Rejects when it does not answer. */
  counters(): Promise<CoreCounters | undefined>;
}
export const Engine = token<EngineApi>('engine', 'Engine');

/** A connection of a user that the core let through, or a stream inside one. */
export interface AcceptedPeer extends UserRef {
  /** IP address without brackets: of the peer, or what a proxy claimed in its headers */
  readonly address: string;
  /** 0 when a proxy told the address */
  readonly port: number;
}
/** Who comes in. Known from the core's log, which loses lines in bursts: good for hints, not for a ledger. */
export interface CoreAccessApi {
  /** Whether the core should let this user in now, out of memory; while nothing is known of its config, everybody. */
  admits(user: UserRef): boolean;
  /** Hears about once a second of what was let through, in batches; of a core that was taken over also what happened before, as far back as its log goes. Nothing is read while nobody follows. */
  follow(hear: (accepted: readonly AcceptedPeer[]) => void): () => void;
  /** Resolves when followers have heard all that the core has written by now. Never rejects. */
  catchUp(): Promise<void>;
}
export const CoreAccess = token<CoreAccessApi>('engine', 'CoreAccess');

/** A part of the core's config. Users are not part of it: see CoreUsers. Tags of inbounds and of outbounds, and ids of inbounds, are unique over all plugins: what comes second with one is left out, and what comes from outside is second to what is built in. */
export type CorePart =
  /** `accounts` says what, beside the config, accounts depend on; when it changes, all users are put again. */
  | { readonly inbound: CoreInbound & { readonly id: number; readonly accounts?: string } }
  /** A freedom among them gets the guards of ours: names only by the core's DNS, packets only to a checked address. */
  | { readonly outbound: JsonObject }
  | { readonly rule: JsonObject }
  /** as an entry of the core's `dns.servers`; in place of the system's resolver. Private addresses are left out of its answers. */
  | { readonly nameServer: string | JsonObject };
/** Collects everything that the core shall run; called at starts and whenever `reconcileConfig` is. When the core refuses what comes of it, the parts of plugins from outside that it refuses are left out until they change. */
export const composeCoreConfig = draft<CorePart, undefined>('engine/composeCoreConfig', partShape);

/** What the core says of what plugins from outside add to its config. */
export interface CoreCheckResult {
  /** which core was asked; empty when there is none */
  readonly core: string;
  /** why none could be asked; empty when one was */
  readonly missing: string;
  readonly refused: readonly { readonly plugin: string; readonly reason: string }[];
}
export interface CoreCheckApi {
  /** Has the core test what plugins from outside add, with no core started and nothing changed. `dataDirectory` is the folder whose core is used; none is downloaded. */
  checkPlugins(dataDirectory: string): Promise<CoreCheckResult>;
}
export const CoreCheck = token<CoreCheckApi>('engine', 'CoreCheck');

/** How the core knows users, by kinds: each protocol brings its own. `protocol` of an inbound and of its accounts names one. */
export const AccountTypes = extensionPoint<AccountType>('engine', 'AccountTypes', (type, _, others) => {
  const other = others.find(({ value }) => value.name === type.name);
  return other
    ? `the account type ${type.name} is there already, of plugin ${other.plugin}; choose another name`
    : accountTypeProblem(type);
});

/** Who may use an inbound now, out of memory: asked at starts for all, and for one after every change of it. */
export interface CoreUserSource {
  user(ref: UserRef): CoreUser | undefined;
  users(inboundId: number): Iterable<CoreUser>;
}
/** Those who know which users the core should have. */
export const CoreUsers = extensionPoint<CoreUserSource>('engine', 'CoreUsers', ({ user, users }) =>
  typeof user === 'function' && typeof users === 'function'
    ? undefined
    : 'it needs the functions user and users',
);

/** Before a running core is given another config: `hot` puts and removes inbounds (by tag) while it runs, `restart` ends everything for everybody. A refusal keeps the config that runs, and is shown in the state; it is asked again, with what there is to change then, until nobody refuses. Users are not part of it. Not asked at the start of a core that does not run. */
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
/** The core is about to be stopped on purpose, lets nobody in any more and still answers: the moment for a last poll. Refusals are ignored. */
export const beforeCoreStop = guard<{ readonly reason: string }>('engine/beforeCoreStop');
/** The core was stopped on purpose and is gone: what its counters said at its very last moment. Refusals are ignored. */
export const beforeCountersGo = guard<{ readonly counters: CoreCounters }>('engine/beforeCountersGo');
/** The core has come to run, was stopped or failed; `reason` says why where there is something to say. */
export const coreStateChanged = event<{
  readonly from: EngineState;
  readonly to: EngineState;
  readonly reason: string;
}>('engine/coreStateChanged');

/** The core's own name of a user: one attachment of a client to an inbound, so that renaming a client keeps its counter and a deleted one's counter is inherited by nobody. */
export const userName = ({ inboundId, clientId }: UserRef): string => `i${inboundId}.c${clientId}`;
export const userOf = (name: string): UserRef | undefined => {
  const [, inboundId, clientId] = /^i(\d+)\.c(\d+)$/.exec(name) ?? [];
  return inboundId === undefined ? undefined : { inboundId: Number(inboundId), clientId: Number(clientId) };
};

/** The core lets these users in no more; what they have open goes on, the core cannot end it. */
export const usersRemoved = event<{ readonly users: readonly UserRef[] }>('engine/usersRemoved');
