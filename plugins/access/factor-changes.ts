// Writes changes of second factors, each with its record for the audit, and closes what an earlier proof has opened.
import type { Principal, SessionsApi, Tx } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { Admins } from './admins.js';
import { errors } from './errors.js';
import type { KnownAdmin } from './known-admin.js';
import type { RecoveryCodes } from './recovery-codes.js';
import type { SecondFactor, SecondFactors } from './second-factors.js';

/** Writes within a transaction; resolves with the recovery codes to show once, or none. */
export type FactorWrite = (tx: Tx) => Promise<readonly string[]>;

export class FactorChanges {
  readonly #admins: Admins;
  readonly #factors: SecondFactors;
  readonly #recoveryCodes: RecoveryCodes;
  readonly #sessions: SessionsApi;
  readonly #audit: AuditTrailApi | undefined;

  constructor(parts: {
    admins: Admins;
    factors: SecondFactors;
    recoveryCodes: RecoveryCodes;
    sessions: SessionsApi;
    audit?: AuditTrailApi | undefined;
  }) {
    this.#admins = parts.admins;
    this.#factors = parts.factors;
    this.#recoveryCodes = parts.recoveryCodes;
    this.#sessions = parts.sessions;
    this.#audit = parts.audit;
  }

  /** `checked` is the factor that the caller has proved to have: with another one by now, the write is refused. */
  setting(
    { id }: KnownAdmin,
    checked: SecondFactor | undefined,
    secret: string,
    who: Principal,
  ): FactorWrite {
    return async (tx) => {
      const admin = await this.#unchanged(tx, id, checked);
      await this.#factors.set(tx, id, secret);
      await this.#record(tx, checked ? 'updated' : 'added', admin, who);
      // Sessions that began with a password alone, or with a code of the previous secret.
      await this.#sessions.closeAll({ of: admin.username, except: who.session, tx });
      return this.#recoveryCodes.replace(tx, admin, who);
    };
  }

  removing({ id }: KnownAdmin, checked: SecondFactor | undefined, who: Principal): FactorWrite {
    return async (tx) => {
      const admin = await this.#unchanged(tx, id, checked);
      await this.#factors.remove(tx, [id]);
      await this.#record(tx, 'deleted', admin, who);
      return [];
    };
  }

  renewing({ id }: KnownAdmin, checked: SecondFactor | undefined, who: Principal): FactorWrite {
    return async (tx) => this.#recoveryCodes.replace(tx, await this.#unchanged(tx, id, checked), who);
  }

  /** For another admin, who has lost the phone: no code is asked for, so whoever found it is logged out. Throws NO_SECOND_FACTOR. */
  async reset(tx: Tx, admin: KnownAdmin, who: Principal): Promise<void> {
    if (!(await this.#factors.of(admin.id, tx))) throw errors.NO_SECOND_FACTOR(undefined, { path: 'id' });
    await this.#factors.remove(tx, [admin.id]);
    await this.#record(tx, 'deleted', admin, who);
    await this.#sessions.closeAll({ of: admin.username, tx });
  }

  async #unchanged(tx: Tx, id: number, checked: SecondFactor | undefined): Promise<KnownAdmin> {
    const admin = (await this.#admins.read(tx)).find((one) => one.id === id);
    const now = await this.#factors.of(id, tx);
    if (!admin || now?.since !== checked?.since) throw errors.FACTOR_CHANGED();
    return admin;
  }

  async #record(
    tx: Tx,
    kind: 'added' | 'updated' | 'deleted',
    { id, username }: KnownAdmin,
    who: Principal,
  ): Promise<void> {
    await this.#audit?.record(tx, 'secondFactor', who, [
      {
        kind,
        name: username,
        id,
        before: kind === 'added' ? undefined : { secret: 'before' },
        after: kind === 'deleted' ? undefined : { secret: 'after' },
      },
    ]);
  }
}
