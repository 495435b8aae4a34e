// Runs other programs beside the panel: restarts them, adopts them after a crash of the panel, stops them with their plugin.
import { event, type PluginContext, token } from '../../kernel/index.js';
import type { BackOffTimes } from './back-off.js';
import type { ProcessIdentity } from './identity.js';
import type { Probe } from './probes.js';

export { BackOff, type BackOffTimes } from './back-off.js';
export { minimalEnvironment } from './environment.js';
export { type RunCommand, runCommand, searchPath } from './system-program.js';
export { isAlive, type ProcessIdentity } from './identity.js';
export { cutLog, finishCut, type InTurn, type LogCut, type LogLimits, olderLog } from './cut-log.js';
export { readTail, sizeOf } from './log-file.js';
export { answersHttp, type Probe, type Probed, fileIsThere, listensOn, logSays } from './probes.js';

/** A program cannot run: it is missing, not executable, or built for another machine. `message` names it and the fix. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}
/** A process does not exit even after SIGKILL, because it waits for a device that does not answer. */
export class DoesNotEnd extends Error {
  override readonly name = 'DoesNotEnd';
}

/** The plugin that starts a process: pass on what your plugin's functions receive. Log lines have its name. */
export type ProcessOwner = Pick<PluginContext, 'name' | 'log'>;

export interface ProcessOptions {
  /** lower-case letters, digits and hyphens, at most 48; one per plugin. Its folder is `processes/<plugin>/<name>` in the data folder. */
  readonly name: string;
  /** an absolute path, or a name that is looked up in PATH; never a line for a shell */
  readonly command: string;
  readonly args?: readonly string[];
  /** in addition to PATH, HOME, LANG, TZ, TMPDIR, SSL_CERT_FILE and SSL_CERT_DIR of the panel; the process gets no other variables. Never logged. */
  readonly env?: Readonly<Record<string, string>>;
  /** inside the data folder; default: its own folder */
  readonly cwd?: string;
  /** Identifies other inputs of the process: digest of its config file, version of its binary. A process of a previous panel with another value is restarted. */
  readonly startedWith?: string;
  /** Returns whether the process is ready; called every 50 ms until then. Without it, a process is ready as soon as it is started. */
  readonly ready?: Probe;
  /** ms until a process that is not ready is stopped and counts as failed; default 30,000 */
  readonly readyWithin?: number;
  /** size of stdout and stderr together, and number of older files; default 4 MiB and one */
  readonly log?: { readonly maxBytes?: number; readonly keep?: number };
  /** false: a process of a previous panel is stopped, also after a restart of the panel inside its own process; default true */
  readonly adopt?: boolean;
  readonly backOff?: BackOffTimes & {
    /** failures in a row after which it is not retried; default: it is always retried */
    readonly attempts?: number;
  };
  /** default SIGTERM */
  readonly stopSignal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGHUP';
  /** ms between the stop signal and SIGKILL; default 5,000, at most 60,000; 5,000 when the panel stops */
  readonly stopGrace?: number;
}

export type ProcessState =
  /** not started yet, or stopped */
  | { readonly name: 'stopped' }
  /** it runs and is not ready yet, or the previous process is being stopped */
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
  /** It failed as often as allowed and is not retried before the next `start`. */
  | { readonly name: 'failed'; readonly reason: string; readonly lastLines: readonly string[] };

export interface ManagedProcess {
  readonly state: ProcessState;
  /** its own private folder for files; it exists as soon as this handle does */
  readonly folder: string;
  /**
   * Keeps it running until `stop`. Resolves with the state when it is ready or the first attempt has failed; never rejects.
   * Called before the panel is open (in your `start`), it resolves at once, and the process is started when the panel
   * opens. Commands of the command line never start it.
   */
  start(): Promise<ProcessState>;
  /** Stops it; also during a start, or if it does not run. Resolves when it has exited; rejects with DoesNotEnd. */
  stop(): Promise<void>;
  /** Stops and starts it, with new options if given. If they are not valid, rejects and changes nothing. */
  restart(changes?: Partial<Omit<ProcessOptions, 'name'>>): Promise<ProcessState>;
  /** Calls back at every change of state, until the returned function is called. */
  onState(listener: (state: ProcessState) => void): () => void;
}

/** Options of a process of a slot; `env` is its whole environment. */
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

/** A running process, our child or one of a previous panel. */
export interface RunningProcess<N extends object> {
  readonly identity: ProcessIdentity;
  /** Unix ms */
  readonly startedAt: number;
  readonly note: N;
  readonly alive: boolean;
  /** Resolves with how it exited, as far as is known: `exit code 1`, `killed by SIGKILL`, `gone`. */
  readonly ended: Promise<string>;
  /** Sends the signal, and SIGKILL after the grace period; default SIGTERM and 5,000 ms. Resolves when it has exited; rejects with DoesNotEnd. */
  stop(signal?: NodeJS.Signals, grace?: number): Promise<void>;
  /** Sends SIGKILL. Resolves when it has exited; rejects with DoesNotEnd. */
  kill(): Promise<void>;
  /** Leaves it running and stops watching it; `ended` stays open. */
  release(): void;
  /** Writes another note into the record, whole or not at all. */
  remember(note: N): Promise<void>;
  /** Removes the record; after its end. */
  forget(): Promise<void>;
}

export interface SlotOptions<N extends object> {
  /** absolute path of the record, in an existing, private folder */
  readonly record: string;
  /** Returns whether a value that was read from the record is a note. */
  readonly isNote: (value: object) => value is N;
  /** an argument that only processes of this slot have; for programs with capabilities, whose environment is hidden */
  readonly argument?: string;
  readonly log: Pick<ProcessOwner['log'], 'warn'>;
}

/** A place where at most one process runs, with a record of it for the next panel. For plugins that start and stop a process themselves; all others use `manage`. One call at a time. */
export interface ProcessSlot<N extends object> {
  /** Reads the record of the last process, whether it runs or not. */
  recorded(): Promise<{ readonly note: N; readonly pid: number; readonly alive: boolean } | undefined>;
  /** Adopts the recorded process if it runs and belongs to this slot. */
  adopt(): Promise<RunningProcess<N> | undefined>;
  /** Kills processes of this slot that have no record: a panel was killed between a start and its record. Resolves with their number. */
  endStrays(): Promise<number>;
  /** Starts a process in its own session and records it with the note. Rejects with CannotRun, and then leaves no process behind. */
  start(call: ProgramCall, note: N): Promise<RunningProcess<N>>;
  /** Removes the record of a process that does not run. */
  forget(): Promise<void>;
}

export interface ProcessesApi {
  /** Prepares a process and does not start it. Throws if an option is not valid, or if the plugin has a process with this name that is not stopped. */
  manage(owner: ProcessOwner, options: ProcessOptions): ManagedProcess;
  slot<N extends object>(options: SlotOptions<N>): ProcessSlot<N>;
}
export const Processes = token<ProcessesApi>('processes', 'Processes');

/** Reports a new state of a managed process; `reason` says why it waits or has failed. */
export const processStateChanged = event<{
  readonly plugin: string;
  readonly name: string;
  readonly from: ProcessState['name'];
  readonly to: ProcessState['name'];
  readonly reason: string;
}>('processes/processStateChanged');
