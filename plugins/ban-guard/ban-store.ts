// Bans: rows, and memory that follows them. A row stays for an hour after its end: what was seen before that does not count.
import type { Clock, Database, Principal, Projection, Row, Tx } from '../../kernel/index.js';
import { repeated, repeatedWrite } from '../cluster/contract.js';
import {
  addressesBanned,
  addressesUnbanned,
  type BanFacts,
  type BanReason,
  type BanTarget,
  duringBanSave,
} from './contract.js';
import type { BanTables, tables } from './tables.js';
import { keyOf } from './target.js';

type BanRow = Row<(typeof tables)['bans']>;
/** What nftables and fail2ban list within a second. */
export const MOST_BANS = 10_000;
const KEPT_MS = 3_600_000;
const PORTION = 250;

export interface NewBan extends BanTarget {
  readonly reason: BanReason;
  readonly clientId: number;
  readonly email: string;
  readonly driver: string;
  readonly minutes: number;
}
interface Change {
  readonly set?: readonly BanRow[];
  readonly removed?: readonly string[];
}

const factsOf = ({
  address,
  scope,
  reason,
  clientId,
  email,
  driver,
  bannedAt,
  endsAt,
}: BanRow): BanFacts => ({
  address,
  scope,
  reason,
  clientId,
  email,
  driver,
  since: bannedAt,
  until: endsAt,
});

export class BanStore {
  readonly #db: Database;
  readonly #rows: BanTables['bans'];
  readonly #clock: Clock;
  readonly #memory: Projection<Map<string, BanRow>, Change>;
  /** how often memory has changed, by this panel and by others of the same database */
  changes = 0;

  constructor({ db, tables, clock }: { db: Database; tables: BanTables; clock: Clock }) {
    this.#db = db;
    this.#rows = tables.bans;
    this.#clock = clock;
    this.#memory = db.projection<Map<string, BanRow>, Change>({
      load: async () =>
        new Map((await this.#rows.findAll()).map((row) => [row.get().id, row.get()] as const)),
      apply: (memory, { set = [], removed = [] }) => {
        this.changes += 1;
        for (const row of set) memory.set(row.id, row);
        for (const id of removed) memory.delete(id);
      },
    });
  }

  /** Bans in force, those that end last first. */
  list(): BanFacts[] {
    const now = this.#clock.now();
    return [...this.#memory.state.values()]
      .filter(({ endsAt }) => endsAt > now)
      .sort((a, b) => b.endsAt - a.endsAt || (a.id < b.id ? -1 : 1))
      .map(factsOf);
  }
  /** The present or last ban. */
  get(target: BanTarget): BanFacts | undefined {
    const row = this.#memory.state.get(keyOf(target));
    return row && factsOf(row);
  }
  isBanned(target: BanTarget): boolean {
    return (this.get(target)?.until ?? 0) > this.#clock.now();
  }
  get room(): number {
    const now = this.#clock.now();
    let active = 0;
    for (const { endsAt } of this.#memory.state.values()) if (endsAt > now) active++;
    return MOST_BANS - active;
  }

  /** Stores bans, replacing those of the same address. `who` is the admin who bans; undefined where the panel decides. */
  async add(bans: readonly NewBan[], who?: Principal): Promise<readonly BanFacts[]> {
    if (bans.length === 0) return [];
    return repeatedWrite(this.#db, async (tx) => {
      const now = this.#clock.now();
      const rows = bans.map(({ minutes, ...ban }) => ({
        ...ban,
        id: keyOf(ban),
        bannedAt: now,
        endsAt: now + Math.round(minutes * 60_000),
      }));
      await this.#put(tx, rows);
      const facts = rows.map(factsOf);
      if (who)
        await tx.during(duringBanSave, {
          changes: facts.map((after) => ({ kind: 'added' as const, before: undefined, after })),
          who,
        });
      tx.emit(addressesBanned, { bans: facts });
      return facts;
    });
  }

  /** Ends bans that are in force; resolves with them. */
  async end(targets: readonly BanTarget[], who?: Principal): Promise<readonly BanFacts[]> {
    // Where nobody bans, this is asked every half minute.
    if (targets.length === 0) return [];
    return repeatedWrite(this.#db, async (tx) => {
      const now = this.#clock.now();
      const rows = targets.flatMap((target) => {
        const row = this.#memory.state.get(keyOf(target));
        return row && row.endsAt > now ? [row] : [];
      });
      if (rows.length === 0) return [];
      await this.#put(
        tx,
        rows.map((row) => ({ ...row, endsAt: now })),
      );
      const facts = rows.map(factsOf);
      if (who)
        await tx.during(duringBanSave, {
          changes: facts.map((before) => ({ kind: 'deleted' as const, before, after: undefined })),
          who,
        });
      tx.emit(addressesUnbanned, { bans: facts });
      return facts;
    });
  }

  /** Another driver carries them out from now on. */
  async moveTo(driver: string): Promise<void> {
    await repeated(async () => {
      const now = this.#clock.now();
      const moved = [...this.#memory.state.values()].filter(
        (row) => row.endsAt > now && row.driver !== driver,
      );
      if (moved.length === 0) return;
      await this.#db.write((tx) =>
        this.#put(
          tx,
          moved.map((row) => ({ ...row, driver })),
        ),
      );
    });
  }

  async prune(): Promise<void> {
    const before = this.#clock.now() - KEPT_MS;
    const removed = [...this.#memory.state.values()].filter(({ endsAt }) => endsAt < before);
    if (removed.length === 0) return;
    await this.#db.write(async (tx) => {
      await tx.run('DELETE FROM ban_guard_bans WHERE ends_at < :before', { before });
      tx.apply(this.#memory, { removed: removed.map(({ id }) => id) });
    });
  }

  async #put(tx: Tx, rows: readonly BanRow[]): Promise<void> {
    // Sequelize makes one text of all of them, and nothing else runs meanwhile.
    for (let i = 0; i < rows.length; i += PORTION) {
      const some = rows.slice(i, i + PORTION);
      await this.#rows.destroy({ where: { id: some.map(({ id }) => id) }, transaction: tx.t });
      await this.#rows.bulkCreate(some, { transaction: tx.t });
    }
    tx.apply(this.#memory, { set: rows });
  }
}
