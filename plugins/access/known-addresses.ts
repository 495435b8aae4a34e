// Remembers the addresses that admins have logged in from, so that failures elsewhere never slow them down.
import type { Clock, Database, Projection, Row, Tx } from '../../kernel/index.js';
import { networksOf } from './networks.js';
import type { AccessTables, tables } from './tables.js';

type AddressRow = Row<typeof tables.addresses>;
/** A login from an address, with the addresses that it displaced. */
interface Remembered extends AddressRow {
  readonly displaced: readonly string[];
}

const DAY_MS = 86_400_000;
/** An address without a login for this long is unknown again. */
const KNOWN_MS = 180 * DAY_MS;
/** A login writes at most once a day for each address. */
const WRITTEN_EVERY_MS = DAY_MS;
const MOST_ADDRESSES = 1000;

export class KnownAddresses {
  readonly #db: Database;
  readonly #rows: AccessTables['addresses'];
  readonly #clock: Clock;
  /** Unix ms of the last written login, by address or IPv6 /64 */
  readonly projection: Projection<Map<string, number>, Remembered | 'forgotten'>;

  constructor({ db, tables: { addresses }, clock }: { db: Database; tables: AccessTables; clock: Clock }) {
    this.#db = db;
    this.#rows = addresses;
    this.#clock = clock;
    this.projection = db.projection<Map<string, number>, Remembered | 'forgotten'>({
      load: async () => {
        const rows = (await this.#rows.findAll({ raw: true })) as unknown as readonly AddressRow[];
        return new Map(rows.map(({ network, seenAt }) => [network, seenAt]));
      },
      apply: (seen, change) => {
        if (change === 'forgotten') return seen.clear();
        seen.set(change.network, change.seenAt);
        for (const network of change.displaced) seen.delete(network);
      },
    });
  }

  has(ip: string): boolean {
    const seenAt = this.projection.state.get(networksOf(ip).own);
    return seenAt !== undefined && seenAt > this.#clock.now() - KNOWN_MS;
  }

  /** Call it after a successful login. */
  async remember(ip: string): Promise<void> {
    const seenAt = this.#clock.now();
    const network = networksOf(ip).own;
    if ((this.projection.state.get(network) ?? 0) > seenAt - WRITTEN_EVERY_MS) return;
    await this.#db.write(async (tx) => {
      await this.#rows.upsert({ network, seenAt }, { transaction: tx.t });
      const displaced = this.projection.state.size < MOST_ADDRESSES ? [] : await this.#surplus(tx);
      if (displaced.length > 0)
        await this.#rows.destroy({ where: { network: displaced }, transaction: tx.t });
      tx.apply(this.projection, { network, seenAt, displaced });
    });
  }

  /** Makes every address unknown. */
  async forget(tx: Tx): Promise<void> {
    await this.#rows.destroy({ where: {}, transaction: tx.t });
    tx.apply(this.projection, 'forgotten');
  }

  /** Lists the addresses beyond the limit, those with the oldest logins. */
  async #surplus({ t: transaction }: Tx): Promise<string[]> {
    const order: [string, string][] = [
      ['seenAt', 'DESC'],
      ['network', 'ASC'],
    ];
    const rows = await this.#rows.findAll({
      raw: true,
      order,
      offset: MOST_ADDRESSES,
      limit: MOST_ADDRESSES,
      transaction,
    });
    return (rows as unknown as readonly AddressRow[]).map(({ network }) => network);
  }
}
