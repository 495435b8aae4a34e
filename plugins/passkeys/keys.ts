// The passkeys of each admin.
import { hash } from 'node:crypto';
import type { Clock, Database, Principal, Projection, Row, SessionsApi, Tx } from '../../kernel/index.js';
import type { AdminChange, AdminIdentity, OtherLoginsApi } from '../access/contract.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { errors } from './errors.js';
import type { PasskeyTables, tables } from './tables.js';

export const MOST_KEYS = 20;

export type Passkey = Row<typeof tables.keys>;
export type NewPasskey = Pick<
  Passkey,
  'name' | 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'rpId' | 'origin'
>;
type Edit = { readonly added: number; readonly adminId: number } | { readonly removed: readonly number[] };

const digestOf = (credentialId: string): string => hash('sha256', credentialId);

export class Passkeys {
  readonly #db: Database;
  readonly #rows: PasskeyTables['keys'];
  readonly #clock: Clock;
  readonly #sessions: SessionsApi;
  readonly #logins: OtherLoginsApi;
  readonly #audit: AuditTrailApi | undefined;
  /** the admin of each passkey, by id: whether there are any is asked without a login */
  readonly #owners: Projection<Map<number, number>, Edit>;

  constructor(needs: {
    db: Database;
    tables: PasskeyTables;
    clock: Clock;
    sessions: SessionsApi;
    logins: OtherLoginsApi;
    audit?: AuditTrailApi | undefined;
  }) {
    this.#db = needs.db;
    this.#rows = needs.tables.keys;
    this.#clock = needs.clock;
    this.#sessions = needs.sessions;
    this.#logins = needs.logins;
    this.#audit = needs.audit;
    this.#owners = needs.db.projection<Map<number, number>, Edit>({
      load: async () => {
        const rows = await this.#rows.findAll({ attributes: ['id', 'adminId'] });
        return new Map(rows.map((row) => [Number(row.get().id), Number(row.get().adminId)]));
      },
      apply: (owners, edit) => {
        if ('added' in edit) owners.set(edit.added, edit.adminId);
        else for (const id of edit.removed) owners.delete(id);
      },
    });
  }

  get isAny(): boolean {
    return this.#owners.state.size > 0;
  }

  /** Deletes those of admins who were deleted while this plugin was off. */
  async start(): Promise<void> {
    const gone = [...this.#owners.state].filter(([, adminId]) => !this.#logins.adminWith(adminId));
    if (gone.length > 0)
      await this.#db.write((tx) =>
        this.#remove(
          tx,
          gone.map(([id]) => id),
        ),
      );
  }

  /** In the order in which they were registered. */
  async of(adminId: number): Promise<Passkey[]> {
    return (await this.#rows.findAll({ where: { adminId }, order: ['id'] })).map(plain);
  }

  async withCredential(credentialId: string, tx?: Tx): Promise<Passkey | undefined> {
    const where = { digest: digestOf(credentialId) };
    const row = await this.#rows.findOne({ where, transaction: tx?.t ?? null });
    return row ? plain(row) : undefined;
  }

  /** Whether a login with it still counts. */
  async isThere(id: number): Promise<boolean> {
    return (await this.#rows.count({ where: { id } })) === 1;
  }

  async add(tx: Tx, admin: AdminIdentity, fresh: NewPasskey, who: Principal): Promise<Passkey> {
    const { id: adminId } = admin;
    if (await this.withCredential(fresh.credentialId, tx)) throw errors.TAKEN();
    const count = await this.#rows.count({ where: { adminId }, transaction: tx.t });
    if (count >= MOST_KEYS) throw errors.TOO_MANY();
    const values = { ...fresh, adminId, digest: digestOf(fresh.credentialId), createdAt: this.#clock.now() };
    const row = await this.#rows.create({ ...values, lastUsedAt: 0 }, { transaction: tx.t });
    const id = Number(row.get('id'));
    tx.apply(this.#owners, { added: id, adminId });
    await this.#record(tx, who, { kind: 'added', key: { ...values, id }, admin });
    return { ...values, id, lastUsedAt: 0 };
  }

  /** Rejects with NOT_FOUND for a passkey of another admin, as for none. */
  rename(admin: AdminIdentity, id: number, name: string, who: Principal): Promise<Passkey> {
    return this.#db.write(async (tx) => {
      const before = await this.#own(tx, admin.id, id);
      if (before.name === name) return before;
      await this.#rows.update({ name }, { where: { id }, transaction: tx.t });
      const key = { ...before, name };
      await this.#record(tx, who, { kind: 'updated', key, before, admin });
      return key;
    });
  }

  /** Closes the other sessions of the admin as well: they may have begun with it. */
  remove(admin: AdminIdentity, id: number, who: Principal): Promise<void> {
    return this.#db.write(async (tx) => {
      const key = await this.#own(tx, admin.id, id);
      await this.#remove(tx, [id]);
      await this.#record(tx, who, { kind: 'deleted', key, admin });
      await this.#sessions.closeAll({ of: admin.username, except: who.session, tx });
    });
  }

  /** Removes all passkeys of an admin, for a full admin; returns how many there were. */
  removeAll(admin: AdminIdentity, who: Principal): Promise<number> {
    return this.#db.write(async (tx) => {
      const rows = await this.#rows.findAll({ where: { adminId: admin.id }, transaction: tx.t });
      const keys = rows.map(plain);
      if (keys.length === 0) return 0;
      await this.#remove(
        tx,
        keys.map(({ id }) => id),
      );
      for (const key of keys) await this.#record(tx, who, { kind: 'deleted', key, admin });
      await this.#sessions.closeAll({ of: admin.username, except: who.session, tx });
      return keys.length;
    });
  }

  /** Stores the counter of a login. Returns false, and stores nothing, if it does not follow the one before: always, for authenticators that count. */
  async count(tx: Tx, { id }: Passkey, counter: number): Promise<boolean> {
    const row = await this.#rows.findByPk(id, { transaction: tx.t });
    if (!row) throw errors.REFUSED();
    const before = Number(row.get('counter'));
    if (counter <= before && (counter > 0 || before > 0)) return false;
    await this.#rows.update({ counter, lastUsedAt: this.#clock.now() }, { where: { id }, transaction: tx.t });
    return true;
  }

  /** Passkeys go with their admin. They follow another name, as they know the admin by its id. */
  async adminsSaved(changes: readonly AdminChange[], tx: Tx): Promise<void> {
    const adminId = changes.filter(({ kind }) => kind === 'deleted').map(({ id }) => id);
    if (adminId.length === 0) return;
    const rows = await this.#rows.findAll({ where: { adminId }, transaction: tx.t });
    if (rows.length > 0)
      await this.#remove(
        tx,
        rows.map((row) => Number(row.get('id'))),
      );
  }

  async #own(tx: Tx, adminId: number, id: number): Promise<Passkey> {
    const row = await this.#rows.findOne({ where: { id, adminId }, transaction: tx.t });
    if (!row) throw errors.NOT_FOUND(undefined, { path: 'id' });
    return plain(row);
  }

  async #remove(tx: Tx, ids: readonly number[]): Promise<void> {
    await this.#rows.destroy({ where: { id: [...ids] }, transaction: tx.t });
    tx.apply(this.#owners, { removed: ids });
  }

  async #record(
    tx: Tx,
    who: Principal,
    {
      kind,
      key,
      before,
      admin,
    }: {
      readonly kind: 'added' | 'updated' | 'deleted';
      readonly key: Pick<Passkey, 'id' | 'name' | 'origin'>;
      readonly before?: Pick<Passkey, 'name' | 'origin'>;
      readonly admin: AdminIdentity;
    },
  ): Promise<void> {
    const factsOf = ({ name, origin }: Pick<Passkey, 'name' | 'origin'>) => ({
      name,
      origin,
      admin: admin.username,
    });
    await this.#audit?.record(tx, 'passkey', who, [
      {
        kind,
        name: key.name,
        id: key.id,
        before: kind === 'added' ? undefined : factsOf(before ?? key),
        after: kind === 'deleted' ? undefined : factsOf(key),
      },
    ]);
  }
}

const plain = (row: { get(): Passkey }): Passkey => {
  const { id, adminId, counter, createdAt, lastUsedAt, ...texts } = row.get();
  return {
    ...texts,
    id: Number(id),
    adminId: Number(adminId),
    counter: Number(counter),
    createdAt: Number(createdAt),
    lastUsedAt: Number(lastUsedAt),
  };
};
