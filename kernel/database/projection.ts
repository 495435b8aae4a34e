// A projection: state in memory that follows the tables of a plugin, so that a request needs no statement.
import { kernelErrors } from '../errors/errors.js';
import type { Log } from '../log/log.js';

const LOAD_FAILED = 'a projection could not be loaded; the next use of it tries again';

/** How to load a projection and keep it up to date. Neither function writes. */
export interface ProjectionSource<S extends object, C> {
  /** Loads the whole state from the database. No write runs meanwhile. */
  load(): Promise<S>;
  /** Applies one committed change to the state, in place. If it throws, the state is loaded again. */
  apply(state: S, change: C): void | Promise<void>;
}

/** Runs `work` while no write runs; `commit` counts the writes until then. */
type BetweenWrites = <T>(work: (commit: number) => Promise<T>) => Promise<T>;

/** Created with `db.projection`; changed with `tx.apply`. */
export class Projection<S extends object, C> {
  readonly #source: ProjectionSource<S, C>;
  readonly #plugin: string;
  readonly #log: Log;
  readonly #betweenWrites: BetweenWrites;
  #state: S | undefined;
  #loading: Promise<S> | undefined;
  /** number of the last write that was in the database when the state was loaded */
  #loadedAt = 0;

  constructor(source: ProjectionSource<S, C>, plugin: string, log: Log, betweenWrites: BetweenWrites) {
    this.#source = source;
    this.#plugin = plugin;
    this.#log = log;
    this.#betweenWrites = betweenWrites;
  }

  /** The state as of the last delivered write. Throws a 503 while it is loaded again: a wrong state would be worse than none. */
  get state(): S {
    if (this.#state) return this.#state;
    void this.#reload();
    throw kernelErrors.PLUGIN_OFF(
      `the plugin ${this.#plugin} is reading its data from the database; try again in a moment`,
    );
  }

  /** Loads the state; the kernel calls it before the start of the plugin. */
  load(): Promise<S> {
    this.#loading ??= this.#betweenWrites(async (commit) => {
      this.#state = await this.#source.load();
      this.#loadedAt = commit;
      return this.#state;
    }).finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** Loads a second state, which must equal `state` while no write runs. For tests. */
  fresh(): Promise<S> {
    return this.#betweenWrites(() => this.#source.load());
  }

  /** The kernel calls it after the commit; resolves when the state contains the change. */
  async apply(commit: number, change: C): Promise<void> {
    if (commit <= this.#loadedAt) return;
    try {
      if (this.#state) return await this.#source.apply(this.#state, change);
    } catch (error) {
      return this.distrust(error);
    }
    await this.#reload();
  }

  /** The kernel calls it when the state may lack a change. */
  distrust(error: unknown): Promise<void> {
    this.#state = undefined;
    this.#logFailure('a projection no longer matches the database; reloading it', error);
    return this.#reload();
  }

  async #reload(): Promise<void> {
    await this.load().catch((error: unknown) => this.#logFailure(LOAD_FAILED, error));
  }

  #logFailure(message: string, error: unknown): void {
    this.#log.error(message, { plugin: this.#plugin, error });
  }
}
