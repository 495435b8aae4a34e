// Handles a call once for each key: stores the key before the call, and the reply after it, before the caller gets it.
import { Op } from 'sequelize';
import {
  type Clock,
  type Database,
  type Log,
  PanelError,
  type Replays,
  type RequestInfo,
  type Route,
  type TableModel,
} from '../../kernel/index.js';
import { errors } from './errors.js';
import { digestOf, fingerprintOf } from './fingerprint.js';
import { keyOf } from './key.js';
import { Recorder, replay } from './recorded.js';
import type { CallRow, tables } from './tables.js';

/** How long a reply is stored, in ms. */
export const KEPT_MS = 86_400_000;
/** Limits of one caller. */
export const MOST_CALLS = 10_000;
export const MOST_BYTES = 32 * 1024 * 1024;
/** A larger reply is not stored. */
export const LARGEST_REPLY = 1024 * 1024;

type Input = RequestInfo & { readonly params: unknown; readonly query: unknown; readonly body: unknown };

export class IdempotentCalls implements Replays {
  readonly #db: Database;
  readonly #rows: TableModel<typeof tables.calls>;
  readonly #clock: Clock;
  readonly #log: Log;
  /** fingerprints of the calls that this process handles now, by id */
  readonly #underWay = new Map<string, string>();

  constructor({
    db,
    tables: { calls },
    clock,
    log,
  }: { db: Database; tables: { calls: TableModel<typeof tables.calls> }; clock: Clock; log: Log }) {
    this.#db = db;
    this.#rows = calls;
    this.#clock = clock;
    this.#log = log;
  }

  repeatable(route: Route): Route {
    const { method, path, auth, stream, files, reply } = route;
    // Two uploads with the same text fields would count as one call, and a stream can only be read once.
    const isRead = !stream && files === undefined && reply.kind !== 'stream' && reply.kind !== 'folder';
    if (auth === 'anyone' || !isRead || method === 'GET')
      throw new Error(
        `${method} ${String(path)}: idempotent goes with a call that changes something, asks for a login, takes no files, and whose body and reply are no streams`,
      );
    return { ...route, handle: (input) => this.#handle(route, input) };
  }

  async #handle(route: Route, given: never): Promise<unknown> {
    const input: Input = given;
    const header = input.headers['idempotency-key'];
    if (header === undefined) return route.handle(given);
    const key = keyOf(header);
    const caller = digestOf(input.who.kind, input.who.name);
    const path = typeof route.path === 'function' ? route.path() : route.path;
    const id = digestOf(caller, route.method, path, key);
    const fingerprint = await fingerprintOf([input.params, input.query, input.body]);
    const other = this.#underWay.get(id);
    if (other !== undefined && other !== fingerprint) throw errors.OTHER_REQUEST();
    if (other !== undefined) throw errors.UNDER_WAY(undefined, { headers: { 'Retry-After': '1' } });
    this.#underWay.set(id, fingerprint);
    try {
      const earlier = await this.#find(id);
      if (earlier) return this.#again(earlier, fingerprint, input);
      await this.#begin({ id, caller, fingerprint });
      return await this.#first(id, route, input);
    } finally {
      this.#underWay.delete(id);
    }
  }

  #oldest(): number {
    return this.#clock.now() - KEPT_MS;
  }

  async #find(id: string): Promise<CallRow | undefined> {
    const row = (await this.#rows.findByPk(id, { raw: true })) as unknown as CallRow | null;
    return row && Number(row.beganAt) > this.#oldest() ? row : undefined;
  }

  #again({ fingerprint, reply }: CallRow, sent: string, input: Input): unknown {
    if (fingerprint !== sent) throw errors.OTHER_REQUEST();
    // This process does not handle the call: the panel was killed, or the call failed.
    if (reply === null) throw errors.UNKNOWN();
    if (reply === '') throw errors.NOT_KEPT();
    return replay(reply, input.reply);
  }

  async #begin(call: Pick<CallRow, 'id' | 'caller' | 'fingerprint'>): Promise<void> {
    await this.#db.write(async (tx) => {
      // Our own statement: the index holds all three columns, and up to 10,000 rows are summed before each call.
      const [kept] = await tx.query<{ calls: number; bytes: number | string | null }>(
        'SELECT COUNT(*) AS calls, SUM(size) AS bytes FROM idempotent_calls WHERE caller = :caller AND began_at > :oldest',
        { caller: call.caller, oldest: this.#oldest() },
      );
      if (kept && (Number(kept.calls) >= MOST_CALLS || Number(kept.bytes ?? 0) >= MOST_BYTES))
        throw errors.TOO_MANY();
      await this.#rows.upsert(
        { ...call, beganAt: this.#clock.now(), size: 0, reply: null },
        { transaction: tx.t },
      );
    });
  }

  async #first(id: string, route: Route, input: Input): Promise<unknown> {
    const recorder = new Recorder();
    let result: unknown;
    try {
      result = await route.handle(recorder.record(input) as never);
    } catch (error) {
      // A refusal has changed nothing, so the key can be used again. Any other failure may have changed something.
      if (error instanceof PanelError && error.status < 500)
        await this.#note(id, (tx) => this.#rows.destroy({ where: { id }, transaction: tx }));
      throw error;
    }
    const text = recorder.textOf(result);
    const reply = text === undefined || text.length > LARGEST_REPLY ? '' : text;
    await this.#note(id, (tx) =>
      this.#rows.update({ reply, size: Buffer.byteLength(reply) }, { where: { id }, transaction: tx }),
    );
    return result;
  }

  /** The call is done, so its caller gets the reply even if this write fails; a repeated call then gets IDEMPOTENCY_UNKNOWN. */
  async #note(
    id: string,
    write: (tx: Parameters<Parameters<Database['write']>[0]>[0]['t']) => Promise<unknown>,
  ) {
    try {
      await this.#db.write((tx) => write(tx.t));
    } catch (error) {
      this.#log.error('could not store the reply to an idempotent call', { call: id, error });
    }
  }

  /** Deletes replies that are older than a day. */
  async sweep(): Promise<void> {
    const where = { beganAt: { [Op.lte]: this.#oldest() } };
    await this.#db.write(({ t: transaction }) => this.#rows.destroy({ where, transaction }));
  }
}
