// The stored calls: who made them, how far they came, and what they were answered.
import { Op, UniqueConstraintError } from 'sequelize';
import {
  type Clock,
  type Database,
  type TableModel,
  type Tx,
  messageOf,
  type Log,
} from '../../kernel/index.js';
import { isSealed, type SecretsApi } from '../secrets/contract.js';
import { errors } from './errors.js';
import { type CallRow, sealedReply, type Stage, type tables } from './tables.js';

/** How long a reply is stored, in ms. */
export const KEPT_MS = 86_400_000;
/** Limits of one caller. */
export const MOST_CALLS = 10_000;
export const MOST_BYTES = 32 * 1024 * 1024;
/** A larger reply is not stored. */
export const LARGEST_REPLY = 1024 * 1024;
/** A larger reply is stored unsealed: it lists clients or inbounds, which the database holds as well. */
const LARGEST_SEALED = 60 * 1024;

export class CallStore {
  readonly #db: Database;
  readonly #rows: TableModel<typeof tables.calls>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #secrets: SecretsApi;

  constructor({
    db,
    tables: { calls },
    clock,
    log,
    secrets,
  }: {
    db: Database;
    tables: { calls: TableModel<typeof tables.calls> };
    clock: Clock;
    log: Log;
    secrets: SecretsApi;
  }) {
    this.#db = db;
    this.#rows = calls;
    this.#clock = clock;
    this.#log = log;
    this.#secrets = secrets;
  }

  #oldest(): number {
    return this.#clock.now() - KEPT_MS;
  }

  /** `reply` is readable; empty if it was too large, or if its key is missing. */
  async find(id: string): Promise<CallRow | undefined> {
    const row = (await this.#rows.findByPk(id, { raw: true })) as unknown as CallRow | null;
    if (!row || Number(row.beganAt) <= this.#oldest()) return undefined;
    if (row.reply === null || !isSealed(row.reply)) return row;
    try {
      return { ...row, reply: this.#secrets.open(sealedReply, id, row.reply) };
    } catch (error) {
      this.#log.error('could not open a stored reply', { call: id, error: messageOf(error) });
      return { ...row, stage: 'done', reply: '' };
    }
  }

  async begin(call: Pick<CallRow, 'id' | 'caller' | 'fingerprint'>): Promise<void> {
    await this.#db.write(async (tx) => {
      // Our own statement: the index holds all three columns, and up to 10,000 rows are summed before each call.
      const [kept] = await tx.query<{ calls: number; bytes: number | string | null }>(
        'SELECT COUNT(*) AS calls, SUM(size) AS bytes FROM idempotent_calls WHERE caller = :caller AND began_at > :oldest',
        { caller: call.caller, oldest: this.#oldest() },
      );
      if (kept && (Number(kept.calls) >= MOST_CALLS || Number(kept.bytes ?? 0) >= MOST_BYTES))
        throw errors.TOO_MANY();
      await this.#rows.destroy({
        where: { id: call.id, beganAt: { [Op.lte]: this.#oldest() } },
        transaction: tx.t,
      });
      const row = { ...call, beganAt: this.#clock.now(), size: 0, reply: null, stage: '' as const };
      await this.#rows.create(row, { transaction: tx.t }).catch((error: unknown) => {
        // Another panel of the database handles it.
        throw error instanceof UniqueConstraintError ? errors.UNDER_WAY() : error;
      });
    });
  }

  /** Stores that something of the call is committed, unless more is known; returns false where it was. */
  async markBegun({ t: transaction }: Tx, id: string): Promise<boolean> {
    const [count] = await this.#rows.update({ stage: 'part' }, { where: { id, stage: '' }, transaction });
    return count > 0;
  }

  /** Stores the facts that the reply is made of, or the reply; with `onlyFirst` returns false where something of the call is stored already. */
  async mark(
    { t: transaction }: Tx,
    id: string,
    stage: Stage,
    text: string,
    onlyFirst = false,
  ): Promise<boolean> {
    const reply = Buffer.byteLength(text) > LARGEST_REPLY ? '' : this.#sealed(id, text);
    const size = Buffer.byteLength(reply);
    const where = onlyFirst ? { id, stage: '' } : { id };
    const [count] = await this.#rows.update({ stage, reply, size }, { where, transaction });
    return count > 0;
  }

  #sealed(id: string, text: string): string {
    return text === '' || Buffer.byteLength(text) > LARGEST_SEALED
      ? text
      : this.#secrets.seal(sealedReply, id, text);
  }

  /** Frees a key, unless its change is committed. Of a call that has committed nothing, what is stored is another panel's. */
  async forget({ t: transaction }: Tx, id: string, hasBegun: boolean): Promise<void> {
    const stage = hasBegun ? { [Op.ne]: 'noted' } : '';
    await this.#rows.destroy({ where: { id, stage }, transaction });
  }

  /** Deletes replies that are older than a day. */
  async sweep(): Promise<void> {
    const where = { beganAt: { [Op.lte]: this.#oldest() } };
    await this.#db.write(({ t: transaction }) => this.#rows.destroy({ where, transaction }));
  }
}
