// Several admins: a full one adds, limits, disables and deletes others. One who can log in and may do everything is always left.
import type { Database, Principal, SessionsApi, Tx } from '../../kernel/index.js';
import { type Admins, takenAs } from './admins.js';
import type { Callers } from './callers.js';
import { errors } from './errors.js';
import type { FactorChanges } from './factor-changes.js';
import { isFull, type KnownAdmin } from './known-admin.js';
import type { KnownRoles } from './known-roles.js';
import type { SecondFactors } from './second-factors.js';
import type { Tokens } from './tokens.js';

const MOST_ADMINS = 100;

export interface AdminView {
  readonly id: number;
  readonly username: string;
  readonly role: number;
  readonly enabled: boolean;
  readonly createdAt: number;
  readonly secondFactor: boolean;
}
export interface NewAdmin {
  readonly username: string;
  readonly password: string;
  readonly role: number;
}
/** What is undefined stays. */
export interface AdminEdits {
  readonly password?: string | undefined;
  readonly role?: number | undefined;
  readonly enabled?: boolean | undefined;
}

export class AdminAccounts {
  readonly #db: Database;
  readonly #admins: Admins;
  readonly #tokens: Tokens;
  readonly #roles: KnownRoles;
  readonly #sessions: SessionsApi;
  readonly #callers: Callers;
  readonly #factors: SecondFactors;
  readonly #factorChanges: FactorChanges;

  constructor(parts: {
    db: Database;
    admins: Admins;
    tokens: Tokens;
    roles: KnownRoles;
    sessions: SessionsApi;
    callers: Callers;
    factors: SecondFactors;
    factorChanges: FactorChanges;
  }) {
    this.#db = parts.db;
    this.#admins = parts.admins;
    this.#tokens = parts.tokens;
    this.#roles = parts.roles;
    this.#sessions = parts.sessions;
    this.#callers = parts.callers;
    this.#factors = parts.factors;
    this.#factorChanges = parts.factorChanges;
  }

  list(): AdminView[] {
    return [...this.#admins.projection.state.values()].map((admin) => this.#viewOf(admin));
  }

  byId(id: number): AdminView | undefined {
    const admin = this.#admins.projection.state.get(id);
    return admin && this.#viewOf(admin);
  }

  async add(
    { username, password, role }: NewAdmin,
    who: Principal,
    note?: (facts: AdminView) => void,
  ): Promise<AdminView> {
    const passwordHash = await this.#admins.hash(password);
    try {
      return await this.#db.write(async (tx) => {
        if ((await this.#admins.read(tx)).length >= MOST_ADMINS) throw errors.TOO_MANY_ADMINS();
        if (role !== 0) await this.#roles.requireKnown(tx, role, 'role');
        const added = this.#viewOf(await this.#admins.add(tx, { username, passwordHash, roleId: role }, who));
        note?.(added);
        return added;
      });
    } catch (error) {
      throw takenAs('username', error);
    }
  }

  /** A new password, and being disabled, closes the sessions of the admin; another role is in force at the next request. */
  async update(id: number, { password, role, enabled }: AdminEdits, who: Principal): Promise<AdminView> {
    const passwordHash = password === undefined ? undefined : await this.#admins.hash(password);
    const updated = await this.#db.write(async (tx) => {
      const { admin, others } = await this.#one(tx, id);
      if (role) await this.#roles.requireKnown(tx, role, 'role');
      const after = { ...admin, roleId: role ?? admin.roleId, enabled: enabled ?? admin.enabled };
      if (isFull(admin) && !isFull(after) && !others.some(isFull))
        throw errors.LAST_ADMIN(undefined, { path: after.enabled ? 'role' : 'enabled' });
      if (passwordHash !== undefined || !after.enabled)
        await this.#sessions.closeAll({ of: admin.username, tx });
      const edits = {
        ...(passwordHash !== undefined && { passwordHash }),
        ...(after.roleId !== admin.roleId && { roleId: after.roleId }),
        ...(after.enabled !== admin.enabled && { enabled: after.enabled }),
      };
      return Object.keys(edits).length > 0 ? this.#admins.update(tx, admin, edits, who) : admin;
    });
    this.#callers.changed();
    return this.#viewOf(updated);
  }

  /** Deletes the admin with the API tokens that the admin has made, and closes its sessions. */
  async delete(id: number, who: Principal): Promise<void> {
    await this.#db.write(async (tx) => {
      const { admin, others } = await this.#one(tx, id);
      if (isFull(admin) && !others.some(isFull)) throw errors.LAST_ADMIN(undefined, { path: 'id' });
      await this.#sessions.closeAll({ of: admin.username, tx });
      await this.#tokens.deleteOf(tx, [id], who);
      await this.#factors.remove(tx, [id]);
      await this.#admins.delete(tx, [admin], who);
    });
    this.#callers.changed();
  }

  /** Deletes the second factor of another admin, who has lost the phone, and closes the sessions of that admin. */
  async resetSecondFactor(id: number, who: Principal): Promise<void> {
    // The own one needs a code: else a session that somebody else has got would be enough.
    if (who.kind !== 'session' || this.#callers.adminOf(who) === id)
      throw errors.OWN_FACTOR(undefined, { path: 'id' });
    await this.#db.write(async (tx) => {
      const { admin } = await this.#one(tx, id);
      await this.#factorChanges.reset(tx, admin, who);
    });
  }

  #viewOf({ id, username, roleId, enabled, createdAt }: KnownAdmin): AdminView {
    return { id, username, role: roleId, enabled, createdAt, secondFactor: this.#factors.has(id) };
  }

  /** Reads the database: what another write has just changed counts. */
  async #one(tx: Tx, id: number): Promise<{ admin: KnownAdmin; others: KnownAdmin[] }> {
    const all = await this.#admins.read(tx);
    const admin = all.find((one) => one.id === id);
    if (!admin) throw errors.ADMIN_NOT_FOUND(undefined, { path: 'id' });
    return { admin, others: all.filter((one) => one !== admin) };
  }
}
