// Resellers as full admins make them. Who owns a client is in ownership.ts.
import { type Clock, type Database, type Principal, refuseHidden, type Tx } from '../../kernel/index.js';
import type { AdminListApi } from '../access/contract.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { errors } from './errors.js';
import type { ResellerMemory } from './reseller-state.js';
import type { Reseller, ResellerTables } from './tables.js';

const MOST_RESELLERS = 100;

/** What a full admin decides. */
export type ResellerFields = Omit<Reseller, 'id' | 'givenBytes' | 'createdAt'>;

export class ResellerStore {
  readonly #db: Database;
  readonly #tables: ResellerTables;
  readonly #clock: Clock;
  readonly #memory: ResellerMemory;
  readonly #admins: AdminListApi;
  readonly #inbounds: InboundsApi;
  readonly #audit: AuditTrailApi | undefined;

  constructor(needs: {
    db: Database;
    tables: ResellerTables;
    clock: Clock;
    memory: ResellerMemory;
    admins: AdminListApi;
    inbounds: InboundsApi;
    audit?: AuditTrailApi | undefined;
  }) {
    this.#db = needs.db;
    this.#tables = needs.tables;
    this.#clock = needs.clock;
    this.#memory = needs.memory;
    this.#admins = needs.admins;
    this.#inbounds = needs.inbounds;
    this.#audit = needs.audit;
  }

  find(id: number): Reseller {
    const found = this.#memory.find(id);
    if (!found) throw notFound(id);
    return found;
  }

  add(
    fields: Omit<ResellerFields, 'name'> & { readonly name?: string | undefined },
    who: Principal,
    note?: (added: Reseller) => void,
  ): Promise<Reseller> {
    const name = fields.name ?? this.#admins.byId(fields.adminId)?.username.slice(0, 64) ?? '';
    this.#check({ ...fields, name });
    return this.#db.write(async (tx) => {
      await this.#requireFree(tx, fields.adminId, 0);
      if ((await this.#tables.resellers.count({ transaction: tx.t })) >= MOST_RESELLERS)
        throw errors.TOO_MANY();
      const values = { ...fields, name, givenBytes: 0, createdAt: this.#clock.now() };
      const stored = await this.#tables.resellers.create(values, { transaction: tx.t });
      const added = { ...values, id: Number(stored.get('id')) };
      await this.#saved(tx, undefined, added, who);
      note?.(added);
      return added;
    });
  }

  /** Changes what is given. A quota below what is used stops only what would use more of it. */
  update(id: number, fields: Partial<ResellerFields>, who: Principal): Promise<Reseller> {
    this.#check(fields);
    return this.#db.write(async (tx) => {
      const before = await this.read(tx, id);
      if (fields.adminId !== undefined) await this.#requireFree(tx, fields.adminId, id);
      const after = { ...before, ...fields };
      await this.#tables.resellers.update(fields, { where: { id }, transaction: tx.t });
      await this.#saved(tx, before, after, who);
      return after;
    });
  }

  /** Deletes what makes an admin a reseller. The clients stay as they are, and belong to nobody. */
  async delete(id: number, who: Principal): Promise<void> {
    await this.#db.write(async (tx) => {
      const before = await this.read(tx, id);
      await this.#tables.owned.destroy({ where: { resellerId: id }, transaction: tx.t });
      await this.#tables.resellers.destroy({ where: { id }, transaction: tx.t });
      await this.#saved(tx, before, undefined, who);
    });
  }

  /** Reads the database: inside a write, memory may lack the write before it. */
  async read(tx: Tx, id: number): Promise<Reseller> {
    const row = await this.#tables.resellers.findByPk(id, { transaction: tx.t });
    if (!row) throw notFound(id);
    return row.get();
  }

  #check({ adminId, name, prefix, inboundIds }: Partial<ResellerFields>): void {
    if (adminId !== undefined && !this.#admins.byId(adminId))
      throw errors.NO_ADMIN(`admin: there is no admin ${adminId}`, { path: 'admin' });
    if (name !== undefined) refuseHidden('name', name, 'name');
    if (prefix !== undefined) refuseHidden('prefix', prefix, 'name');
    if (inboundIds) this.#inbounds.requireForClients(inboundIds, 'inboundIds');
  }

  async #requireFree(tx: Tx, adminId: number, self: number): Promise<void> {
    const other = await this.#tables.resellers.findOne({ where: { adminId }, transaction: tx.t });
    if (other && other.get().id !== self) throw errors.ADMIN_TAKEN(undefined, { path: 'admin' });
  }

  async #saved(
    tx: Tx,
    before: Reseller | undefined,
    after: Reseller | undefined,
    who: Principal,
  ): Promise<void> {
    tx.apply(this.#memory.projection, after ? { saved: after } : { deleted: before?.id ?? 0 });
    const kind = before ? (after ? 'updated' : 'deleted') : 'added';
    const { id = 0, name = '' } = after ?? before ?? {};
    await this.#audit?.record(tx, 'reseller', who, [{ kind, name, id, before, after }]);
  }
}

const notFound = (id: number) => errors.NOT_FOUND(`there is no reseller ${id}`, { path: 'id' });
