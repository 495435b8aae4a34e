// Sidecars: programs that run inbounds in place of the core. A plugin describes its program; everything else is done here.
import { extensionPoint, token } from '../../kernel/index.js';
import type { CoreAccount, UserRef } from '../engine/contract.js';
import type { Inbound, ProtocolProgram } from '../inbounds/contract.js';
import type { Probe } from '../processes/contract.js';
import { sidecarProblem } from './sidecar-problem.js';

/** A client in one inbound of the sidecar, enabled and within its limits. */
export interface SidecarUser extends UserRef {
  /** `i<inbound>.c<client>`: letters, digits and a dot, the same as long as the client is attached */
  readonly name: string;
  /** from `account` of the protocol */
  readonly account: CoreAccount;
}
/** What a user has moved since the process started, in bytes. */
export interface UserCounters extends UserRef {
  readonly up: number;
  readonly down: number;
}

/** The file that is run. It is looked for in the variable, in `bin/` of the data folder and on PATH, in the cache folder, and last among the releases. */
export interface SidecarProgram {
  /** its file name, such as `mtg-multi` */
  readonly name: string;
  /** name of the variable of your plugin's `config` that names the file, such as `WEIR_MTG_BIN` */
  readonly variable: string;
  /** value of that variable; blank or undefined for none */
  readonly chosen?: string | undefined;
  /** A release to download. Its digest is part of your plugin, or nothing is downloaded. */
  readonly release?: {
    readonly version: string;
    readonly url: string;
    /** of the file at `url`, 64 hexadecimal digits */
    readonly sha256: string;
    /** name of the program in a zip; without it, the file is the program */
    readonly member?: string;
  };
  /** a sentence for who lacks the program: where it comes from */
  readonly hint: string;
}

/** A file in the folder of a process, written before it starts. */
export interface SidecarFile {
  /** without a folder */
  readonly name: string;
  readonly text: string;
  /** default 0600 */
  readonly mode?: number;
}
/** How a process is started. */
export interface ProcessPlan {
  readonly args: readonly string[];
  /** beside the few harmless variables that every process gets */
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: readonly SidecarFile[];
  /** whether it serves; default: its first loopback port accepts connections, and without one it serves at once */
  readonly ready?: Probe;
  /** ms; default 15,000 */
  readonly readyWithin?: number;
  readonly stopSignal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGHUP';
}
/** What the panel holds for a process. It stays the same while the instance exists, also over restarts of the panel. */
export interface ProcessPlace {
  /** its private folder and working directory */
  readonly folder: string;
  /** loopback ports by name */
  readonly ports: Readonly<Record<string, number>>;
  /** 64 random hexadecimal digits, for the program's own API */
  readonly secret: string;
}
/** One process that the inbounds need. */
export interface InstancePlan {
  /** lower-case letters, digits and hyphens, at most 24; unique in the protocol, and the same for the same inbounds, such as `in-3` */
  readonly name: string;
  /** the inbounds it serves; each belongs to one instance */
  readonly inboundIds: readonly number[];
  /** names of the TCP ports on 127.0.0.1 that it needs for itself */
  readonly ports?: readonly string[];
  /** tables of nftables (family inet) that `open` makes, each `weir_` with letters, digits and underscores. A later panel removes them if your plugin or the instance has gone by then. */
  readonly nftTables?: readonly string[];
  /**
   * Returns how the process is started, the same for the same data: a process that was started in another way is
   * restarted, with a last reading before. `users` is undefined when they are given to the running program, by `users` of
   * the control; for a program without that, it has all of them, and each change of a user is a restart.
   */
  process(place: ProcessPlace, users: readonly SidecarUser[] | undefined): ProcessPlan;
}

/** The reply of a program. */
export interface ProgramReply {
  readonly status: number;
  /** JSON; undefined where the body is blank or not JSON */
  readonly body: unknown;
}
/** A process that serves. */
export interface SidecarInstance extends ProcessPlace {
  readonly name: string;
  readonly inboundIds: readonly number[];
  readonly pid: number;
  /** a previous panel started it, so it may have users already */
  readonly adopted: boolean;
  /** aborted when the process is stopped or has exited */
  readonly signal: AbortSignal;
  /** Calls the program's HTTP API on one of its ports. Rejects after 5 s, and for a reply over 8 MiB. */
  call(
    port: string,
    path: string,
    options?: {
      readonly method?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** sent as JSON */
      readonly body?: unknown;
    },
  ): Promise<ProgramReply>;
}
/** A user that a program has. */
export interface ListedUser {
  /** as in `SidecarUser`; another text for one that you do not know */
  readonly name: string;
  /** as far as the program tells it: fields that differ from those that the user should have are a finding */
  readonly account?: Readonly<Partial<CoreAccount>>;
}
/** Talks to one process. Each function has 10 s; a failure is logged and retried, and shown as the state of the inbound. */
export interface SidecarControl {
  /** Changes the users of the running program; without it, the program reads them from its files when it starts. */
  readonly users?: {
    /** Makes the users exactly these, and leaves alone those that it has. Called after each start and adoption, and after a change that failed. */
    replace(users: readonly SidecarUser[]): Promise<void>;
    /** Adds or changes users, and removes others with their open connections. Its cost must follow the number of these users, not of all. */
    change(put: readonly SidecarUser[], gone: readonly UserRef[]): Promise<void>;
    /** From so many users on, `replace` with all costs less than `change`; by default 500, and a quarter of all. */
    readonly wholeFrom?: number;
    /** Stops the traffic of users who are about to be removed, and keeps their counters: then the reading before their removal has all of it. For `countersEndWithUsers`. */
    quiet?(users: readonly UserRef[]): Promise<void>;
    /** Returns the users that the program itself says it has, for `weir check --deep`. */
    list?(): Promise<readonly ListedUser[]>;
  };
  /** Returns the counters of users; the program's start is their zero. Users may be missing. */
  read(): Promise<readonly UserCounters[]>;
  /** The program forgets the counter of a user that is removed: it begins at zero when the user is put again. A last reading is then taken before a removal, and a user whose account changes is removed by a call of its own and put as a new one. */
  readonly countersEndWithUsers?: boolean;
  /** Called when the process has stopped: removes what it leaves behind, such as rules of a firewall. */
  closed?(): void | Promise<void>;
}

/** A program that runs the inbounds of a protocol with `runBy: 'program'`. */
export interface Sidecar {
  /** name of the protocol */
  readonly protocol: string;
  readonly program: SidecarProgram;
  /** Returns why the program cannot run on this machine: a missing right or device. Asked before a start, and each minute while it cannot. */
  problem?(): string | undefined | Promise<string | undefined>;
  /** Returns the processes that these enabled inbounds of the protocol need; from memory, after each change of one. */
  plan(inbounds: readonly Inbound[]): readonly InstancePlan[];
  /** Called once for each process that serves, after its start or adoption. What it must configure first, it does here; if it rejects, it is called again later. */
  open(instance: SidecarInstance): SidecarControl | Promise<SidecarControl>;
  /** Returns the counters of a process of a previous panel, and changes nothing: it may have been started in another way, and is stopped then. Without it, such a process is stopped with bytes that no panel has counted. */
  peek?(instance: SidecarInstance): Promise<readonly UserCounters[]>;
}
/** Sidecars; one for each protocol. Contribute `protocolProgram` to `ProtocolPrograms` of `inbounds` as well. */
export const Sidecars = extensionPoint<Sidecar>('sidecars', 'Sidecars', (sidecar, _, others) => {
  const other = others.find(({ value }) => value.protocol === sidecar.protocol);
  return other
    ? `the plugin ${other.plugin} runs the protocol ${sidecar.protocol} already`
    : sidecarProblem(sidecar);
});

/** An instance, as the status shows it. */
export interface SidecarStatus {
  readonly protocol: string;
  readonly name: string;
  readonly inboundIds: readonly number[];
  /** `running`, or `not running: ` and why */
  readonly state: string;
  /** 0 while it does not run */
  readonly pid: number;
  /** Unix ms; 0 while it does not run */
  readonly since: number;
  readonly folder: string;
  readonly ports: Readonly<Record<string, number>>;
  /** whether users change while it runs; false: each change is a restart */
  readonly live: boolean;
  /** what is wrong beside that: a change that is retried, counters that cannot be true; empty for nothing */
  readonly problem: string;
}
export interface RunningSidecarsApi {
  /** Returns what `state` of a `ProtocolProgram` answers. */
  state(inbound: Inbound): string;
  /** All instances of a protocol, or of all. */
  instances(protocol?: string): readonly SidecarStatus[];
  /** Plans the protocol again, because something beside its inbounds has changed, such as a setting of your plugin. Resolves when the plan is applied, or after 8 s. */
  changed(protocol: string): Promise<void>;
}
export const RunningSidecars = token<RunningSidecarsApi>('sidecars', 'RunningSidecars');

/** Returns the entry for `ProtocolPrograms`: the state of the inbounds is that of the sidecar. */
export const protocolProgram = (protocol: string, running: RunningSidecarsApi): ProtocolProgram => ({
  protocol,
  state: (inbound) => running.state(inbound),
});
