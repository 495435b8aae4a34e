// Runs other programs beside the panel: kept running, known again after a crash of the panel, stopped with their plugin.
import { event, type PluginContext, token } from '../../kernel/index.js';
import type { BackOffTimes } from './back-off.js';
import type { ProcessIdentity } from './identity.js';
import type { Probe } from './probes.js';

export { BackOff, type BackOffTimes } from './back-off.js';
export { minimalEnvironment } from './environment.js';
export { isAlive, type ProcessIdentity } from './identity.js';
export { cutLog, type LogLimits, readTail, sizeOf } from './log-file.js';
export { answersHttp, type Probe, type Probed, fileIsThere, listensOn, logSays } from './probes.js';

/** A program cannot be run: it is missing, not executable, made for another machine. `message` names it and the way out. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}
/** A process does not end, not even by SIGKILL: it waits for a device that does not answer. */
export class DoesNotEnd extends Error {
  override readonly name = 'DoesNotEnd';
}

/** Who starts a process: pass on what your plugin's functions receive. Log lines are written in this plugin's name. */
export type ProcessOwner = Pick<PluginContext, 'name' | 'log'>;

export interface ProcessOptions {
  /** lower-case letters, digits and hyphens, at most 48; one per plugin. Its folder is `processes/<plugin>/<name>` in the data folder. */
  readonly name: string;
  /** an absolute path, or a name that is looked up in PATH; never a line for a shell */
  readonly command: string;
  readonly args?: readonly string[];
  /** beside PATH, HOME, LANG, TZ, TMPDIR, SSL_CERT_FILE and SSL_CERT_DIR of the panel; everything else of it stays out. Never logged. */
  readonly env?: Readonly<Record<string, string>>;
  /** inside the data folder; its own folder unless told */
  readonly cwd?: string;
  /** What it was started with beside command, arguments and environment: digest of its config file, version of its binary. One that a previous panel left with another value is stopped and started again. */
  readonly startedWith?: string;
  /** Whether it serves; asked every 50 ms until it says so. Without one a process is ready when it has been started. */
  readonly ready?: Probe;
  /** ms until a process that is not ready is ended and counts as failed; 30,000 unless told */
  readonly readyWithin?: number;
  /** of stdout and stderr together: 4 MiB and one older file unless told */
  readonly log?: { readonly maxBytes?: number; readonly keep?: number };
  /** false: one that a previous panel left is stopped, and a restart of the panel inside its process ends it; true unless told */
  readonly adopt?: boolean;
  readonly backOff?: BackOffTimes & {
    /** failures in a row after which it is not tried any more; unless told it is tried for ever */
    readonly attempts?: number;
  };
  /** SIGTERM unless told */
  readonly stopSignal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGHUP';
  /** ms after which SIGKILL follows the stop signal; 5,000 unless told, at most 60,000; 5,000 when the panel ends */
  readonly stopGrace?: number;
}

export type ProcessState =
  /** nobody has started it, or it was stopped */
  | { readonly name: 'stopped' }
  /** it runs and is not ready yet, or its predecessor is being ended */
  | { readonly name: 'starting' }
  | {
      readonly name: 'running';
      readonly pid: number;
      /** start of the process, Unix ms */
      readonly since: number;
      /** a previous panel started it */
      readonly adopted: boolean;
    }
  /** It waits for the next attempt, or for the panel to be open. */
  | {
      readonly name: 'waiting';
      /** Unix ms of the next attempt; 0 while it waits for the panel */
      readonly until: number;
      /** a sentence for a person */
      readonly reason: string;
      /** the last lines that the process wrote, at most 20 */
      readonly lastLines: readonly string[];
    }
  | { readonly name: 'stopping' }
  /** It failed as often as it may, and is not tried again before the next `start`. */
  | { readonly name: 'failed'; readonly reason: string; readonly lastLines: readonly string[] };

export interface ManagedProcess {
  readonly state: ProcessState;
  /** its own folder, private, for its files; there when this handle is */
  readonly folder: string;
  /**
   * Wants it running, from now on until `stop`. Resolves when it is ready or the first attempt has failed, and says
   * which; never rejects. Called before the panel is open (in your `start`) it resolves at once, and the process is
   * started when the panel opens; it is never started for a command of the command line.
   */
  start(): Promise<ProcessState>;
  /** Wants it stopped. Resolves when it is gone; rejects with DoesNotEnd. Right during a start, and when it does not run. */
  stop(): Promise<void>;
  /** Stops it and starts it, with changed options where some are given. Rejects, with nothing done, where they are wrong. */
  restart(changes?: Partial<Omit<ProcessOptions, 'name'>>): Promise<ProcessState>;
  /** Hears of every change of state, until the returned function is called. */
  onState(listener: (state: ProcessState) => void): () => void;
}

/** What a process of a slot is started with; `env` is all of its environment. */
export interface ProgramCall {
  /** an absolute path, or a name that is looked up in PATH */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** file for stdout and stderr, which it appends to */
  readonly output: string;
  /** the file is emptied first */
  readonly emptied?: boolean;
}

/** A process in hand, our child or one of a previous panel. */
export interface RunningProcess<N extends object> {
  readonly identity: ProcessIdentity;
  /** Unix ms */
  readonly startedAt: number;
  readonly note: N;
  readonly alive: boolean;
  /** Resolves with how it ended, as far as it can be known: `exit code 1`, `killed by SIGKILL`, `gone`. */
  readonly ended: Promise<string>;
  /** The signal, after the grace SIGKILL; resolves when it is gone. SIGTERM and 5,000 ms unless told. Rejects with DoesNotEnd. */
  stop(signal?: NodeJS.Signals, grace?: number): Promise<void>;
  /** SIGKILL; resolves when it is gone. Rejects with DoesNotEnd. */
  kill(): Promise<void>;
  /** Leaves it running and stops watching it; `ended` stays open. */
  release(): void;
  /** Writes another note into the record, whole or not at all. */
  remember(note: N): Promise<void>;
  /** Removes the record; after its end. */
  forget(): Promise<void>;
}

export interface SlotOptions<N extends object> {
  /** absolute path of the record; its folder is there, and private */
  readonly record: string;
  /** whether a note that was read from the record is one */
  readonly isNote: (value: object) => value is N;
  /** an argument that nothing but processes of this slot have; for programs with capabilities, whose environment is hidden */
  readonly argument?: string;
  readonly log: Pick<ProcessOwner['log'], 'warn'>;
}

/** A place where at most one process runs, with a record of it for the next panel. For plugins that start and end a process by themselves; the others take `manage`. One call at a time. */
export interface ProcessSlot<N extends object> {
  /** What was written down of the last process, whether it runs or not. */
  recorded(): Promise<{ readonly note: N; readonly pid: number; readonly alive: boolean } | undefined>;
  /** Takes over the recorded process, when it lives and is one of this slot. */
  adopt(): Promise<RunningProcess<N> | undefined>;
  /** Ends processes of this slot that no record names: a panel was killed between a start and the record of it. Resolves with their number. */
  endStrays(): Promise<number>;
  /** Starts a process in a session of its own and writes it down with the note. Rejects with CannotRun; no process is left when it rejects. */
  start(call: ProgramCall, note: N): Promise<RunningProcess<N>>;
  /** Removes the record of a process that does not run. */
  forget(): Promise<void>;
}

export interface ProcessesApi {
  /** Prepares a process and does not start it. Throws when an option is wrong, or the plugin has a process of this name that was not stopped. */
  manage(owner: ProcessOwner, options: ProcessOptions): ManagedProcess;
  slot<N extends object>(options: SlotOptions<N>): ProcessSlot<N>;
}
export const Processes = token<ProcessesApi>('processes', 'Processes');

/** A managed process changed its state; `reason` says why where it waits or failed. */
export const processStateChanged = event<{
  readonly plugin: string;
  readonly name: string;
  readonly from: ProcessState['name'];
  readonly to: ProcessState['name'];
  readonly reason: string;
}>('processes/processStateChanged');
