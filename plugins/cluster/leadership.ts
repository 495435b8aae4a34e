// The lease under which one of several panels runs what only one may run. Its holder counts it up; who does not hold it
// measures with its own monotonic clock how long the count has stood still, so no clock is compared with another one: those
// of several database servers may differ. `token` grows with each takeover, and each write of the leader is refused once
// another has taken over.
import { randomBytes } from 'node:crypto';
import type { Database, Log, Tx } from '../../kernel/index.js';
import type { Roll } from './roll.js';

/** A leader that has not renewed its lease for so long has lost it. */
export const LEASE_MS = 10_000;
export const RENEW_MS = 2_000;

interface Held {
  readonly holder: string;
  readonly token: number;
}

/** What a panel that does not lead sees of the lease. A released one has no holder. */
export interface Lease extends Held {
  readonly beat: number;
}
const NOT_SEEN = -1;

/** Released, not counted up for as long as a lease lasts (`:dead`), or of an earlier start of this panel. */
const IS_FREE = "(holder = '' OR beat = :dead OR holder LIKE :earlier)";
// In the order of the assignments: the server uses values that were assigned before.
const TAKE = `INSERT INTO cluster_leases (name, holder, token, beat, expires_at) VALUES (:name, :holder, 1, 1, 0)
  ON DUPLICATE KEY UPDATE token = IF(holder <> :holder AND ${IS_FREE}, token + 1, token),
    holder = IF(${IS_FREE}, :holder, holder), beat = IF(holder = :holder, beat + 1, beat)`;
const EXTEND = 'UPDATE cluster_leases SET beat = beat + 1 WHERE name = :name AND holder = :holder';
const RELEASE =
  "UPDATE cluster_leases SET holder = '', beat = beat + 1 WHERE name = :name AND holder = :holder";

export class Leadership {
  readonly name = 'lead';
  /** of this start of the panel: another start is another holder */
  readonly holder: string;
  /** Holders that begin so are earlier starts of this panel. They have ended: each panel has a name of its own. */
  readonly #earlier: string;
  readonly #db: Database;
  readonly #log: Log;
  readonly #roll: Roll;
  #token: number | undefined;
  /** `performance.now()` before the last renewal that succeeded; it goes on while the process is stopped */
  #renewedAt = 0;
  #isLost = false;
  /** another panel is to lead: this one starts nothing more that only one may run, and never takes the lease again */
  #isPassing = false;
  /** the last beat of another panel, and `performance.now()` when it was first seen */
  #seen = { holder: '', beat: NOT_SEEN, at: 0 };
  #begin = (): void => undefined;
  /** resolves when this panel begins to lead */
  readonly begun = new Promise<void>((resolve) => (this.#begin = resolve));
  #hasBegun = false;

  constructor({
    db,
    log,
    config,
    roll,
  }: { db: Database; log: Log; config: { readonly name?: string | undefined }; roll: Roll }) {
    this.#db = db;
    this.#log = log;
    this.#roll = roll;
    this.#earlier = `${config.name ?? ''}.`;
    this.holder = `${this.#earlier}${randomBytes(12).toString('hex')}`;
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

  /** Notes what the lease is now; returns whether this panel should try to take it. */
  see({ holder, beat }: Lease): boolean {
    if (holder !== this.#seen.holder || beat !== this.#seen.beat)
      this.#seen = { holder, beat, at: performance.now() };
    return this.#token === undefined && this.wants && this.mayTake;
  }

  /** Whether this panel holds the lease, or may find it free. */
  get wants(): boolean {
    const { holder, beat } = this.#seen;
    if (this.#token !== undefined || beat === NOT_SEEN || this.#dead !== NOT_SEEN) return true;
    return holder === '' || holder.startsWith(this.#earlier);
  }

  get #dead(): number {
    const { beat, at } = this.#seen;
    return performance.now() - at > LEASE_MS ? beat : NOT_SEEN;
  }

  /** Says that this panel lives. Takes the lease if it is free, and renews it if this panel holds it. */
  async take(): Promise<void> {
    if (this.#isLost) return;
    const asked = performance.now();
    const { name, holder } = this;
    const [row] = await this.#db.write(async (tx) => {
      await this.#roll.sign(tx, holder);
      if (!this.wants || (this.#isPassing && this.#token === undefined)) return [];
      // A name has no character that a pattern treats in its own way.
      const earlier = `${this.#earlier}%`;
      await tx.run(TAKE, { name, holder, dead: this.#dead, earlier });
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
