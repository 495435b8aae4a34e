// The readings of the last polls. A poll appends one row for all counters that moved; every minute the latest reading of
// each counter moves to the table of baselines.
import { type Database, TimeSlice, type Tx } from '../../kernel/index.js';
import type { Reading } from './baselines.js';

/** A minute of polls; more than that is not held in memory at once. */
const MOST_ROWS = 12;
/** Counters of one row, and of one statement: a longer text holds the event loop. */
const ROW_SIZE = 10_000;
const BATCH_SIZE = 5000;
const COUNTER = { client_id: 'integer', inbound_id: 'integer', up: 'integer', down: 'integer' } as const;

type Counter = readonly [clientId: number, inboundId: number, up: number, down: number];
interface Row {
  readonly number: number;
  readonly epoch: string;
  readonly counters: string;
}

export class ReadingJournal {
  readonly #db: Database;
  #rows = 0;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  /** Calls `use` with the readings of clients that exist, oldest first. */
  async each(use: (reading: Reading) => void): Promise<void> {
    const rows = await this.#read();
    this.#rows = rows.length;
    for (const { epoch, counters } of rows) {
      const readings = JSON.parse(counters) as Counter[];
      const exists = await this.#existing(readings.map(([clientId]) => clientId));
      for (const [clientId, inboundId, up, down] of readings)
        if (exists.has(clientId)) use({ clientId, inboundId, epoch, up, down });
    }
  }

  async append(tx: Tx, readings: readonly Reading[]): Promise<void> {
    for (let from = 0; from < readings.length; from += ROW_SIZE) {
      const some = readings.slice(from, from + ROW_SIZE);
      this.#rows++;
      await tx.run('INSERT INTO traffic_readings (epoch, counters) VALUES (:epoch, :counters)', {
        epoch: readings[0]?.epoch ?? '',
        counters: JSON.stringify(
          some.map(({ clientId, inboundId, up, down }): Counter => [clientId, inboundId, up, down]),
        ),
      });
    }
  }

  /** Call it after a poll, before the next one begins: only polls append. A crash halfway loses nothing, as rows stay until all of them have moved. */
  async moveOn(): Promise<void> {
    if (this.#rows < MOST_ROWS) return;
    const rows = await this.#read();
    const last = rows.at(-1);
    if (!last) return;
    for (const [epoch, latest] of await latestByEpoch(rows)) {
      const counters = [...latest.values()];
      for (let from = 0; from < counters.length; from += BATCH_SIZE)
        await this.#db.write((tx) => store(tx, epoch, counters.slice(from, from + BATCH_SIZE)));
    }
    await this.#db.write((tx) =>
      tx.run('DELETE FROM traffic_readings WHERE number <= :number', { number: last.number }),
    );
    this.#rows = 0;
  }

  #read(): Promise<Row[]> {
    return this.#db.query<Row>('SELECT number, epoch, counters FROM traffic_readings ORDER BY number');
  }

  async #existing(ids: readonly number[]): Promise<Set<number>> {
    const rows = await this.#db.query<{ id: number }>(
      `SELECT clients.id FROM ${this.#db.sql.rows({ id: 'integer' })} AS j JOIN clients ON clients.id = j.id`,
      { rows: JSON.stringify(ids.map((id) => [id])) },
    );
    return new Set(rows.map(({ id }) => id));
  }
}

/** The latest reading of each counter from each core, in the order of the cores. */
async function latestByEpoch(rows: readonly Row[]): Promise<Map<string, Map<string, Counter>>> {
  const byEpoch = new Map<string, Map<string, Counter>>();
  const slice = new TimeSlice();
  for (const { epoch, counters } of rows) {
    let latest = byEpoch.get(epoch);
    if (!latest) byEpoch.set(epoch, (latest = new Map()));
    for (const counter of JSON.parse(counters) as Counter[]) {
      if (slice.isOver) await slice.next();
      latest.set(`${counter[0]} ${counter[1]}`, counter);
    }
  }
  return byEpoch;
}

/** The join leaves out clients that were deleted meanwhile. */
async function store(tx: Tx, epoch: string, counters: readonly Counter[]): Promise<void> {
  const { rows, incoming, onConflict } = tx.sql;
  const set = ['epoch', 'up', 'down'].map((column) => `${column} = ${incoming(column)}`).join(', ');
  await tx.run(
    `INSERT INTO traffic_baselines (client_id, inbound_id, epoch, up, down)
     SELECT j.client_id, j.inbound_id, :epoch, j.up, j.down FROM ${rows(COUNTER)} AS j JOIN clients ON clients.id = j.client_id WHERE true
     ${onConflict('client_id, inbound_id', set)}`,
    // Neighbours in a table are written faster.
    { epoch, rows: JSON.stringify(counters.toSorted(([a, i], [b, j]) => a - b || i - j)) },
  );
}
