// Counters beside the core's: of programs that run inbounds, and of whoever else counts the bytes of clients.
import { extensionPoint, token } from '../../kernel/index.js';

/** What one process, or one other machine, has counted since its start. */
export interface CounterReading {
  /** Whose counters these are: the same name over restarts, at most 64 characters, unique in the source. Two processes that count at the same time have two streams. */
  readonly stream: string;
  /** the process; its counters began at zero, and other epochs of the stream are over. At most 128 characters */
  readonly epoch: string;
  /** absolute, in bytes; whole numbers */
  readonly users: readonly {
    readonly clientId: number;
    readonly inboundId: number;
    readonly up: number;
    readonly down: number;
  }[];
  /** Counters that are missing in `users` have gone: when they come back, they begin at zero. */
  readonly isComplete?: boolean;
  /** Counters only grow within this epoch, also over restarts: a lower one is an older state, which counts nothing. */
  readonly neverFalls?: boolean;
  /** Bytes that one counter can have moved since the last reading. What exceeds it is not counted, and logged. */
  readonly most?: number;
}
/** A source of counters. */
export interface CounterSource {
  /** lower-case letters, digits and hyphens, at most 32; it is stored with the readings, so it must not change */
  readonly name: string;
  /** Returns the present readings, of a stream the older first. Called with every poll, and has 6 s. A stream that does not answer is left out: its counters go on, and nothing is lost. */
  read(): Promise<readonly CounterReading[]>;
}
/** Sources of counters beside the core: their bytes count like those of the core, each once, with all limits. */
export const CounterSources = extensionPoint<CounterSource>(
  'traffic',
  'CounterSources',
  ({ name, read }, _, others) => {
    if (typeof name !== 'string' || !/^[a-z0-9-]{1,32}$/.test(name))
      return 'its name must have 1 to 32 lower-case letters, digits and hyphens';
    const other = others.find(({ value }) => value.name === name);
    if (other) return `the source ${name} already exists, in plugin ${other.plugin}`;
    return typeof read === 'function' ? undefined : 'it needs the function read';
  },
);

export interface CountingApi {
  /** Runs a poll now, and applies limits. Call it before a process is stopped. Never call it in what a poll waits for, such as `reconcileUsers`. */
  count(): Promise<void>;
  /**
   * Counts a last reading of processes that are being stopped. They are counted in the order of the calls; until it has
   * resolved, `read` of the source must leave out their streams. The next poll applies limits. Where the database cannot
   * be written, it resolves all the same, and a later poll writes them.
   */
  last(source: string, readings: readonly CounterReading[]): Promise<void>;
}
export const Counting = token<CountingApi>('traffic', 'Counting');
