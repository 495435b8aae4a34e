// Jobs: rows, and memory that follows them. Filters stay in the database.
import type { Database, Projection, Tx } from '../../kernel/index.js';
import type { ClientFilter } from '../clients/contract.js';
import { errors } from './errors.js';
import { type JobRow, type JobState, type JobTables, OPEN } from './tables.js';

export type JobFacts = Omit<JobRow, 'filter'>;
type Memory = Map<number, JobFacts>;
type Change =
  | { readonly added: JobFacts }
  | { readonly id: number; readonly fields: Partial<JobFacts> }
  | { readonly removed: number };

export class JobStore {
  readonly #rows: JobTables['jobs'];
  readonly #memory: Projection<Memory, Change>;

  constructor({ db, tables }: { db: Database; tables: JobTables }) {
    this.#rows = tables.jobs;
    this.#memory = db.projection<Memory, Change>({
      load: async () => {
        const rows = await this.#rows.findAll({
          attributes: { exclude: ['filter'] },
          order: [['id', 'ASC']],
        });
        return new Map(rows.map((row) => [Number(row.get().id), factsOf(row.get())]));
      },
      apply: (jobs, change) => {
        if ('added' in change) jobs.set(change.added.id, change.added);
        else if ('removed' in change) jobs.delete(change.removed);
        else {
          const before = jobs.get(change.id);
          if (before) jobs.set(change.id, { ...before, ...change.fields });
        }
      },
    });
  }

  /** By id. */
  all(): JobFacts[] {
    return [...this.#memory.state.values()];
  }
  get(id: number): JobFacts | undefined {
    return this.#memory.state.get(id);
  }
  /** Throws NOT_FOUND. */
  find(id: number): JobFacts {
    const found = this.get(id);
    if (!found) throw errors.NOT_FOUND(`there is no job ${id}`, { path: 'id' });
    return found;
  }
  /** The job to go on with: one that has begun, else the first that waits. */
  next(): JobFacts | undefined {
    const open = this.all().filter(({ state }) => OPEN.includes(state));
    return open.find(({ state }) => state !== 'waiting') ?? open[0];
  }

  async filterOf(id: number): Promise<ClientFilter | undefined> {
    const row = await this.#rows.findByPk(id, { attributes: ['filter'] });
    return row?.get().filter ?? undefined;
  }

  async countOpen(tx: Tx): Promise<number> {
    const [row] = await tx.query<{ count: number }>(
      'SELECT COUNT(*) AS count FROM bulk_jobs WHERE state IN (:states)',
      { states: OPEN },
    );
    return Number(row?.count ?? 0);
  }

  /** Resolves with the job as it is now. */
  async add(tx: Tx, values: Omit<JobRow, 'id'>): Promise<JobFacts> {
    const row = await this.#rows.create(values, { transaction: tx.t });
    const added = factsOf({ ...values, id: Number(row.get().id) });
    tx.apply(this.#memory, { added });
    return added;
  }

  /** Changes a job that is in one of these states; resolves with whether it was. */
  async change(
    tx: Tx,
    id: number,
    states: readonly JobState[],
    fields: Partial<Omit<JobFacts, 'id'>>,
  ): Promise<boolean> {
    const [count] = await this.#rows.update(fields, { where: { id, state: [...states] }, transaction: tx.t });
    if (count === 0) return false;
    tx.apply(this.#memory, { id, fields });
    return true;
  }

  async remove(tx: Tx, id: number): Promise<void> {
    await this.#rows.destroy({ where: { id }, transaction: tx.t });
    tx.apply(this.#memory, { removed: id });
  }
}

function factsOf(row: JobRow): JobFacts {
  const { filter: _, ...facts } = row;
  return facts;
}
