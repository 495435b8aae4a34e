// The authorities of this panel as a central: one, or two while nodes change from the previous to the new one.
import type { Clock, Database, Principal, Projection, Row, Tx } from '../../../kernel/index.js';
import type { AuditTrailApi } from '../../audit/contract.js';
import type { SealedColumn, SecretsApi } from '../../secrets/contract.js';
import type { PanelIdentityApi } from '../../settings/contract.js';
import { errors } from '../errors.js';
import type { NodeTables, tables } from '../tables.js';
import { isDueForRenewal, makeAuthority, makeClientCertificate, type Pair } from './certificate-maker.js';

const column = (name: string): SealedColumn => ({ table: 'node_authorities', key: 'id', column: name });
export const authorityKeys = column('ca_key');
export const clientKeys = column('client_key');

type Stored = Row<typeof tables.authorities>;
export interface Authority {
  readonly id: number;
  readonly caCert: string;
  /** the certificate of this panel by it */
  readonly client: Pair;
  /** Unix seconds */
  readonly createdAt: number;
}
interface Needs {
  readonly db: Database;
  readonly tables: NodeTables;
  readonly clock: Clock;
  readonly secrets: SecretsApi;
  readonly identity: PanelIdentityApi;
  readonly audit: AuditTrailApi | undefined;
}
/** replaced at each change */
interface Memory {
  all: readonly Stored[];
}

export class AuthorityStore {
  readonly #needs: Needs;
  readonly memory: Projection<Memory, { readonly set?: Stored; readonly deleted?: number }>;
  /** opened once: the id of its row and its text, which changes at a renewal */
  readonly #opened = new WeakMap<Stored, Authority>();

  constructor({ db, tables, clock, secrets, identity, audit }: Needs) {
    this.#needs = { db, tables, clock, secrets, identity, audit };
    this.memory = db.projection({
      load: async () => ({
        all: (await tables.authorities.findAll({ order: ['id'] })).map((row) => row.get()),
      }),
      apply: (memory, { set, deleted }) => {
        const rest = memory.all.filter(({ id }) => id !== deleted && id !== set?.id);
        memory.all = set ? [...rest, set].sort((a, b) => a.id - b.id) : rest;
      },
    });
  }

  /** The newest first. */
  list(): readonly Authority[] {
    return this.memory.state.all.map((row) => this.#open(row)).reverse();
  }
  /** PEM of all authorities, for nodes to trust. */
  bundle(): string {
    return this.memory.state.all.map(({ caCert }) => caCert).join('');
  }

  #open(row: Stored): Authority {
    const known = this.#opened.get(row);
    if (known) return known;
    const { id, caCert, clientCert, clientKey, createdAt } = row;
    const key = this.#needs.secrets.open(clientKeys, id, clientKey);
    const opened = { id, caCert, client: { cert: clientCert, key }, createdAt };
    this.#opened.set(row, opened);
    return opened;
  }

  /** Creates the first authority, unless there is one. */
  async mint(who: Principal): Promise<void> {
    if (this.memory.state.all.length === 0) await this.#add(0, who);
  }
  /** Creates a second one. Rejects with NO_AUTHORITY or ROTATING. */
  async rotate(who: Principal): Promise<void> {
    await this.#add(1, who);
  }

  async #add(expected: 0 | 1, who: Principal): Promise<void> {
    const { db, clock, identity, secrets, tables: models } = this.#needs;
    const now = clock.now();
    const authority = await makeAuthority(identity.guid, now);
    const client = await makeClientCertificate(authority, identity.guid, now);
    await db.write(async (tx) => {
      const { length } = this.memory.state.all;
      if (length > expected) {
        // Another call was quicker.
        if (expected === 0) return;
        throw errors.ROTATING();
      }
      if (length < expected) throw errors.NO_AUTHORITY();
      const fields = {
        caCert: authority.cert,
        clientCert: client.cert,
        createdAt: Math.floor(now / 1000),
      };
      const row = await models.authorities.create(
        { ...fields, caKey: '', clientKey: '' },
        { transaction: tx.t },
      );
      const id = Number(row.get('id'));
      const keys = {
        caKey: secrets.seal(authorityKeys, id, authority.key),
        clientKey: secrets.seal(clientKeys, id, client.key),
      };
      await models.authorities.update(keys, { where: { id }, transaction: tx.t });
      await this.#record(tx, who, 'added', id, fields.createdAt);
      tx.apply(this.memory, { set: { id, ...fields, ...keys } });
    });
  }

  /** Deletes the previous authority. Rejects with NOT_ROTATING. */
  async retire(who: Principal): Promise<void> {
    await this.#needs.db.write(async (tx) => {
      const [previous, next] = this.memory.state.all;
      if (!previous || !next) throw errors.NOT_ROTATING();
      await this.#needs.tables.authorities.destroy({ where: { id: previous.id }, transaction: tx.t });
      await this.#record(tx, who, 'deleted', previous.id, previous.createdAt);
      tx.apply(this.memory, { deleted: previous.id });
    });
  }

  /** Makes new certificates of this panel before the present ones expire; nodes trust them as they are. */
  async renew(): Promise<void> {
    const { clock, identity, secrets, db, tables: models } = this.#needs;
    for (const row of this.memory.state.all) {
      const now = clock.now();
      if (!isDueForRenewal(row.clientCert, now)) continue;
      const authority = { cert: row.caCert, key: secrets.open(authorityKeys, row.id, row.caKey) };
      const client = await makeClientCertificate(authority, identity.guid, now);
      const fields = { clientCert: client.cert, clientKey: secrets.seal(clientKeys, row.id, client.key) };
      await db.write(async (tx) => {
        const [count] = await models.authorities.update(fields, { where: { id: row.id }, transaction: tx.t });
        if (count > 0) tx.apply(this.memory, { set: { ...row, ...fields } });
      });
    }
  }

  async #record(
    tx: Tx,
    who: Principal,
    kind: 'added' | 'deleted',
    id: number,
    createdAt: number,
  ): Promise<void> {
    const facts = { createdAt };
    const change = {
      kind,
      name: `authority ${id}`,
      id,
      before: kind === 'deleted' ? facts : undefined,
      after: kind === 'added' ? facts : undefined,
    };
    await this.#needs.audit?.record(tx, 'nodeAuthority', who, [change]);
  }
}
