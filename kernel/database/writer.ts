// The only way to write. Writes run one after another over one connection that stays open: on SQLite overlapping
// transactions would fail with "database is locked", and a new connection costs 4 ms; on a server they would deadlock.
import { AsyncLocalStorage } from 'node:async_hooks';
import { QueryTypes, type Sequelize, Transaction } from 'sequelize';
import { isStorageFailure } from '../errors/errors.js';
import type { After, AnyHook, During, Event } from '../hooks/kinds.js';
import type { HookRegistry } from '../hooks/registry.js';
import type { Log } from '../log/log.js';
import { type Connections, execute } from './connect.js';
import type { SqlWords } from './dialect.js';
import { watchStatements, onlyOwnTables } from './own-tables.js';
import { Projection, type ProjectionSource } from './projection.js';

const LONG_WRITE_MS = 200;
/** A write that runs no statement for this long while another one waits is blocked: the other one was opened inside it. */
const PATIENCE_MS = 10_000;
/** From this version on, Node tracks async context at no cost worth mentioning. */
const HAS_CHEAP_ASYNC_CONTEXT = Number.parseInt(process.versions.node, 10) >= 24;

/** An open write. Every function that takes part in it receives it as a parameter. */
export interface Tx {
  /** for Sequelize: `{ transaction: tx.t }` */
  readonly t: Transaction;
  /** SQL that differs between databases */
  readonly sql: SqlWords;
  /** Runs one statement with `:name` replacements; pass bulk data as one JSON text (`sql.rows`), five times faster than binding each value. */
  run(sql: string, replacements?: Record<string, unknown>): Promise<void>;
  /** Runs an UPDATE or DELETE; resolves with the number of matched rows, changed or not. */
  change(sql: string, replacements?: Record<string, unknown>): Promise<number>;
  query<R extends object>(sql: string, replacements?: Record<string, unknown>): Promise<R[]>;
  /** Runs the taps that take part in this write, after its statements; rejects when one fails or refuses, and then the write must fail. A tap's `tx` reads everything and writes only tables of its own plugin. */
  during<P>(hook: During<P>, payload: P): Promise<void>;
  /** Applies a change to a projection after the commit, before the `after` hooks and before the write resolves; a rollback drops it. */
  apply<S extends object, C>(projection: Projection<S, C>, change: C): void;
  /** Delivered after the commit and before the write resolves; a rollback drops it. */
  after<P>(hook: After<P>, payload: P): void;
  /** Queued after the commit; a rollback drops it. */
  emit<P>(hook: Event<P>, payload: P): void;
}

type Phase = 'write' | 'after';
/** The owner of a write, for code that runs on its behalf. */
interface ActiveWork {
  readonly owner: string;
  readonly phase: Phase;
  /** A timer that a write has started is no longer part of it once the write is over. */
  over: boolean;
}

export class Writer {
  readonly #connections: Connections;
  readonly #hooks: HookRegistry;
  readonly #log: Log;
  /** Finds the write that the running code is part of. Before Node 24 this slows down each request, so only tests and `weir dev` have it there; without it a nested write fails after PATIENCE_MS. */
  readonly #activeWork: AsyncLocalStorage<ActiveWork> | undefined;
  readonly #patience: number;
  /** the write that the database, and the after hooks, are busy with */
  readonly #busy = { write: { owner: '', since: 0 }, after: { owner: '', since: 0 } };
  #writeQueue: Promise<unknown> = Promise.resolve();
  /** number of committed writes */
  #commitCount = 0;
  #deliveryQueue: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(
    connections: Connections,
    hooks: HookRegistry,
    log: Log,
    options: { readonly selfChecks: boolean; readonly patienceMs?: number },
  ) {
    this.#connections = connections;
    watchStatements(connections.sequelize, () => (this.#busy.write.since = performance.now()));
    this.#hooks = hooks;
    this.#log = log;
    this.#activeWork = options.selfChecks || HAS_CHEAP_ASYNC_CONTEXT ? new AsyncLocalStorage() : undefined;
    this.#patience = options.patienceMs ?? PATIENCE_MS;
  }

  /** Runs `work` in a transaction of its own; resolves after the commit and all its `after` hooks. */
  async write<T>(owner: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const outer = this.#activeWork?.getStore();
    if (outer && !outer.over && outer.phase === 'write')
      throw new Error(
        `a write of ${owner} was opened inside a write of ${outer.owner}: pass its tx on instead`,
      );
    if (outer && !outer.over)
      throw new Error(
        `a write of ${owner} was opened in an after hook of a write of ${outer.owner}: after hooks only bring memory up to date; what writes listens to an event`,
      );
    if (this.#closed) throw new Error(`a write of ${owner} came after the database was closed`);
    const committed = this.betweenWrites(owner, () => this.#transact(owner, work));
    // Deliveries keep the order of the commits, and the next transaction does not wait for them.
    const earlier = this.#deliveryQueue;
    const delivered = committed.then(async ({ commit, changes, afters, events }) => {
      // It is committed: projections and after hooks must receive it, if need be before those of earlier writes.
      await this.#waitForProgress(earlier, 'after', owner).catch((error: unknown) =>
        this.#log.error('after hooks are stuck; the next write no longer waits for them', { error }),
      );
      await this.#runPhase({ owner, phase: 'after', over: false }, async () => {
        for (const [projection, change] of changes) await projection.apply(commit, change);
        for (const [hook, payload] of afters) await this.#hooks.after(hook, payload);
      });
      for (const [hook, payload] of events) this.#hooks.emit(hook, payload);
    });
    // A failed write delivers nothing, but earlier writes may still be delivering.
    this.#deliveryQueue = delivered.catch(() => earlier);
    await delivered;
    return (await committed).result;
  }

  /** Runs `work` after all earlier writes and before all later ones; `commit` is the number of writes until then. */
  betweenWrites<T>(owner: string, work: (commit: number) => Promise<T>): Promise<T> {
    const turn = this.#waitForProgress(this.#writeQueue, 'write', owner).then(() =>
      this.#runPhase({ owner, phase: 'write', over: false }, () => work(this.#commitCount)),
    );
    // A write that gave up waiting must not let the next one overtake.
    this.#writeQueue = Promise.allSettled([this.#writeQueue, turn]).then(() => undefined);
    return turn;
  }

  projection<S extends object, C>(owner: string, source: ProjectionSource<S, C>): Projection<S, C> {
    return new Projection(source, owner, this.#log, (work) => this.betweenWrites(owner, work));
  }

  async #runPhase<T>(turn: ActiveWork, work: () => Promise<T>): Promise<T> {
    this.#busy[turn.phase] = { owner: turn.owner, since: performance.now() };
    try {
      return await (this.#activeWork ? this.#activeWork.run(turn, work) : work());
    } finally {
      turn.over = true;
    }
  }

  /** Waits for earlier writes while they make progress; a write that was opened inside another one would wait for itself. */
  async #waitForProgress(earlier: Promise<unknown>, phase: Phase, owner: string): Promise<void> {
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
    // Sequelize rolls back by itself after a deadlock, and would return the connection to the pool for reading.
    const transaction = Object.assign(new Transaction(sequelize, {}), {
      connection,
      rollback: async () => undefined,
    }) as Transaction & { finished?: string };
    const changes: [Projection<object, unknown>, unknown][] = [];
    const afters: [After<unknown>, unknown][] = [];
    const events: [Event<unknown>, unknown][] = [];
    const open = (t: Transaction & { finished?: string }, tapOf?: string): Tx => {
      // A tx is passed on, so the caller is only known for the tx of a tap.
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
      // Work that outlives its transaction must fail instead of running in the next one; the commit waits for statements that have begun.
      transaction.finished = 'commit';
      await execute(connection, 'COMMIT');
      return { result, commit: ++this.#commitCount, changes, afters, events };
    } catch (error) {
      const committing = transaction.finished === 'commit';
      transaction.finished = 'rollback';
      await execute(connection, 'ROLLBACK').catch((cause: unknown) => {
        // SQLite rolls back by itself when the disk fails.
        if (isStorageFailure(error)) return;
        this.#log.error('rollback failed', { owner, cause });
        // A connection that is lost during the commit does not say whether the database has it.
        if (committing) for (const [projection] of changes) void projection.distrust(error);
      });
      throw error;
    } finally {
      const ms = performance.now() - began;
      if (ms > LONG_WRITE_MS) this.#log.warn('a write held the database long', { owner, ms: Math.round(ms) });
    }
  }

  /** Name of the plugin whose write the calling code is part of; unknown before Node 24, except in tests and `weir dev`. */
  inside(): string | undefined {
    const turn = this.#activeWork?.getStore();
    return turn?.phase === 'write' && !turn.over ? turn.owner : undefined;
  }

  /** Rejects new writes and waits for the accepted ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writeQueue;
    await this.#deliveryQueue;
  }
}

/** The database from the view of one plugin. */
export class Database {
  readonly #sequelize: Sequelize;
  readonly #writer: Writer;
  readonly #owner: string;
  readonly #projections: Projection<object, unknown>[] = [];
  /** SQL that differs between databases */
  readonly sql: SqlWords;

  constructor({ sequelize, sql }: Connections, writer: Writer, owner: string) {
    this.#sequelize = sequelize;
    this.sql = sql;
    this.#writer = writer;
    this.#owner = owner;
  }
  /** Runs one transaction: all of `work` or nothing. Inside it, nothing may leave the process (network, core, child processes). */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#writer.write(this.#owner, work);
  }
  /** Creates state in memory that follows the tables of this plugin; call it while the plugin is built. Loaded before `start`, changed with `tx.apply`. */
  projection<S extends object, C>(source: ProjectionSource<S, C>): Projection<S, C> {
    const projection = this.#writer.projection(this.#owner, source);
    this.#projections.push(projection as unknown as Projection<object, unknown>);
    return projection;
  }
  /** For the kernel. */
  async loadProjections(): Promise<void> {
    for (const projection of this.#projections) await projection.load();
  }
  /** Reads committed data; inside a write use `tx.query`. */
  query<R extends object>(sql: string, replacements?: Record<string, unknown>): Promise<R[]> {
    return this.#sequelize.query<R>(sql, { ...(replacements && { replacements }), type: QueryTypes.SELECT });
  }
  /** Throws when called inside a write: for functions that leave the process. */
  refuseInsideWrite(what: string): void {
    const owner = this.#writer.inside();
    if (owner !== undefined)
      throw new Error(`${what} inside a write of ${owner}: it would block the database until others answer`);
  }
}
