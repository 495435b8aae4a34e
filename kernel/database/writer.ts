// The only way to write. Writes run one after another over one connection that stays open: on SQLite overlapping
// transactions would fail with "database is locked", and a new connection costs 4 ms; on a server they would deadlock.
import { AsyncLocalStorage } from 'node:async_hooks';
import { QueryTypes, Transaction } from 'sequelize';
import { isPanelError, kernelErrors, storageFailure } from '../errors/errors.js';
import type { After, AnyHook, Event } from '../hooks/kinds.js';
import type { HookRegistry } from '../hooks/registry.js';
import type { Log } from '../log/log.js';
import { type Connection, execute } from '../../tables/connection.js';
import { watchStatements, onlyOwnTables } from '../../tables/own-tables.js';
import { Projection, type ProjectionSource } from '../../tables/projection.js';
import type { Cluster, Written } from './cluster.js';
import type { Connections } from './connect.js';
import { whileInProgress } from '../../timing/progress.js';
import { Storage } from './storage.js';
import type { Tx } from './tx.js';

const LONG_WRITE_MS = 200;
/** of what is planned inside its turn */
const PLANNED_NOW = Number.POSITIVE_INFINITY;
/** A write that runs no statement for this long while another one waits is blocked: the other one was opened inside it. */
const PATIENCE_MS = 10_000;
/** From this version on, Node tracks async context at no cost worth mentioning. */
const HAS_CHEAP_ASYNC_CONTEXT = Number.parseInt(process.versions.node, 10) >= 24;

const UNANSWERED =
  'the database stopped answering while this was saved, so it may be saved or not; look when it answers again';
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
  /** number of the last committed write */
  #commitCount = 0;
  #deliveryQueue: Promise<unknown> = Promise.resolve();
  #closed = false;
  readonly #storage: Storage;
  /** statements of the open write that the database has not answered */
  #unanswered = 0;
  /** what a commit changed of which nobody knows whether the database has it */
  readonly #doubtful = new Set<Projection<object, unknown>>();
  /** When memory was last read again because of that: writes that were planned before must fail. */
  #readAgainAt = 0;
  readonly projections: Projection<object, unknown>[] = [];
  /** the last step of each transaction; its failure rolls the write back */
  lastStep: ((tx: Tx) => Promise<void>) | undefined;
  /** set before any memory is loaded */
  cluster: Cluster | undefined;

  constructor(
    connections: Connections,
    hooks: HookRegistry,
    log: Log,
    options: { readonly selfChecks: boolean; readonly patienceMs?: number },
  ) {
    this.#connections = connections;
    this.#storage = new Storage(connections.classify, log);
    watchStatements(connections.sequelize, this.#statement, (statement) => this.#storage.run(statement));
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
    const plannedAt = this.#commitCount;
    const written = this.betweenWrites(owner, () => this.#transact(owner, plannedAt, work));
    await this.#deliver(owner, written);
    return (await written).result;
  }

  /** Brings memory up to date after a turn of the database. */
  async #deliver(owner: string, written: Promise<Written>): Promise<void> {
    // Deliveries keep the order of the commits, and the next transaction does not wait for them.
    const earlier = this.#deliveryQueue;
    const delivered = written.then(async ({ told, events }) => {
      // It is committed: projections and after hooks must receive it, if need be before those of earlier writes.
      await this.#waitForProgress(earlier, 'after', owner).catch((error: unknown) =>
        this.#log.error('after hooks are stuck; the next write no longer waits for them', { error }),
      );
      await this.#runPhase({ owner, phase: 'after', over: false }, async () => {
        for (const { commit, changes, afters } of told) {
          for (const [projection, change] of changes) await projection.apply(commit, change);
          for (const [hook, payload] of afters) await this.#hooks.after(hook, payload);
        }
      });
      for (const [hook, payload] of events) this.#hooks.emit(hook, payload);
    });
    // A failed write delivers nothing, but earlier writes may still be delivering.
    this.#deliveryQueue = delivered.catch(() => earlier);
    await delivered;
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
    const projection = new Projection(source, {
      plugin: owner,
      betweenWrites: (work) => this.#whileNobodyWrites(owner, work),
      notLoaded: () =>
        kernelErrors.PLUGIN_OFF(
          `the plugin ${owner} is reading its data from the database; try again in a moment`,
        ),
      report: (problem, error) => {
        if (!isPanelError(storageFailure(error))) this.#log.error(problem, { plugin: owner, error });
      },
    });
    this.projections.push(projection as unknown as Projection<object, unknown>);
    return projection;
  }

  /** Runs `work` with the number of the last write; other panels do not write meanwhile. */
  #whileNobodyWrites<T>(owner: string, work: (commit: number) => Promise<T>): Promise<T> {
    if (!this.cluster) return this.betweenWrites(owner, work);
    const turn = () => this.#transact(owner, PLANNED_NOW, (_, last) => work(last));
    const read = this.cluster.read(() => this.betweenWrites(owner, turn));
    // Not awaited: a delivery may wait for this state.
    void this.#deliver(owner, read).catch(() => undefined);
    return read.then(({ result }) => result);
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
  #waitForProgress(earlier: Promise<unknown>, phase: Phase, owner: string): Promise<void> {
    const stuck = (): unknown => {
      const error = new Error(
        `a write of ${owner} waited ${this.#patience / 1000} s behind a write of ${this.#busy[phase].owner}; if it was opened inside that one, pass its tx on instead`,
      );
      return phase === 'write' && this.#unanswered > 0 ? this.#storage.named(error, 'away') : error;
    };
    const isLate = phase === 'write' && this.#waiting() > this.#patience;
    // Others have waited for the same answer already.
    const first = isLate ? this.#patience / 10 : this.#patience;
    return whileInProgress(earlier, this.#patience, () => this.#busy[phase].since, stuck, first);
  }

  /** For how many ms a statement of the open write has had no answer. */
  readonly #waiting = () => (this.#unanswered > 0 ? performance.now() - this.#busy.write.since : 0);

  /** Runs one statement of the open write. */
  readonly #statement = async <T>(run: () => Promise<T>, unknown?: 'away'): Promise<T> => {
    this.#busy.write.since = performance.now();
    this.#unanswered++;
    try {
      return await this.#storage.run(run, unknown);
    } finally {
      this.#unanswered--;
      this.#busy.write.since = performance.now();
    }
  };

  async #begin(plannedAt: number): Promise<Connection> {
    const connection = await this.#statement(() => this.#connections.begin(), 'away');
    try {
      await this.#settleDoubts();
      // Planned with memory that may have lacked what the database has: it would write that twice.
      if (plannedAt < this.#readAgainAt) throw kernelErrors.DATABASE_AWAY();
      return connection;
    } catch (error) {
      await execute(connection, 'ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** Reads memory again that a commit without an answer may have changed; the previous state serves until then. */
  async #settleDoubts(): Promise<void> {
    if (this.#doubtful.size === 0) return;
    for (const projection of this.#doubtful) await projection.refresh(this.#commitCount);
    this.#doubtful.clear();
    this.#readAgainAt = ++this.#commitCount;
  }

  async #transact<T>(owner: string, plannedAt: number, work: (tx: Tx, last: number) => Promise<T>) {
    const { sequelize, sql } = this.#connections;
    const connection = await this.#begin(plannedAt);
    const since = this.#commitCount;
    let began = performance.now();
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
      const required = <H extends AnyHook>(hook: H): H => {
        requireOpen(hook.id);
        hooks.require(hook);
        return hook;
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
          await this.#hooks.during(required(hook), payload, (owner) => {
            const tables = Object.values(owner.plugin?.tables ?? {}).map(({ name }) => name);
            const own = onlyOwnTables(transaction, owner.name, tables);
            return {
              tx: open(own, owner.name),
              over: () => void (own.finished = 'commit'),
              waiting: this.#waiting,
            };
          });
        },
        apply: (projection, change) => {
          requireOpen('apply');
          changes.push([projection as unknown as Projection<object, unknown>, change]);
        },
        after: (hook, payload) => void afters.push([required(hook) as After<unknown>, payload]),
        emit: (hook, payload) => void events.push([required(hook) as Event<unknown>, payload]),
      };
    };
    try {
      const tx = open(transaction);
      const others = (await this.cluster?.begin(tx, since, owner, plannedAt)) ?? [];
      began = performance.now();
      const result = await work(tx, others.at(-1)?.commit ?? since);
      await this.lastStep?.(tx);
      const commit = (await this.cluster?.record(tx, { changes, afters })) ?? since + 1;
      // Work that outlives its transaction must fail instead of running in the next one; the commit waits for statements that have begun.
      transaction.finished = 'commit';
      await this.#statement(() => execute(connection, 'COMMIT'));
      this.#storage.worked();
      this.#commitCount = commit;
      return { result, told: [...others, { commit, changes, afters }], events };
    } catch (error) {
      const committing = transaction.finished === 'commit';
      let thrown = error;
      transaction.finished = 'rollback';
      await execute(connection, 'ROLLBACK').catch((cause: unknown) => {
        const failure = storageFailure(error);
        if (!failure) this.#log.error('rollback failed', { owner, cause });
        // SQLite has rolled back by itself when the disk failed; a lost connection does not say what is committed.
        if (!committing || (isPanelError(failure) && failure.code === kernelErrors.STORAGE.code)) return;
        thrown = kernelErrors.DATABASE_AWAY(UNANSWERED, { cause: error });
        // The next turn reads back what this panel has told the others.
        if (this.cluster) return;
        for (const [projection] of changes) this.#doubtful.add(projection);
        void this.betweenWrites(owner, () => this.#settleDoubts()).catch(() => undefined);
      });
      throw thrown;
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

  get isFailing(): boolean {
    return this.#storage.isFailing;
  }

  /** While the database fails, writes something to find out whether it works again. */
  async probe(): Promise<void> {
    if (this.isFailing)
      await this.write('kernel', (tx) => tx.run('UPDATE kernel_migrations SET ran_at = ran_at'));
  }

  /** Rejects new writes and waits for the accepted ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writeQueue;
    await this.#deliveryQueue;
  }
}
