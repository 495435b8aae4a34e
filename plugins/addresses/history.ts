// The rows of sightings: written in batches, read for one client, pruned by age and number.
import {
  canonicalAddress,
  type Clock,
  type Database,
  type LiveSettings,
  networkOf,
  type Principal,
  SerialQueue,
  type Tx,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { repeatedWrite } from '../cluster/contract.js';
import { afterAddressesClear } from './contract.js';
import type { addressSettings } from './settings.js';
import { RECENT_MS, type SeenRow, type Sightings } from './sightings.js';

const DAY_MS = 86_400_000;
/** Rows that one statement writes or deletes at most: other writes wait for it. */
const AT_ONCE = 5_000;
const MOST_OF_CLIENT = 100;
const MOST_ROWS = 1_000_000;
const SELECT =
  'SELECT client_id AS clientId, panel, network, address, first_seen AS firstSeen, last_seen AS lastSeen FROM addresses_seen';
const COLUMNS = {
  client_id: 'integer',
  panel: 'text',
  network: 'text',
  address: 'text',
  first_seen: 'integer',
  last_seen: 'integer',
} as const;

export class History {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #settings: LiveSettings<typeof addressSettings>;
  readonly #sightings: Sightings;
  readonly #audit: AuditTrailApi | undefined;
  /** A flush must not write what a call clears. */
  readonly #queue = new SerialQueue();

  constructor({
    db,
    clock,
    settings,
    sightings,
    audit,
  }: {
    db: Database;
    clock: Clock;
    settings: LiveSettings<typeof addressSettings>;
    sightings: Sightings;
    audit?: AuditTrailApi | undefined;
  }) {
    this.#audit = audit;
    this.#db = db;
    this.#clock = clock;
    this.#settings = settings;
    this.#sightings = sightings;
  }

  /** Takes the last half hour into memory. */
  async start(): Promise<void> {
    const now = this.#clock.now();
    const rows = await this.#db.query<SeenRow>(
      `${SELECT} WHERE last_seen > :since AND last_seen <= :now ORDER BY last_seen DESC LIMIT 200000`,
      { since: now - RECENT_MS, now },
    );
    for (const row of rows.reverse()) this.#sightings.restore(numbersOf(row));
  }

  /** Writes what is new, and times that moved on by minutes. If that fails, it is part of the next call. */
  flush(): Promise<void> {
    return this.#queue.run(async () => {
      const unwritten = this.#sightings.takeUnwritten();
      for (let from = 0; from < unwritten.length; from += AT_ONCE) {
        const taken = unwritten.slice(from, from + AT_ONCE);
        const times = taken.map(({ lastSeen }) => lastSeen);
        try {
          await repeatedWrite(this.#db, (tx) => this.#write(tx, taken));
        } catch (error) {
          this.#sightings.handBack(unwritten.slice(from));
          throw error;
        }
        for (const [i, sighting] of taken.entries()) sighting.written = times[i] ?? 0;
      }
    });
  }

  /** See `AddressArrivals`. */
  adopt(
    seen: readonly { readonly clientId: number; readonly ip: string; readonly lastSeen: number }[],
  ): Promise<number> {
    return this.#queue.run(async () => {
      const latest = new Map<string, SeenRow & { written: number }>();
      let count = 0;
      for (const { clientId, ip, lastSeen: at } of seen) {
        const address = canonicalAddress(ip);
        if (address === undefined) continue;
        count++;
        const lastSeen = Math.min(at, this.#clock.now());
        const network = networkOf(address);
        const key = `${clientId} ${network}`;
        const known = latest.get(key);
        if (known && known.lastSeen >= lastSeen) continue;
        latest.set(key, { clientId, panel: '', network, address, firstSeen: lastSeen, lastSeen, written: 0 });
      }
      const rows = [...latest.values()];
      if (rows.length > 0) await repeatedWrite(this.#db, (tx) => this.#write(tx, rows));
      for (const { clientId, address, lastSeen } of rows) this.#sightings.note(clientId, address, lastSeen);
      return count;
    });
  }

  async #write(tx: Tx, sightings: readonly (SeenRow & { readonly written: number })[]): Promise<void> {
    const { rows, incoming, greatest, onConflict } = tx.sql;
    const names = Object.keys(COLUMNS);
    await tx.run(
      `INSERT INTO addresses_seen (${names.join(', ')})
       SELECT ${names.map((name) => `j.${name}`).join(', ')} FROM ${rows(COLUMNS)} AS j JOIN clients ON clients.id = j.client_id WHERE true
       ${onConflict('client_id, panel, network', `address = ${incoming('address')}, last_seen = ${greatest}(addresses_seen.last_seen, ${incoming('last_seen')})`)}`,
      {
        rows: JSON.stringify(
          sightings.map(({ clientId, panel, network, address, firstSeen, lastSeen }) => [
            clientId,
            panel,
            network,
            address,
            firstSeen,
            lastSeen,
          ]),
        ),
      },
    );
    const grown = new Set(sightings.filter(({ written }) => written === 0).map(({ clientId }) => clientId));
    if (grown.size > 0) await this.#trim(tx, [...grown]);
  }

  /** Leaves each of these clients its newest rows. */
  async #trim(tx: Tx, clientIds: readonly number[]): Promise<void> {
    const full = await tx.query<{ id: number }>(
      `SELECT client_id AS id FROM addresses_seen WHERE client_id IN (:clientIds) GROUP BY client_id HAVING count(*) > ${MOST_OF_CLIENT}`,
      { clientIds },
    );
    for (const { id } of full) {
      const surplus = await tx.query<{ panel: string; network: string }>(
        `SELECT panel, network FROM addresses_seen WHERE client_id = :id ORDER BY last_seen DESC LIMIT 1000 OFFSET ${MOST_OF_CLIENT}`,
        { id },
      );
      for (const { panel, network } of surplus)
        await tx.run(
          'DELETE FROM addresses_seen WHERE client_id = :id AND panel = :panel AND network = :network',
          { id, panel, network },
        );
    }
  }

  /** From where a client connected, newest first: the database with what memory knows better. */
  async of(clientId: number): Promise<SeenRow[]> {
    const found = await this.#db.query<SeenRow>(
      `${SELECT} WHERE client_id = :clientId ORDER BY last_seen DESC LIMIT ${MOST_OF_CLIENT}`,
      { clientId },
    );
    const rows = new Map<string, SeenRow>();
    for (const row of found) rows.set(`${row.panel} ${row.network}`, numbersOf(row));
    for (const row of this.#sightings.of(clientId)) {
      const key = `${row.panel} ${row.network}`;
      rows.set(key, { ...row, firstSeen: rows.get(key)?.firstSeen ?? row.firstSeen });
    }
    const oldest = this.#clock.now() - this.#settings.read().addressDays * DAY_MS;
    return [...rows.values()]
      .filter(({ lastSeen }) => lastSeen > oldest)
      .sort((a, b) => b.lastSeen - a.lastSeen);
  }

  /** Forgets from where a client connected, in all panels. */
  clear(
    { id: clientId, email }: { readonly id: number; readonly email: string },
    who: Principal,
  ): Promise<void> {
    return this.#queue.run(async () => {
      await repeatedWrite(this.#db, async (tx) => {
        await tx.run('DELETE FROM addresses_seen WHERE client_id = :clientId', { clientId });
        await this.#audit?.record(tx, 'addresses', who, [
          { kind: 'deleted', name: email, id: clientId, before: {}, after: undefined },
        ]);
        tx.after(afterAddressesClear, { clientId });
      });
    });
  }

  /** Deletes rows that are too old or too many, some at a time. */
  async prune(signal: AbortSignal): Promise<void> {
    const oldest = this.#clock.now() - this.#settings.read().addressDays * DAY_MS;
    for (let left = true; left && !signal.aborted; ) left = await this.#deleteSome(oldest);
    const [{ count = 0 } = {}] = await this.#db.query<{ count: number }>(
      'SELECT count(*) AS count FROM addresses_seen',
    );
    for (let over = Number(count) - MOST_ROWS; over > 0 && !signal.aborted; over -= AT_ONCE) {
      const [end] = await this.#db.query<{ seen: number }>(
        `SELECT last_seen AS seen FROM addresses_seen ORDER BY last_seen LIMIT 1 OFFSET ${Math.min(over, AT_ONCE) - 1}`,
      );
      if (!end) return;
      await repeatedWrite(this.#db, (tx) =>
        tx.run('DELETE FROM addresses_seen WHERE last_seen <= :seen', { seen: Number(end.seen) }),
      );
    }
  }

  /** Returns whether rows older than that are left. */
  async #deleteSome(oldest: number): Promise<boolean> {
    const [end] = await this.#db.query<{ seen: number }>(
      `SELECT last_seen AS seen FROM addresses_seen WHERE last_seen <= :oldest ORDER BY last_seen LIMIT 1 OFFSET ${AT_ONCE}`,
      { oldest },
    );
    const seen = end ? Number(end.seen) : oldest;
    await repeatedWrite(this.#db, (tx) =>
      tx.run('DELETE FROM addresses_seen WHERE last_seen <= :seen', { seen }),
    );
    return end !== undefined;
  }

  /** Writes everything that memory knows better. */
  async stop(): Promise<void> {
    this.#sightings.markAll();
    await this.flush();
  }
}

/** Databases return large integers as they like. */
const numbersOf = (row: SeenRow): SeenRow => ({
  ...row,
  clientId: Number(row.clientId),
  firstSeen: Number(row.firstSeen),
  lastSeen: Number(row.lastSeen),
});
