// Seals and opens secrets of the listed columns, and seals everything again after a change of keys.
import {
  type Clock,
  type Contributed,
  type Database,
  type Log,
  type PluginContext,
  SerialQueue,
} from '../../kernel/index.js';
import type { Columns, OwnedColumn, SealedRow } from './columns.js';
import { type SealedColumn, SealedColumns, type SecretsApi } from './contract.js';
import type { Keyring } from './keyring.js';
import { isSealed, type Key, keyIdOf, seal, unseal } from './sealed-text.js';

/** A limit, because each line of the key file is read at the start. */
const MOST_PREVIOUS = 16;
/** Longer than a write can wait in the queue: after it, no new row is sealed with the previous key. */
const GRACE_MS = 10 * 60_000;

export interface Resealed {
  readonly count: number;
  /** one sentence for each value that could not be opened; it keeps its key from being deleted */
  readonly problems: readonly string[];
}

export class SecretsService implements SecretsApi {
  readonly #db: Database;
  readonly #contributions: PluginContext['contributions'];
  readonly #columns: Columns;
  readonly #keyring: Keyring;
  readonly #clock: Clock;
  readonly #log: Log;
  #owners = new Map<SealedColumn, OwnedColumn>();
  /** since when the previous keys only open; 0 when they can be deleted */
  #changedAt = 0;
  readonly #queue = new SerialQueue();

  constructor({
    db,
    contributions,
    columns,
    keyring,
    clock,
    log,
  }: {
    db: Database;
    contributions: PluginContext['contributions'];
    columns: Columns;
    keyring: Keyring;
    clock: Clock;
    log: Log;
  }) {
    this.#db = db;
    this.#contributions = contributions;
    this.#columns = columns;
    this.#keyring = keyring;
    this.#clock = clock;
    this.#log = log;
  }

  /** Also completes an interrupted change of keys. */
  async start(): Promise<void> {
    const entries = this.#contributions(SealedColumns);
    this.#owners = new Map(entries.map((entry) => [entry.value, owned(entry)]));
    await this.#columns.remember(entries);
    await this.#keyring.load();
    await this.retire();
    if (this.#keyring.isGiven && this.#keyring.previous.length > 0)
      this.#log.info('there are previous keys for secrets; run weir secrets rotate', {
        key: this.#keyring.current.id,
        previous: this.#keyring.previous.map(({ id }) => id),
      });
  }

  seal(column: SealedColumn, key: string | number, secret: string): string {
    return seal(this.#keyring.current, secret, { ...this.#owner(column), key: String(key) });
  }

  open(column: SealedColumn, key: string | number, sealed: string): string {
    return this.#open(this.#owner(column), key, sealed);
  }

  /** Seals everything with a new key, or with the first one of `WEIR_SECRET_KEY`. The previous one is retained until nothing can need it. */
  rotate(): Promise<Resealed & { readonly key: string }> {
    return this.#queue.run(async () => {
      if (!this.#keyring.isGiven && this.#keyring.previous.length >= MOST_PREVIOUS)
        throw new Error(
          `${MOST_PREVIOUS} previous keys are still kept; restart the panel, which deletes them, or see its log for why it cannot`,
        );
      const key = this.#keyring.isGiven ? this.#keyring.current : await this.#keyring.add();
      this.#changedAt = this.#clock.now();
      return { ...(await this.#resealAll()), key: key.id };
    });
  }

  /** Deletes previous keys when nothing is sealed with them. */
  retire(): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#keyring.isGiven || this.#keyring.previous.length === 0) return;
      if (this.#changedAt !== 0 && this.#clock.now() < this.#changedAt + GRACE_MS) return;
      const { problems } = await this.#resealAll();
      for (const problem of problems) this.#log.warn('keeping a previous key for secrets', { problem });
      if (problems.length > 0) return;
      await this.#keyring.dropPrevious();
      this.#changedAt = 0;
      this.#log.info('deleted a previous key for secrets', { key: this.#keyring.current.id });
    });
  }

  #owner(column: SealedColumn): OwnedColumn {
    const found = this.#owners.get(column);
    if (!found)
      throw new Error(
        `nothing may be sealed for ${column.table}.${column.column}: contribute that column to SealedColumns, and give the same object to seal and open`,
      );
    return found;
  }

  #open(column: OwnedColumn, key: string | number, sealed: string): string {
    const place = `the secret in ${column.table}.${column.column} of ${String(key).slice(0, 100)}`;
    const id = keyIdOf(sealed);
    if (id === undefined)
      throw new Error(`${place} ${isSealed(sealed) ? 'was cut or changed' : 'is not sealed'}; set it again`);
    const used = this.#keyring.withId(id);
    if (!used) throw new Error(`${place} is sealed with the key ${id}, which is missing; set it again`);
    const secret = unseal(used, sealed, { ...column, key: String(key) });
    if (secret === undefined)
      throw new Error(`${place} was changed, or sealed for another place; set it again`);
    return secret;
  }

  /** Uses one transaction for each column: it has either the old or the new values. */
  async #resealAll(): Promise<Resealed> {
    const problems: string[] = [];
    let count = 0;
    for (const column of await this.#columns.all())
      await this.#db.write(async (tx) => {
        const { current } = this.#keyring;
        for (const row of await this.#columns.sealed(column, { tx })) {
          const next = this.#resealed(column, row, current, problems);
          if (next === undefined) continue;
          await this.#columns.replace(tx, column, row, next);
          count++;
        }
      });
    return { count, problems };
  }

  /** Returns undefined if there is nothing to do: sealed with this key already, or with a missing one. */
  #resealed(column: OwnedColumn, row: SealedRow, current: Key, problems: string[]): string | undefined {
    const id = keyIdOf(row.value);
    if (id === current.id || (id !== undefined && !this.#keyring.withId(id))) return undefined;
    try {
      return seal(current, this.#open(column, row.key, row.value), { ...column, key: String(row.key) });
    } catch (error) {
      problems.push((error as Error).message);
      return undefined;
    }
  }
}

const owned = ({ plugin, value: { table, key, column } }: Contributed<SealedColumn>): OwnedColumn => ({
  plugin,
  table,
  key,
  column,
});
