// Which account of which provider is which admin.
import { createHash } from 'node:crypto';
import type { Clock, Database, Principal, Projection, Tx } from '../../kernel/index.js';
import type { AdminIdentity } from '../access/contract.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { errors } from './errors.js';
import type { LinkRow, OpenidTables } from './tables.js';

/** Ten for each of the admins that there can be. */
const MOST_LINKS = 1000;
const LONGEST_ACCOUNT = 255;

export interface AccountKey {
  readonly issuer: string;
  readonly subject: string;
}
type Change = { readonly set: LinkRow } | { readonly gone: readonly string[] };

/** A subject is unique within its issuer only, and may be any text. */
export const idOf = ({ issuer, subject }: AccountKey): string =>
  createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex');

export class Links {
  readonly #db: Database;
  readonly #rows: OpenidTables['links'];
  readonly #clock: Clock;
  readonly #audit: AuditTrailApi | undefined;
  readonly #memory: Projection<Map<string, LinkRow>, Change>;

  constructor(needs: { db: Database; tables: OpenidTables; clock: Clock; audit: AuditTrailApi | undefined }) {
    this.#db = needs.db;
    this.#rows = needs.tables.links;
    this.#clock = needs.clock;
    this.#audit = needs.audit;
    this.#memory = needs.db.projection<Map<string, LinkRow>, Change>({
      load: async () => new Map((await this.#rows.findAll()).map((row) => [row.get().id, row.get()])),
      apply: (links, change) => {
        if ('set' in change) links.set(change.set.id, change.set);
        else for (const id of change.gone) links.delete(id);
      },
    });
  }

  /** The newest first. */
  list(): LinkRow[] {
    return [...this.#memory.state.values()].sort((a, b) => b.linkedAt - a.linkedAt);
  }

  /** The admin of an account; undefined without a link. Reads the database. */
  async adminOf(account: AccountKey): Promise<number | undefined> {
    return (await this.#rows.findByPk(idOf(account)))?.get().adminId;
  }

  /** Whether the admin has a link to an account of this issuer. Reads the database. */
  async hasOne(adminId: number, issuer: string): Promise<boolean> {
    return (await this.#of(adminId)).some((row) => row.issuer === issuer);
  }

  /** Links an account: each to one admin, and of each issuer one to an admin. `mayStill` is asked inside the write. Rejects with TAKEN, LINKED or TOO_MANY. */
  async add(
    admin: AdminIdentity,
    account: AccountKey & { readonly name: string },
    who: Principal,
    mayStill: () => void,
  ): Promise<void> {
    const { issuer, subject, name } = account;
    const id = idOf(account);
    await this.#db.write(async (tx) => {
      mayStill();
      const known = (await this.#rows.findByPk(id, { transaction: tx.t }))?.get();
      if (known?.adminId === admin.id) return;
      if (known) throw errors.TAKEN();
      if ((await this.#of(admin.id, tx)).some((row) => row.issuer === issuer)) throw errors.LINKED();
      if ((await this.#rows.count({ transaction: tx.t })) >= MOST_LINKS) throw errors.TOO_MANY();
      const row: LinkRow = {
        id,
        adminId: admin.id,
        issuer,
        subject,
        account: name.slice(0, LONGEST_ACCOUNT),
        linkedAt: this.#clock.now(),
      };
      await this.#rows.create(row, { transaction: tx.t });
      tx.apply(this.#memory, { set: row });
      await this.#record(tx, 'added', row, admin.username, who);
    });
  }

  /** Removes a link within a write of the caller's. Throws LINK_NOT_FOUND. */
  async remove(tx: Tx, id: string, username: string, who: Principal): Promise<void> {
    const row = (await this.#rows.findByPk(id, { transaction: tx.t }))?.get();
    if (!row) throw errors.LINK_NOT_FOUND(undefined, { path: 'id' });
    await this.#rows.destroy({ where: { id }, transaction: tx.t });
    tx.apply(this.#memory, { gone: [id] });
    await this.#record(tx, 'deleted', row, username, who);
  }

  /** Removes the links of admins that are deleted, in the transaction that deletes them. */
  async adminsDeleted(tx: Tx, admins: readonly number[]): Promise<void> {
    if (admins.length === 0) return;
    const where = { adminId: [...admins] };
    const rows = await this.#rows.findAll({ where, transaction: tx.t });
    if (rows.length === 0) return;
    await this.#rows.destroy({ where, transaction: tx.t });
    tx.apply(this.#memory, { gone: rows.map((row) => row.get().id) });
  }

  async #of(adminId: number, tx?: Tx): Promise<LinkRow[]> {
    const rows = await this.#rows.findAll({ where: { adminId }, transaction: tx?.t ?? null });
    return rows.map((row) => row.get());
  }

  async #record(
    tx: Tx,
    kind: 'added' | 'deleted',
    { id, issuer, subject, account }: LinkRow,
    username: string,
    who: Principal,
  ): Promise<void> {
    const facts = { admin: username, issuer, subject, account };
    const change = { kind, name: username, id };
    await this.#audit?.record(tx, 'openid', who, [
      kind === 'added'
        ? { ...change, before: undefined, after: facts }
        : { ...change, before: facts, after: undefined },
    ]);
  }
}
