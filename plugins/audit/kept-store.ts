// What is kept of changes so that they can be undone: encrypted, for some hours, within a bound of bytes.
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import { type Clock, type Database, TimeSlice, type Tx } from '../../kernel/index.js';
import type { SecretsApi } from '../secrets/contract.js';
import { sealedKept } from './tables.js';
import type { KeptChange } from './undoers.js';

const [compress, decompress] = [promisify(deflateRaw), promisify(inflateRaw)];

/** Characters of one call, as JSON. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Characters that are compressed in this thread: for so few, another one costs four times as much. */
const FEW_CHARACTERS = 8192;
/** Characters of one row: sealed, 64 KiB is the most. */
const PART = 48_000;
/** Of all that is kept, as stored. */
const MOST_BYTES = 64 * 1024 * 1024;
const HOUR_MS = 3_600_000;

/** Whether an entry can be undone. */
export interface Undoable {
  readonly entry: number;
  readonly at: number;
  /** why it cannot; blank when it can */
  readonly reason: string;
  /** the entry that undid it; 0 for none */
  readonly undoneBy: number;
}

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: SecretsApi;
  readonly settings: { read(): { readonly auditUndoHours: number } };
}
const idOf = (entry: number, part: number): string => `${entry}-${part}`;

export class KeptStore {
  readonly #needs: Needs;
  /** Bytes that are kept, at most. */
  #bytes = 0;

  constructor({ db, clock, secrets, settings }: Needs) {
    this.#needs = { db, clock, secrets, settings };
  }

  /** Reads how much is kept. */
  start(): Promise<void> {
    return this.#measure(this.#needs.db);
  }

  /** Unix ms; what is older can no longer be undone. */
  get since(): number {
    const { clock, settings } = this.#needs;
    return clock.now() - settings.read().auditUndoHours * HOUR_MS;
  }

  /** In the write of the change. */
  async keep(tx: Tx, entry: number, at: number, kept: readonly KeptChange[] | string): Promise<void> {
    if (this.#needs.settings.read().auditUndoHours === 0) return;
    const parts = typeof kept === 'string' ? [] : await this.#partsOf(kept);
    const reason = typeof kept === 'string' ? kept : parts ? '' : 'it changed too much to be kept';
    const rows = (parts ?? []).map((text, i) => {
      const id = idOf(entry, i);
      return [id, i === 0 ? reason : '', this.#needs.secrets.seal(sealedKept, id, text)];
    });
    if (rows.length === 0) rows.push([idOf(entry, 0), reason.slice(0, 255), '']);
    this.#bytes += rows.reduce((sum, [, , sealed = '']) => sum + sealed.length, 0);
    if (this.#bytes > MOST_BYTES) await this.#halve(tx);
    await tx.run(
      `INSERT INTO audit_kept (id, entry, at, reason, undone_by, sealed)
       SELECT j.id, :entry, :at, j.reason, 0, j.sealed
       FROM ${tx.sql.rows({ id: 'text', reason: 'text', sealed: 'text' })} AS j`,
      { entry, at, rows: JSON.stringify(rows) },
    );
  }

  async #partsOf(kept: readonly KeptChange[]): Promise<string[] | undefined> {
    let size = 0;
    const texts: string[] = [];
    const slice = new TimeSlice();
    for (const change of kept) {
      if (slice.isOver) await slice.next();
      const text = JSON.stringify(change);
      size += text.length;
      if (size > MOST_CHARACTERS) return undefined;
      texts.push(text);
    }
    const all = `[${texts.join()}]`;
    const packed = (all.length <= FEW_CHARACTERS ? deflateRawSync(all) : await compress(all)).toString(
      'base64',
    );
    return Array.from({ length: Math.ceil(packed.length / PART) }, (_, i) =>
      packed.slice(i * PART, (i + 1) * PART),
    );
  }

  /** The older half goes: it would have gone within hours. */
  async #halve(tx: Tx): Promise<void> {
    const [middle] = await tx.query<{ entry: number }>('SELECT AVG(entry) AS entry FROM audit_kept');
    await tx.run('DELETE FROM audit_kept WHERE entry <= :entry', {
      entry: Math.floor(Number(middle?.entry ?? 0)),
    });
    await this.#measure(tx);
  }

  async #measure(db: Pick<Database, 'query'>): Promise<void> {
    const [sum] = await db.query<{ bytes: number | null }>(
      'SELECT SUM(LENGTH(sealed)) AS bytes FROM audit_kept',
    );
    this.#bytes = Number(sum?.bytes ?? 0);
  }

  /** Of these entries, those of which something is kept, or is known why not. */
  async of(entries: readonly number[]): Promise<Map<number, Undoable>> {
    if (entries.length === 0) return new Map();
    const rows = await this.#needs.db.query<Undoable>(
      'SELECT entry, at, reason, undone_by AS "undoneBy" FROM audit_kept WHERE id IN (:ids)',
      { ids: [...new Set(entries)].map((entry) => idOf(entry, 0)) },
    );
    return new Map(
      rows.map(({ entry, at, reason, undoneBy }) => [
        Number(entry),
        { entry: Number(entry), at: Number(at), reason, undoneBy: Number(undoneBy) },
      ]),
    );
  }

  async read(entry: number): Promise<KeptChange[]> {
    const { db, secrets } = this.#needs;
    const rows = await db.query<{ id: string; sealed: string }>(
      'SELECT id, sealed FROM audit_kept WHERE entry = :entry',
      { entry },
    );
    const parts = rows
      .map(({ id, sealed }) => ({
        part: Number(id.split('-')[1]),
        text: secrets.open(sealedKept, id, sealed),
      }))
      .sort((a, b) => a.part - b.part);
    const packed = Buffer.from(parts.map(({ text }) => text).join(''), 'base64');
    return JSON.parse(String(await decompress(packed))) as KeptChange[];
  }

  /** Inside the write that undoes it; false if another one has. */
  async markUndone(tx: Tx, entry: number, by: number): Promise<boolean> {
    const matched = await tx.change(
      'UPDATE audit_kept SET undone_by = :by WHERE id = :id AND undone_by = 0',
      { id: idOf(entry, 0), by },
    );
    return matched > 0;
  }

  /** Removes what is too old. */
  async sweep(): Promise<void> {
    const { since } = this;
    await this.#needs.db.write((tx) => tx.run('DELETE FROM audit_kept WHERE at < :since', { since }));
    await this.#measure(this.#needs.db);
  }
}
