// The lease under which one of several panels runs what only one may run. Its times are the database's alone; `token` grows
// with each takeover, and each write of the leader is refused once another has taken over.
import { randomUUID } from 'node:crypto';
import type { Database, Log, Tx } from '../../kernel/index.js';
import { NOW } from './database-clock.js';
import type { Roll } from './roll.js';

/** A leader that has not renewed its lease for so long has lost it. */
export const LEASE_MS = 10_000;
export const RENEW_MS = 2_000;

interface Held {
  readonly holder: string;
  readonly token: number;
}

// In the order of the assignments: the server uses values that were assigned before.
const TAKE = `INSERT INTO cluster_leases (name, holder, token, expires_at) VALUES (:name, :holder, 1, ${NOW} + ${LEASE_MS})
  ON DUPLICATE KEY UPDATE token = IF(expires_at < ${NOW} AND holder <> :holder, token + 1, token),
    holder = IF(expires_at < ${NOW}, :holder, holder),
    expires_at = IF(holder = :holder, ${NOW} + ${LEASE_MS}, expires_at)`;
const EXTEND = `UPDATE cluster_leases SET expires_at = ${NOW} + ${LEASE_MS} WHERE name = :name AND holder = :holder`;
const RELEASE = 'UPDATE cluster_leases SET expires_at = 0 WHERE name = :name AND holder = :holder';

export class Leadership {
  readonly name = 'lead';
  /** of this start of the panel: another start is another holder */
  readonly holder = randomUUID();
  readonly #db: Database;
  readonly #log: Log;
  #token: number | undefined;
  /** `performance.now()` before the last renewal that succeeded; it goes on while the process is stopped */
  #renewedAt = 0;
  #isLost = false;
  /** another panel is to lead: this one starts nothing more that only one may run, and never takes the lease again */
  #isPassing = false;
  #begin = (): void => undefined;
  /** resolves when this panel begins to lead */
  readonly begun = new Promise<void>((resolve) => (this.#begin = resolve));
  #hasBegun = false;

  readonly #roll: Roll;

  constructor({ db, log, roll }: { db: Database; log: Log; roll: Roll }) {
    this.#db = db;
    this.#log = log;
    this.#roll = roll;
  }

  /** False as soon as another panel may have taken over, by the clock that no admin can set. */
  get leads(): boolean {
    return this.#hasBegun && this.#isHeld && !this.#isPassing;
  }

  /** Whether this panel would take a lease that is free. */
  get mayTake(): boolean {
    return !this.#isPassing && !this.#isLost;
  }

  /** Stops beginning what only one panel runs; the lease is held until `release`. */
  pass(): void {
    this.#isPassing = true;
  }

  get #isHeld(): boolean {
    return this.#token !== undefined && !this.#isLost && performance.now() - this.#renewedAt < LEASE_MS;
  }

  /** Says that this panel lives. Takes the lease if it is free, and renews it if this panel holds it. */
  async take(): Promise<void> {
    if (this.#isLost) return;
    const asked = performance.now();
    const { name, holder } = this;
    const [row] = await this.#db.write(async (tx) => {
      await this.#roll.sign(tx, holder);
      if (this.#isPassing && this.#token === undefined) return [];
      await tx.run(TAKE, { name, holder });
      return tx.query<Held>('SELECT holder, token FROM cluster_leases WHERE name = :name', { name });
    });
    if (row?.holder !== holder) return;
    this.#token = Number(row.token);
    this.#renewedAt = asked;
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#log.info('this panel leads: it runs the jobs and the core', { token: this.#token });
    this.#begin();
  }

  /** Compares with what the database says; returns false when this panel led and another one does now. */
  check({ holder, token }: Held): boolean {
    if (this.#token === undefined || (holder === this.holder && Number(token) === this.#token)) return true;
    if (!this.#isLost)
      this.#log.error('another panel has taken over, because this one did not renew its lease in time', {
        held: this.#token,
        token: Number(token),
      });
    this.#isLost = true;
    return false;
  }

  /** The lease cannot be renewed while a write of the leader holds its row. */
  async extend(tx: Tx): Promise<void> {
    const asked = performance.now();
    if (this.#token === undefined || asked - this.#renewedAt < RENEW_MS) return;
    await tx.run(EXTEND, { name: this.name, holder: this.holder });
  }

  async release(): Promise<void> {
    if (this.#token === undefined || this.#isLost) return;
    this.#token = undefined;
    await this.#db.write((tx) => tx.run(RELEASE, { name: this.name, holder: this.holder }));
  }
}
