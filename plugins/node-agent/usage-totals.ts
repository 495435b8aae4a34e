// What a central is told about usage, page by page, and what it has taken.
import type { Clock, Database, Log, Tx } from '../../kernel/index.js';
import type { Centrals } from './centrals.js';
import type { Epochs } from './epochs.js';
import { errors } from './errors.js';
import type { CentralRow, EpochRow } from './tables.js';
import { BATCH_SIZE, type UsageJournal } from './usage-journal.js';

/** Totals of one reply; a seq is never divided. */
const MOST_USERS = 10_000;
/** New epochs that centrals cause are so far apart: each leaves out a poll, and only sixteen are kept, for all centrals. */
const REWOUND_EVERY_MS = 10 * 60_000;
/** Totals of a deleted client stay this long after its deletion: its last bytes come with later polls. */
const LATE_MS = 24 * 3_600_000;
/** Deleted records of a central that are kept, so that no late message brings them back. */
const MOST_DELETED = 100_000;

export interface ToldUsage {
  readonly clientId: number;
  readonly inboundId: number;
  readonly up: number;
  readonly down: number;
}
export interface ToldEpoch {
  readonly epoch: string;
  /** the totals are complete up to this one */
  readonly seq: number;
  readonly isCurrent: boolean;
  /** ask again, after `seq` */
  readonly more: boolean;
  readonly users: readonly ToldUsage[];
}

export class UsageTotals {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #centrals: Centrals;
  readonly #epochs: Epochs;
  readonly #journal: UsageJournal;
  #rewoundAt = -Infinity;

  constructor(needs: {
    db: Database;
    clock: Clock;
    log: Log;
    centrals: Centrals;
    epochs: Epochs;
    journal: UsageJournal;
  }) {
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#centrals = needs.centrals;
    this.#epochs = needs.epochs;
    this.#journal = needs.journal;
  }

  /** Totals that changed after `after` in this epoch, and all of other epochs that the central has not acknowledged. */
  async read(guid: string, epoch: string, after: number): Promise<readonly ToldEpoch[]> {
    const central = this.#centrals.get(guid);
    await this.#journal.move();
    const isRewound = await this.#refuteRewound(epoch, after);
    const told: ToldEpoch[] = [];
    let room = MOST_USERS;
    for (const one of await this.#epochs.all()) {
      const isCurrent = one.number === this.#epochs.current.number;
      const start = one.epoch !== epoch ? 0 : isRewound ? one.seq : after;
      const page = await this.#page(central, one, start, room);
      if (isCurrent) await this.#epochs.telling(one.number, page.seq);
      if (isCurrent || page.users.length > 0 || page.more) told.push({ ...page, isCurrent });
      room -= page.users.length;
    }
    return told;
  }

  /** A central that has taken more than there is knows a database that was here before this one. */
  async #refuteRewound(epoch: string, after: number): Promise<boolean> {
    const { epoch: current, number } = this.#epochs.current;
    if (epoch !== current) return false;
    const now = (await this.#epochs.all()).find((one) => one.number === number);
    if (!now || after <= now.seq) return false;
    // Such a central is told nothing more of this epoch until then.
    if (this.#clock.now() - this.#rewoundAt < REWOUND_EVERY_MS) return true;
    this.#rewoundAt = this.#clock.now();
    this.#log.warn(
      'a central has taken more usage than this database has: it is an older one; a new epoch of usage begins',
      {
        epoch,
        seq: now.seq,
        after,
      },
    );
    await this.#epochs.begin(true);
    return true;
  }

  async #page(central: CentralRow, { number, epoch, seq }: EpochRow, after: number, room: number) {
    if (room <= 0) {
      const isMore = await this.#hasMore(central, number, after);
      return { epoch, seq: after, more: isMore, users: [] };
    }
    const most = Math.max(room, BATCH_SIZE);
    const rows = await this.#db.query<ToldUsage & { seq: number }>(
      `SELECT client_id AS "clientId", inbound_id AS "inboundId", up, down, seq FROM node_agent_usage
       WHERE central = :central AND epoch = :number AND seq > :after ORDER BY seq, client_id, inbound_id LIMIT :limit`,
      { central: central.id, number, after, limit: most + 1 },
    );
    const more = rows.length > most;
    const cut = more ? Number(rows.at(-1)?.seq) : Infinity;
    const users = rows.flatMap(({ clientId, inboundId, up, down, seq: of }) =>
      Number(of) < cut
        ? [{ clientId: Number(clientId), inboundId: Number(inboundId), up: Number(up), down: Number(down) }]
        : [],
    );
    return { epoch, seq: more ? cut - 1 : Math.max(seq, after, Number(rows.at(-1)?.seq ?? 0)), more, users };
  }

  async #hasMore(central: CentralRow, number: number, after: number): Promise<boolean> {
    const found = await this.#db.query<{ one: number }>(
      'SELECT 1 AS one FROM node_agent_usage WHERE central = :central AND epoch = :number AND seq > :after LIMIT 1',
      { central: central.id, number, after },
    );
    return found.length > 0;
  }

  /** Totals of an epoch that is over go when all are taken; those of the current one stay, because they still grow. */
  async acknowledge(guid: string, epoch: string, seq: number): Promise<void> {
    const central = this.#centrals.get(guid);
    const known = (await this.#epochs.all()).find((one) => one.epoch === epoch);
    if (!known) throw errors.NO_EPOCH(undefined, { path: 'epoch' });
    if (known.number === this.#epochs.current.number) {
      const taken = Math.min(seq, known.seq);
      if (central.ackedEpoch !== epoch || central.ackedSeq !== taken)
        await this.#db.write((tx) => this.#centrals.acknowledged(tx, central, epoch, taken));
      return;
    }
    let isMore = true;
    while (isMore) isMore = await this.#deleteTaken(central, known, seq);
  }

  async #deleteTaken(central: CentralRow, { number }: EpochRow, seq: number): Promise<boolean> {
    const given = { central: central.id, number, seq };
    const where = 'central = :central AND epoch = :number AND seq <= :seq';
    const [first] = await this.#db.query<{ first: number | null }>(
      `SELECT min(seq) AS first FROM node_agent_usage WHERE ${where}`,
      given,
    );
    if (first?.first === null || first === undefined) return false;
    await this.#db.write(async (tx) => {
      await tx.run(`DELETE FROM node_agent_usage WHERE ${where} AND seq <= :first`, {
        ...given,
        first: first.first,
      });
      await this.#dropEmpty(tx, number);
    });
    return true;
  }

  async #dropEmpty(tx: Tx, number: number): Promise<void> {
    const [left] = await tx.query<{ one: number }>(
      'SELECT 1 AS one FROM node_agent_usage WHERE epoch = :number UNION SELECT 1 FROM node_agent_journal WHERE epoch = :number',
      { number },
    );
    if (!left) await tx.run('DELETE FROM node_agent_epochs WHERE number = :number', { number });
  }

  /** Removes the totals of clients that their central deleted, once it has taken them, and the oldest of very many deleted records. */
  async prune(): Promise<void> {
    if (this.#centrals.isEmpty) return;
    // A machine that has slept for a day may have bytes of a deleted client that are not in its total yet.
    await this.#journal.move();
    for (const { id } of this.#centrals.list()) await this.#forgetDeleted(id);
    const { epoch, number } = this.#epochs.current;
    for (const { id: central, ackedEpoch, ackedSeq } of this.#centrals.list())
      if (ackedEpoch === epoch)
        await this.#db.write((tx) =>
          tx.run(
            `DELETE FROM node_agent_usage WHERE central = :central AND epoch = :number AND seq <= :ackedSeq AND client_id IN (
              SELECT id FROM node_agent_records WHERE central = :central AND kind = 'client' AND is_gone = 1 AND changed_at < :before)`,
            { central, number, ackedSeq, before: this.#clock.now() - LATE_MS },
          ),
        );
  }

  async #forgetDeleted(central: number): Promise<void> {
    const [oldest] = await this.#db.query<{ at: number }>(
      `SELECT changed_at AS at FROM node_agent_records WHERE central = :central AND is_gone = 1 ORDER BY changed_at DESC LIMIT 1 OFFSET ${MOST_DELETED}`,
      { central },
    );
    if (oldest)
      await this.#db.write((tx) =>
        tx.run(
          'DELETE FROM node_agent_records WHERE central = :central AND is_gone = 1 AND changed_at <= :at',
          {
            central,
            at: Math.min(oldest.at, this.#clock.now() - LATE_MS),
          },
        ),
      );
  }
}
