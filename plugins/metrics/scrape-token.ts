// The token of /metrics. It opens nothing else: whoever runs Prometheus gets no admin's token.
import { hash, randomBytes } from 'node:crypto';
import {
  type Clock,
  type Database,
  type Principal,
  type Projection,
  sameSecret,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { MetricTables } from './tables.js';

interface Stored {
  readonly digest: string;
  readonly createdAt: number;
}
const ID = 1;
const digestOf = (token: string): string => hash('sha256', token);

export class ScrapeToken {
  readonly #db: Database;
  readonly #rows: MetricTables['token'];
  readonly #clock: Clock;
  readonly #audit: AuditTrailApi | undefined;
  readonly projection: Projection<{ token: Stored | undefined }, { readonly token: Stored | undefined }>;

  constructor({
    db,
    tables: { token },
    clock,
    audit,
  }: { db: Database; tables: MetricTables; clock: Clock; audit?: AuditTrailApi | undefined }) {
    this.#audit = audit;
    this.#db = db;
    this.#rows = token;
    this.#clock = clock;
    this.projection = db.projection({
      load: async () => ({ token: await this.#read() }),
      apply: (state, change) => void (state.token = change.token),
    });
  }

  /** Unix ms of its creation; undefined where there is none. */
  get createdAt(): number | undefined {
    return this.projection.state.token?.createdAt;
  }

  /** Whether a header `Authorization` carries it. */
  admits(authorization: string | undefined): boolean {
    const sent = /^Bearer +(\S{1,200})$/i.exec(authorization ?? '')?.[1];
    const { token } = this.projection.state;
    return sent !== undefined && token !== undefined && sameSecret(digestOf(sent), token.digest);
  }

  /** Creates a token, in place of the previous one. Its text is in this result and nowhere else. */
  async create(who: Principal, note?: (token: { readonly token: string }) => void): Promise<string> {
    const text = randomBytes(36).toString('base64url');
    const token = { digest: digestOf(text), createdAt: this.#clock.now() };
    await this.#db.write(async (tx) => {
      await this.#rows.upsert({ id: ID, ...token }, { transaction: tx.t });
      tx.apply(this.projection, { token });
      await this.#audit?.record(tx, 'metricsToken', who, [
        { kind: 'added', name: '/metrics', before: undefined, after: {} },
      ]);
      note?.({ token: text });
    });
    return text;
  }

  /** Nobody can read /metrics any more. */
  async remove(who: Principal): Promise<void> {
    if (this.createdAt === undefined) return;
    await this.#db.write(async (tx) => {
      await this.#rows.destroy({ where: { id: ID }, transaction: tx.t });
      tx.apply(this.projection, { token: undefined });
      await this.#audit?.record(tx, 'metricsToken', who, [
        { kind: 'deleted', name: '/metrics', before: {}, after: undefined },
      ]);
    });
  }

  async #read(): Promise<Stored | undefined> {
    const row = (await this.#rows.findByPk(ID))?.get();
    return row && { digest: row.digest, createdAt: Number(row.createdAt) };
  }
}
