// Remembers the addresses that admins have logged in from, so that failures elsewhere never slow them down.
import type { Clock, Database, Tx } from '../../kernel/index.js';
import { networksOf } from './network.js';
import type { AccessTables } from './tables.js';

const DAY_MS = 86_400_000;
/** An address that nobody has logged in from for so long is a stranger again. */
const KNOWN_MS = 180 * DAY_MS;
/** A login writes at most once a day for each address. */
const WRITTEN_EVERY_MS = DAY_MS;
const MOST_ADDRESSES = 1000;

export class KnownAddresses {
  readonly #db: Database;
  readonly #rows: AccessTables['addresses'];
  readonly #clock: Clock;
  /** Unix ms of the last login that was written down, by address or IPv6 /64 */
  #seen = new Map<string, number>();

  constructor({ db, tables: { addresses }, clock }: { db: Database; tables: AccessTables; clock: Clock }) {
    this.#db = db;
    this.#rows = addresses;
    this.#clock = clock;
  }

  async load(): Promise<void> {
    const rows = (await this.#rows.findAll({ raw: true, order: ['seenAt'] })) as unknown as readonly {
      network: string;
      seenAt: number;
    }[];
    this.#seen = new Map(rows.map(({ network, seenAt }) => [network, seenAt]));
  }

  has(ip: string): boolean {
    const seenAt = this.#seen.get(networksOf(ip).own);
    return seenAt !== undefined && seenAt > this.#clock.now() - KNOWN_MS;
  }

  /** After a successful login. */
  async remember(ip: string): Promise<void> {
    const now = this.#clock.now();
    const network = networksOf(ip).own;
    if ((this.#seen.get(network) ?? 0) > now - WRITTEN_EVERY_MS) return;
    this.#seen.delete(network);
    this.#seen.set(network, now);
    // The map is in the order of logins.
    const gone = [...this.#seen.keys()].slice(0, Math.max(0, this.#seen.size - MOST_ADDRESSES));
    for (const old of gone) this.#seen.delete(old);
    await this.#db.write(async (tx) => {
      await this.#rows.upsert({ network, seenAt: now }, { transaction: tx.t });
      if (gone.length > 0) await this.#rows.destroy({ where: { network: gone }, transaction: tx.t });
    });
  }

  /** Every address is a stranger again; call `load` after the commit. */
  async forget(tx: Tx): Promise<void> {
    await this.#rows.destroy({ where: {}, transaction: tx.t });
  }
}
