// The only way to write. Writes go one after another over one connection that stays open: on SQLite overlapping
// transactions would fail with "database is locked", and a connection for each costs 4 ms; on a server they would deadlock.
import { AsyncLocalStorage } from 'node:async_hooks';
import { QueryTypes, type Sequelize, Transaction } from 'sequelize';
import { isStorageFailure } from '../errors/errors.js';
import type { After, AnyHook, During, Event } from '../hooks/kinds.js';
import type { HookRegistry } from '../hooks/registry.js';
import type { Log } from '../log/log.js';
import { type Connections, execute } from './connect.js';
import type { SqlWords } from './dialect.js';
import { checked, onlyOwnTables } from './own-tables.js';
import { Projection, type ProjectionSource } from './projection.js';

const LONG_WRITE_MS = 200;
/** A write that runs no statement for this long while another one waits holds the database: the other one was opened inside it. */
const PATIENCE_MS = 10_000;
/** From this version on, Node follows asynchronous calls at no cost worth naming. */
const FOLLOWS_CALLS = Number.parseInt(process.versions.node, 10) >= 24;

/** An open write. Everything that takes part has it in its signature. */
export interface Tx {
  /** for Sequelize: `{ transaction: tx.t }` */
  readonly t: Transaction;
  /** words that differ between databases */
  readonly sql: SqlWords;
  /** Runs one statement with `:name` replacements; give bulk data as one JSON text (`sql.rows`), five times faster than binding each value. */
  run(sql: string, replacements?: Record<string, unknown>): Promise<void>;
  /** Runs an UPDATE or DELETE; answers how many rows it was about, changed by it or not. */
  change(sql: string, replacements?: Record<string, unknown>): Promise<number>;
  query<R extends object>(sql: string, replacements?: Record<string, unknown>): Promise<R[]>;
  /** Asks those who take part in this write, after its statements; rejects where one fails or refuses, and the write must then fail. `tx` of a tap reads everything and writes tables of its own plugin only. */
  during<P>(hook: During<P>, payload: P): Promise<void>;
  /** Brings a change into a projection after the commit, before the `after` hooks and before the write resolves; a rollback drops it. */
  apply<S extends object, C>(projection: Projection<S, C>, change: C): void;
  /** Delivered after the commit and before the write resolves; a rollback drops it. */
  after<P>(hook: After<P>, payload: P): void;
  /** Queued after the commit; a rollback drops it. */
  emit<P>(hook: Event<P>, payload: P): void;
}

/** Who is at work, for code that runs on its behalf. */
interface Turn {
  readonly owner: string;
  readonly phase: 'write' | 'after';
  /** What a write has only set going, like a timer, is free again when it is over. */
  over: boolean;
}

export class Writer {
  readonly #connections: Connections;
  readonly #hooks: HookRegistry;
  readonly #log: Log;
  /** Names the write that the running code is part of. Before Node 24 this costs each request a good part of its time, so it is for tests; elsewhere a nested write ends after PATIENCE_MS. */
  readonly #inside: AsyncLocalStorage<Turn> | undefined;
  readonly #patience: number;
  /** what the database, and the after hooks, are busy with */
  readonly #busy = { write: { owner: '', since: 0 }, after: { owner: '', since: 0 } };
  #commits: Promise<unknown> = Promise.resolve();
  /** number of writes that were committed */
  #commit = 0;
  #deliveries: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(
    connections: Connections,
    hooks: HookRegistry,
    log: Log,
    options: { readonly strict: boolean; readonly patienceMs?: number },
  ) {
    this.#connections = connections;
    checked(connections.sequelize, () => (this.#busy.write.since = performance.now()));
    this.#hooks = hooks;
    this.#log = log;
    this.#inside = options.strict || FOLLOWS_CALLS ? new AsyncLocalStorage() : undefined;
    this.#patience = options.patienceMs ?? PATIENCE_MS;
  }

  /** Runs `work` in a transaction of its own; resolves after the commit and after all `after` hooks of it. */
  async write<T>(owner: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const outer = this.#inside?.getStore();
    if (outer && !outer.over && outer.phase === 'write')
      throw new Error(
        `a write of ${owner} was opened inside a write of ${outer.owner}: pass its tx on instead`,
      );
    if (outer && !outer.over)
      throw new Error(
        `a write of ${owner} was opened in an after hook of a write of ${outer.owner}: after hooks only bring memory up to date; what writes listens to an event`,
      );
    if (this.#closed) throw new Error(`a write of ${owner} came after the database was closed`);
    const turn = this.betweenWrites(owner, () => this.#transact(owner, work));
    // Deliveries follow in commit order, and the next transaction does not wait for them.
    const earlier = this.#deliveries;
    const delivered = turn.then(async ({ commit, changes, afters, events }) => {
      // It is committed: memory must hear of it, if need be before those who should have been first.
      await this.#notForever(earlier, 'after', owner).catch((error: unknown) =>
        this.#log.error('after hooks are stuck; those of the next write no longer wait', { error }),
      );
      for (const [projection, change] of changes) await projection.apply(commit, change);
      await this.#deliver(owner, afters, events);
    });
    // A failed write delivers nothing, but those before it may still be at it.
    this.#deliveries = delivered.catch(() => earlier);
    await delivered;
    return (await turn).result;
  }

  /** Runs `work` after the writes that came before and ahead of those that come later; `commit` is the number of writes until then. */
  betweenWrites<T>(owner: string, work: (commit: number) => Promise<T>): Promise<T> {
    const turn = this.#notForever(this.#commits, 'write', owner).then(() =>
      this.#inTurn({ owner, phase: 'write', over: false }, () => work(this.#commit)),
    );
    // One that gave up waiting must not let the next one overtake.
    this.#commits = Promise.allSettled([this.#commits, turn]).then(() => undefined);
    return turn;
  }

  projection<S extends object, C>(owner: string, source: ProjectionSource<S, C>): Projection<S, C> {
    return new Projection(source, owner, this.#log, (work) => this.betweenWrites(owner, work));
  }

  async #inTurn<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    this.#busy[turn.phase] = { owner: turn.owner, since: performance.now() };
    try {
      return await (this.#inside ? this.#inside.run(turn, work) : work());
    } finally {
      turn.over = true;
    }
  }

  /** Waits for what came before, as long as that makes way; a write that was opened inside another one would wait for itself. */
  async #notForever(earlier: Promise<unknown>, phase: Turn['phase'], owner: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const stuck = new Promise<never>((_, reject) => {
      const look = (): void => {
        const { owner: other, since } = this.#busy[phase];
        const left = since + this.#patience - performance.now();
        if (left > 0) timer = setTimeout(look, left);
        else
          reject(
            new Error(
              `a write of ${owner} waited ${this.#patience / 1000} s behind a write of ${other}; if it was opened inside that one, pass its tx on instead`,
            ),
          );
      };
      timer = setTimeout(look, this.#patience);
    });
    try {
      await Promise.race([earlier, stuck]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #transact<T>(owner: string, work: (tx: Tx) => Promise<T>) {
    const { sequelize, sql } = this.#connections;
    const began = performance.now();
    const connection = await this.#connections.begin();
    // Sequelize rolls back by itself after a deadlock, and would put the connection among those for reading.
    const transaction = Object.assign(new Transaction(sequelize, {}), {
      connection,
      rollback: async () => undefined,
    }) as Transaction & { finished?: string };
    const changes: [Projection<object, unknown>, unknown][] = [];
    const afters: [After<unknown>, unknown][] = [];
    const events: [Event<unknown>, unknown][] = [];
    const open = (t: Transaction & { finished?: string }, tapOf?: string): Tx => {
      // A tx is passed on, so only of one that a tap was given is it known who calls.
      const hooks = tapOf === undefined ? this.#hooks : this.#hooks.of(tapOf);
      const requireOpen = (what: string): void => {
        if (t.finished !== undefined) throw new Error(`${what} is called with a tx that is over`);
      };
      const requireHook = (hook: AnyHook): void => {
        requireOpen(hook.id);
        hooks.require(hook);
      };
      const given = (replacements: Record<string, unknown> | undefined) => ({
        transaction: t,
        ...(replacements && { replacements }),
      });
      return {
        t,
        sql,
        run: async (statement, replacements) =>
          void (await sequelize.query(statement, { ...given(replacements), type: QueryTypes.RAW })),
        change: (statement, replacements) =>
          sequelize.query(statement, {
            ...given(replacements),
            type: QueryTypes.BULKUPDATE,
          }) as Promise<number>,
        query: <R extends object>(statement: string, replacements?: Record<string, unknown>) =>
          sequelize.query<R>(statement, { ...given(replacements), type: QueryTypes.SELECT }),
        during: async (hook, payload) => {
          requireHook(hook);
          await this.#hooks.during(hook, payload, (owner) => {
            const own = onlyOwnTables(transaction, owner);
            return { tx: open(own, owner.name), over: () => void (own.finished = 'commit') };
          });
        },
        apply: (projection, change) => {
          requireOpen('apply');
          changes.push([projection as unknown as Projection<object, unknown>, change]);
        },
        after: (hook, payload) => {
          requireHook(hook);
          afters.push([hook as After<unknown>, payload]);
        },
        emit: (hook, payload) => {
          requireHook(hook);
          events.push([hook as Event<unknown>, payload]);
        },
      };
    };
    try {
      const result = await work(open(transaction));
      // Work that outlives its transaction must fail, not land in the next one; what it has begun, the commit waits for.
      transaction.finished = 'commit';
      await execute(connection, 'COMMIT');
      return { result, commit: ++this.#commit, changes, afters, events };
    } catch (error) {
      transaction.finished = 'rollback';
      await execute(connection, 'ROLLBACK').catch((cause: unknown) => {
        // SQLite has rolled back by itself when the disk failed.
        if (!isStorageFailure(error)) this.#log.error('rollback failed', { owner, cause });
      });
      throw error;
    } finally {
      const ms = performance.now() - began;
      if (ms > LONG_WRITE_MS) this.#log.warn('a write held the database long', { owner, ms: Math.round(ms) });
    }
  }

  async #deliver(
    owner: string,
    afters: [After<unknown>, unknown][],
    events: [Event<unknown>, unknown][],
  ): Promise<void> {
    await this.#inTurn({ owner, phase: 'after', over: false }, async () => {
      for (const [hook, payload] of afters) await this.#hooks.after(hook, payload);
    });
    for (const [hook, payload] of events) this.#hooks.emit(hook, payload);
  }

  /** Name of the plugin whose write the calling code is in; known in tests only. */
  inside(): string | undefined {
    const turn = this.#inside?.getStore();
    return turn?.phase === 'write' && !turn.over ? turn.owner : undefined;
  }

  /** Refuses new writes and waits for those that were accepted. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#commits;
    await this.#deliveries;
  }
}

/** The database as one plugin sees it. */
export class Database {
  readonly #sequelize: Sequelize;
  readonly #writer: Writer;
  readonly #owner: string;
  readonly #projections: Projection<object, unknown>[] = [];
  /** words that differ between databases */
  readonly sql: SqlWords;

  constructor({ sequelize, sql }: Connections, writer: Writer, owner: string) {
    this.#sequelize = sequelize;
    this.sql = sql;
    this.#writer = writer;
    this.#owner = owner;
  }
  /** One transaction: all of `work` or nothing. Nothing may leave the process inside it (network, core, child processes). */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#writer.write(this.#owner, work);
  }
  /** Memory that follows the tables of this plugin; call it while the plugin is built. Loaded before `start`, changed with `tx.apply`. */
  projection<S extends object, C>(source: ProjectionSource<S, C>): Projection<S, C> {
    const projection = this.#writer.projection(this.#owner, source);
    this.#projections.push(projection as unknown as Projection<object, unknown>);
    return projection;
  }
  /** For the kernel. */
  async loadProjections(): Promise<void> {
    for (const projection of this.#projections) await projection.load();
  }
  /** Reads what is committed; inside a write use `tx.query`. */
  query<R extends object>(sql: string, replacements?: Record<string, unknown>): Promise<R[]> {
    return this.#sequelize.query<R>(sql, { ...(replacements && { replacements }), type: QueryTypes.SELECT });
  }
  /** Throws when called inside a write: for doors that lead out of the process. */
  refuseInsideWrite(what: string): void {
    const owner = this.#writer.inside();
    if (owner !== undefined)
      throw new Error(
        `${what} inside a write of ${owner}: it would hold the database for as long as others take to answer`,
      );
  }
}
