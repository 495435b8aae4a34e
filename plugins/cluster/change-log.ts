// The changes of memory in the database: each write that has some stores them under its number, in its own transaction.
import type { After, Committed, Database, Log, Projection, Tx } from '../../kernel/index.js';
import { messageOf } from '../../kernel/index.js';
import type { SecretsApi } from '../secrets/contract.js';
import { NOW } from './database-clock.js';
import { decode, encode } from './encoded.js';
import { sealedChange } from './tables.js';

/** Sealed text holds 64 KiB, in base64. */
const PART_BYTES = 48_000;
/** More than this costs others less to read again: they start again. */
const MOST_BYTES = 8 * 1024 * 1024;
/** So many runs of the job, one a minute, leave a change; a panel that is further behind starts again. */
const KEPT_RUNS = 10;
const TOO_LARGE = '';

type Change = readonly [projection: string, change: unknown];
type AfterCall = readonly [hook: string, payload: unknown];
type Stored = { readonly changes: readonly Change[]; readonly afters: readonly AfterCall[] };
interface Part {
  readonly id: string;
  readonly seq: number;
  readonly body: string;
}
type Projections = readonly Projection<object, unknown>[];

/** This panel cannot follow the others by their changes. */
export class CannotFollow extends Error {}

export class ChangeLog {
  readonly #db: Database;
  readonly #log: Log;
  readonly #secrets: SecretsApi;
  readonly #projections: Projections;
  readonly #said = new Set<string>();
  /** the last numbers at the latest runs of the job: the clocks of several database servers may differ */
  readonly #marks: number[] = [];

  constructor({
    db,
    log,
    secrets,
    projections,
  }: { db: Database; log: Log; secrets: SecretsApi; projections: Projections }) {
    this.#db = db;
    this.#log = log;
    this.#secrets = secrets;
    this.#projections = projections;
  }

  /** The same in each panel with the same plugins: the owner, and which of its projections. */
  #nameOf(projection: Projection<object, unknown>): string {
    const { plugin } = projection;
    return `${plugin}/${this.#projections.filter((other) => other.plugin === plugin).indexOf(projection)}`;
  }

  #byName(): ReadonlyMap<string, Projection<object, unknown>> {
    return new Map(this.#projections.map((projection) => [this.#nameOf(projection), projection]));
  }

  async add(tx: Tx, seq: number, { changes, afters }: Omit<Committed, 'commit'>): Promise<void> {
    const text = this.#textOf({
      changes: changes.map(([projection, change]): Change => [this.#nameOf(projection), change]),
      afters: afters.map(([{ id }, payload]): AfterCall => [id, payload]),
    });
    const bytes = Buffer.from(text);
    const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
    for (let part = 0; part < parts; part++) {
      const id = `${seq}.${part}`;
      const piece = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES).toString('base64');
      await tx.run(
        `INSERT INTO cluster_changes (id, seq, part, at, body) VALUES (:id, :seq, :part, ${NOW}, :body)`,
        { id, seq, part, body: this.#secrets.seal(sealedChange, id, piece) },
      );
    }
  }

  #textOf(stored: Stored): string {
    try {
      const text = encode(stored);
      return text.length > MOST_BYTES ? TOO_LARGE : text;
    } catch (error) {
      const names = [...stored.changes, ...stored.afters].map(([name]) => name).join(', ');
      if (!this.#said.has(names))
        this.#log.warn('other panels must start again, because a change is no plain data', {
          changed: names,
          problem: messageOf(error),
        });
      this.#said.add(names);
      return TOO_LARGE;
    }
  }

  /** The changes after the number `since`, up to `last`. Rejects with CannotFollow where some of them are gone or were not stored. */
  async after(tx: Tx, since: number, last: number): Promise<Committed[]> {
    const rows = await tx.query<Part>(
      'SELECT id, seq, body FROM cluster_changes WHERE seq > :since ORDER BY seq, part',
      { since },
    );
    const pieces = new Map<number, Buffer[]>();
    for (const { id, seq, body } of rows) {
      const piece = Buffer.from(this.#secrets.open(sealedChange, id, body), 'base64');
      pieces.set(Number(seq), [...(pieces.get(Number(seq)) ?? []), piece]);
    }
    const known = this.#byName();
    const found: Committed[] = [];
    for (let commit = since + 1; commit <= last; commit++) {
      const own = pieces.get(commit);
      if (!own) throw new CannotFollow('it is too far behind the other panels');
      const text = Buffer.concat(own).toString();
      if (text === TOO_LARGE) throw new CannotFollow('another panel has changed more than can be told');
      const { changes, afters } = decode(text) as Stored;
      found.push({
        commit,
        // A plugin that does not run here keeps nothing in memory.
        changes: changes.flatMap(([name, change]) => {
          const projection = known.get(name);
          return projection ? [[projection, change] as const] : [];
        }),
        afters: afters.map(([id, payload]) => [{ kind: 'after', id } as After<unknown>, payload] as const),
      });
    }
    return found;
  }

  /** Deletes what every panel has read. */
  async trim(): Promise<void> {
    await this.#db.write(async (tx) => {
      const [state] = await tx.query<{ last: number }>('SELECT last FROM cluster_state WHERE id = 1');
      const oldest = this.#marks.length < KEPT_RUNS ? 0 : (this.#marks[0] ?? 0);
      await tx.change('DELETE FROM cluster_changes WHERE seq <= :oldest', { oldest });
      this.#marks.splice(0, this.#marks.length - KEPT_RUNS + 1);
      this.#marks.push(Number(state?.last));
    });
  }
}
