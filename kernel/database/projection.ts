// Memory that follows the database: what a plugin keeps of its tables so that a request needs no statement.
import { kernelErrors } from '../errors/errors.js';
import type { Log } from '../log/log.js';

/** How a projection is read and kept up to date. Neither function writes. */
export interface ProjectionSource<S extends object, C> {
  /** Reads the whole state from the database. Nothing is written meanwhile. */
  load(): Promise<S>;
  /** Brings one committed change into the state, in place. If it throws, the state is loaded again. */
  apply(state: S, change: C): void | Promise<void>;
}

/** Runs `work` while nobody writes; `commit` counts the writes until then. */
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

  /** The state as of the last write that was delivered. Throws a 503 while it is being loaded: no state is better than a wrong one. */
  get state(): S {
    if (this.#state) return this.#state;
    this.load().catch((error: unknown) => this.#fail(error));
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

  /** A second state, loaded now: what `state` must be equal to when nobody writes. For tests. */
  fresh(): Promise<S> {
    return this.#betweenWrites(() => this.#source.load());
  }

  /** The kernel calls it after the commit; resolves when the state has the change. */
  async apply(commit: number, change: C): Promise<void> {
    if (commit <= this.#loadedAt) return;
    try {
      if (this.#state) return await this.#source.apply(this.#state, change);
    } catch (error) {
      this.#state = undefined;
      this.#fail(error);
    }
    await this.load().catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#log.error('the data in memory does not follow the database; it is loaded again', {
      plugin: this.#plugin,
      error,
    });
  }
}
