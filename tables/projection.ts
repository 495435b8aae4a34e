// A projection: state in memory that follows the tables of a plugin, so that a request needs no statement.

const LOAD_FAILED = 'a projection could not be loaded; the next use of it tries again';

/** How to load a projection and keep it up to date. Neither function writes. */
export interface ProjectionSource<S extends object, C> {
  /** Loads the whole state from the database. No write runs meanwhile. */
  load(): Promise<S>;
  /** Applies one committed change to the state, in place. If it throws, the state is loaded again. */
  apply(state: S, change: C): void | Promise<void>;
}

/** What a projection needs of its owner. */
interface Owner {
  readonly plugin: string;
  /** Runs `work` while no write runs; `commit` counts the writes until then. */
  betweenWrites<T>(work: (commit: number) => Promise<T>): Promise<T>;
  /** Returns the error for those who ask for the state while it is loaded again. */
  notLoaded(): Error;
  report(problem: string, error: unknown): void;
}

/** Created with `db.projection`; changed with `tx.apply`. */
export class Projection<S extends object, C> {
  readonly #source: ProjectionSource<S, C>;
  readonly plugin: string;
  readonly #owner: Owner;
  #state: S | undefined;
  #loading: Promise<S> | undefined;
  /** number of the last write that was in the database when the state was loaded */
  #loadedAt = 0;

  constructor(source: ProjectionSource<S, C>, owner: Owner) {
    this.#source = source;
    this.plugin = owner.plugin;
    this.#owner = owner;
  }

  /** The state as of the last delivered write. Throws a 503 while it is loaded again: a wrong state would be worse than none. */
  get state(): S {
    if (this.#state) return this.#state;
    void this.#reload();
    throw this.#owner.notLoaded();
  }

  /** Loads the state; the kernel calls it before the start of the plugin. */
  load(): Promise<S> {
    this.#loading ??= this.#owner
      .betweenWrites((commit) => this.refresh(commit))
      .finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** The same inside the turn of a write; until then the previous state remains. */
  async refresh(commit: number): Promise<S> {
    this.#state = await this.#source.load();
    this.#loadedAt = commit;
    return this.#state;
  }

  /** Loads a second state, which must equal `state` while no write runs. */
  fresh(): Promise<S> {
    return this.#owner.betweenWrites(() => this.#source.load());
  }

  /** The kernel calls it after the commit; resolves when the state contains the change. */
  async apply(commit: number, change: C): Promise<void> {
    if (commit <= this.#loadedAt) return;
    try {
      if (this.#state) return await this.#source.apply(this.#state, change);
    } catch (error) {
      this.#state = undefined;
      this.#owner.report('a projection no longer matches the database; reloading it', error);
    }
    await this.#reload();
  }

  async #reload(): Promise<void> {
    await this.load().catch((error: unknown) => this.#owner.report(LOAD_FAILED, error));
  }
}
