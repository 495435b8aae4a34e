// One of several panels on one database. All of their writes go through one row, which the writing panel holds until its
// commit: so they have one order, each panel knows what it has not seen yet, and none is in a deadlock with another.
import {
  type Cluster,
  type Committed,
  type Database,
  type Hooks,
  kernelErrors,
  type Log,
  messageOf,
  type Projection,
  type Tx,
} from '../../kernel/index.js';
import { type ChangeLog, CannotFollow } from './change-log.js';
import { beforeLeadEnds, type OthersWrote, othersWrote } from './contract.js';
import type { DatabaseClock } from './database-clock.js';
import { type Leadership, RENEW_MS } from './leadership.js';
import type { Figures } from './figures.js';
import { repeated } from './repeated.js';
import type { Roll } from './roll.js';
import type { RunningJobs } from './running-jobs.js';

/** How often a panel asks whether others have written; the promise is a second. */
const LOOK_MS = 250;
const COMPARE_EVERY = 30;
/** A panel that has not been up to date for so long takes no callers. */
const BEHIND_MS = 3_000;

const NEWS = `SELECT s.last, l.holder, l.token, l.beat FROM cluster_state AS s LEFT JOIN cluster_leases AS l ON l.name = :lease
  WHERE s.id = 1`;
/** The row of numbers, with the lease; others wait until the transaction ends. */
const TURN = `SELECT s.last, l.holder, l.token FROM cluster_state AS s LEFT JOIN cluster_leases AS l ON l.name = :lease
  WHERE s.id = 1 FOR UPDATE`;

interface Turn {
  readonly last: number;
  readonly holder: string | null;
  readonly token: number | null;
}
interface News extends Turn {
  readonly beat: number | null;
}

export class Member implements Cluster {
  readonly #db: Database;
  readonly #log: Log;
  readonly #changes: ChangeLog;
  /** follows the changes of others, so that plugins are told when memory has them */
  readonly #news: Projection<object, unknown>;
  readonly #leadership: Leadership;
  readonly #clock: DatabaseClock | undefined;
  readonly #hooks: Hooks;
  readonly #roll: Roll;
  readonly #jobs: RunningJobs;
  readonly #figures: Figures;
  /** number of the last write, as of the last turn */
  #last = 0;
  /** number of the last change of another panel, by the plugin that keeps it in memory */
  readonly #changedByOthers = new Map<string, number>();
  /** transactions that write nothing */
  readonly #readers = new WeakSet<Tx>();
  #timers: NodeJS.Timeout[] = [];
  #isOpen = false;
  /** by the number of the write, as a transaction that fails is told again */
  readonly #deferred = new Map<number, Committed['afters']>();
  #looks = 0;
  #looking: Promise<void> | undefined;
  /** of those who came while one was under way */
  #nextLook: Promise<void> | undefined;
  #isSureNext = false;
  #isRenewing = false;
  /** the last sign of life failed, so nothing can be written */
  #isUnsigned = false;
  #stale = false;
  /** `performance.now()` when memory last had all that others had written */
  #upToDateAt = Number.NEGATIVE_INFINITY;
  /** called once, when memory cannot follow, or when this panel led and another one does now */
  onEnd: (reason: string) => void = () => undefined;
  #hasEnded = false;

  constructor({
    db,
    log,
    changes,
    leadership,
    sharedClock,
    hooks,
    roll,
    runningJobs,
    figures,
  }: {
    db: Database;
    hooks: Hooks;
    log: Log;
    changes: ChangeLog;
    leadership: Leadership;
    sharedClock: DatabaseClock | undefined;
    roll: Roll;
    runningJobs: RunningJobs;
    figures: Figures;
  }) {
    this.#db = db;
    this.#log = log;
    this.#hooks = hooks;
    this.#roll = roll;
    this.#jobs = runningJobs;
    this.#figures = figures;
    this.#changes = changes;
    this.#leadership = leadership;
    this.#clock = sharedClock;
    this.#news = db.projection<object, unknown>({
      load: async () => ({}),
      apply: (_, told) => {
        // They were delivered just before.
        if (this.#isOpen) this.#deferred.clear();
        hooks.emit(othersWrote, { told: told as OthersWrote['told'] });
      },
    });
  }

  get leads(): boolean {
    return this.#leadership.leads;
  }
  leading(): Promise<void> {
    return this.#leadership.begun;
  }

  async begin(tx: Tx, since: number, owner: string, plannedAt: number): Promise<readonly Committed[]> {
    if (plannedAt === Number.POSITIVE_INFINITY) this.#readers.add(tx);
    const turn = await this.#turn(tx);
    if (!turn) throw new Error('the table cluster_state is empty');
    const last = Number(turn.last);
    if (!this.#leadership.check({ holder: turn.holder ?? '', token: Number(turn.token) })) {
      this.#end('another panel has taken over');
      throw kernelErrors.DATABASE_BUSY('another panel has taken over, so nothing was saved; try again');
    }
    // A replica that is behind, or a backup that was restored under a running panel.
    if (last < Math.max(since, this.#last)) {
      this.#end('the database answers from the past');
      throw kernelErrors.DATABASE_AWAY('the database answers from the past, so nothing was saved');
    }
    this.#last = last;
    if (since === 0) return [{ commit: last, changes: [], afters: [] }];
    if (last === since && this.#deferred.size === 0) return [];
    const others = await this.#changes.after(tx, since, last).catch((error: unknown) => {
      if (error instanceof CannotFollow) this.#end(error.message);
      throw kernelErrors.DATABASE_BUSY('this panel is behind the others, so nothing was saved; try again', {
        cause: error,
      });
    });
    for (const { commit, changes } of others)
      for (const [{ plugin }] of changes) this.#changedByOthers.set(plugin, commit);
    if (owner !== 'kernel' && (this.#changedByOthers.get(owner) ?? 0) > plannedAt) {
      // The next write must not be planned with the same memory.
      setImmediate(() => void this.look(true));
      throw kernelErrors.DATABASE_BUSY(undefined, { headers: { 'Retry-After': '1' } });
    }
    return this.#inOrder(others, since, last);
  }

  /** Until all plugins have read their data, what follows changes of others is put off: it would find them without. */
  #inOrder(others: readonly Committed[], since: number, last: number): Committed[] {
    if (!this.#isOpen) {
      for (const { commit, afters } of others) if (afters.length > 0) this.#deferred.set(commit, afters);
      return [...others.map((one) => ({ ...one, afters: [] })), { commit: last, changes: [], afters: [] }];
    }
    const deferred = [...this.#deferred.values()].flat();
    const afters = others.flatMap((one) => one.afters);
    const told = [...deferred, ...afters].map(([{ id: hook }, payload]) => ({ hook, payload }));
    return [
      { commit: since, changes: [], afters: deferred },
      ...others,
      { commit: last, changes: [[this.#news, told]], afters: [] },
    ];
  }

  /** Nothing has run in the transaction yet, so a begin that loses against a write on another server is repeated. */
  async #turn(tx: Tx): Promise<Turn | undefined> {
    const turns = await repeated(
      () => tx.query<Turn>(TURN, { lease: this.#leadership.name }),
      () => tx.run('START TRANSACTION'),
    );
    return turns[0];
  }

  read<T>(turn: () => Promise<T>): Promise<T> {
    return repeated(turn);
  }

  async record(tx: Tx, written: Omit<Committed, 'commit'>): Promise<number> {
    if (this.#readers.has(tx)) return this.#last;
    await this.#leadership.extend(tx);
    const isTold = written.changes.length + written.afters.length > 0;
    const seq = isTold ? this.#last + 1 : this.#last;
    // Each write changes the row: on Galera, a lock keeps nobody out who writes on another server, but of two who have
    // changed the same row only one can commit.
    await tx.run('UPDATE cluster_state SET last = :seq, turns = turns + 1 WHERE id = 1', { seq });
    if (isTold) await this.#changes.add(tx, seq, written);
    return seq;
  }

  /** Brings memory up to date with what others have written before this call. */
  look(isSure = false): Promise<void> {
    this.#isSureNext ||= isSure;
    // One that is under way may have asked too early for this caller.
    if (this.#looking) return (this.#nextLook ??= this.#looking.then(() => this.#startLook()));
    return this.#startLook();
  }

  #startLook(): Promise<void> {
    this.#nextLook = undefined;
    if (this.#looking) return this.look();
    const isSure = this.#isSureNext;
    this.#isSureNext = false;
    this.#looking = this.#look(isSure).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(isSure: boolean): Promise<void> {
    if (this.#hasEnded) return;
    try {
      const [row] = await this.#db.query<News>(NEWS, { lease: this.#leadership.name });
      const last = Number(row?.last);
      const lease = { holder: row?.holder ?? '', token: Number(row?.token), beat: Number(row?.beat) };
      if (this.#leadership.see(lease) && this.#timers.length > 0) void this.#renew();
      const isPast = last < this.#last;
      if (isPast && !this.#stale)
        this.#log.error('the database answers from the past; what others change is seen later', {
          behind: this.#last - last,
        });
      this.#stale = isPast;
      if (isSure || last > this.#last) await this.#db.write(async (tx) => void this.#readers.add(tx));
      if (!isPast) this.#upToDateAt = performance.now();
    } catch {
      // The kernel reports failures of the database, and the next look tries again.
    }
  }

  /** Joins the others: follows them, and takes the lead if nobody has it. Without it, as for a command, each write still takes its turn. */
  async open(): Promise<void> {
    this.#isOpen = true;
    await this.look(true);
    await this.#renew();
    this.#timers = [
      setInterval(() => void (this.#looking ?? this.look()), LOOK_MS),
      setInterval(() => void this.#renew(), RENEW_MS),
    ];
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#hasEnded) return;
    this.#isRenewing = true;
    try {
      if (++this.#looks % COMPARE_EVERY === 0) await this.compareClock();
      await this.#leadership.take();
      this.#isUnsigned = false;
      // Not awaited: it must not delay the next renewal.
      void this.#figures.exchange(this.#leadership.leads);
    } catch (error) {
      this.#isUnsigned = true;
      this.#log.debug('the lease was not renewed', { problem: messageOf(error) });
    } finally {
      this.#isRenewing = false;
    }
  }

  async compareClock(): Promise<void> {
    await this.#clock?.compare(this.#db, this.#log);
  }

  /** Names of the other panels that live. One may have come since this one has signed. */
  async others(): Promise<readonly string[]> {
    return (await this.#roll.look()).map(({ name }) => name);
  }

  /** Why callers should go to another panel. */
  problem(): string | undefined {
    if (this.#hasEnded) return 'it starts again';
    if (this.#isUnsigned) return 'it cannot write to the database';
    const isBehind = performance.now() - this.#upToDateAt > BEHIND_MS;
    return isBehind ? 'it is behind the other panels, or the database does not answer' : undefined;
  }

  /** Lets another panel lead, and goes on answering. Resolves when it may, or after a while when something of the leader does not end: then the lease goes with the stop. */
  async handOver(reason: string): Promise<void> {
    const { leads } = this.#leadership;
    this.#leadership.pass();
    if (!leads) return;
    await this.#hooks.notify(beforeLeadEnds, { reason });
    if (!(await this.#jobs.ended()))
      return this.#log.warn('a job goes on, so this panel keeps the lead until it stops');
    await this.#leadership.release();
    this.#log.info('another panel may lead now', { reason });
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#log.error('this panel starts again to read the database again', { reason });
    setImmediate(() => this.onEnd(reason));
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    await this.#leadership.release().catch(() => undefined);
    await this.#roll.strike(this.#leadership.holder).catch(() => undefined);
  }
}
