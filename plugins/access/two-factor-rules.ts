// What an admin must prove before the own second factor is turned on or off: that the new authenticator works, and who the
// admin is. Each function checks, and returns what writes the change within a transaction.
import { nullable, optional, type Principal, type RequestInfo, text } from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { Attempt, Attempts } from './attempts.js';
import { errors } from './errors.js';
import type { FactorChanges, FactorWrite } from './factor-changes.js';
import type { KnownAdmin } from './known-admin.js';
import type { SecondFactors } from './second-factors.js';
import type { TwoFactor } from './two-factor.js';

/** What `setting/update` takes beside settings: proofs that the caller is the admin. */
export const confirmations = {
  password: optional(nullable(text())).description(
    'of the admin; before two-factor login is turned on or its secret changes',
  ),
  twoFactorCode: optional(nullable(text())).description('code of the secret that is in force afterwards'),
  currentTwoFactorCode: optional(nullable(text())).description('code of the secret that is replaced'),
} as const;
export type Proofs = Readonly<Partial<Record<keyof typeof confirmations, unknown>>>;
export type FactorCaller = { readonly who: Principal; readonly ip: string } & Partial<
  Pick<RequestInfo, 'cookies' | 'signal'>
>;

export class TwoFactorRules {
  readonly #admins: Admins;
  readonly #attempts: Attempts;
  readonly #factors: SecondFactors;
  readonly #twoFactor: TwoFactor;
  readonly #changes: FactorChanges;

  constructor(parts: {
    admins: Admins;
    attempts: Attempts;
    factors: SecondFactors;
    twoFactor: TwoFactor;
    factorChanges: FactorChanges;
  }) {
    this.#admins = parts.admins;
    this.#attempts = parts.attempts;
    this.#factors = parts.factors;
    this.#twoFactor = parts.twoFactor;
    this.#changes = parts.factorChanges;
  }

  /** Turns it on, or puts another secret in place of that in force. */
  async enable(
    admin: KnownAdmin,
    secret: string,
    proofs: Proofs,
    caller: FactorCaller,
  ): Promise<FactorWrite> {
    if (secret === '') throw errors.NO_SECRET(undefined, { path: 'twoFactorToken' });
    return this.#checked(caller, async (attempt) => {
      // Read only now: this may have waited for seconds, and two-factor may have been turned on meanwhile.
      const before = await this.#factors.of(admin.id);
      if (before || proofs.password !== undefined) await this.#checkPassword(admin, proofs.password);
      if (before) await this.#checkReplacement(attempt, admin, secret, proofs);
      else if (!(await this.#twoFactor.acceptsOf(admin.id, secret, proofs.twoFactorCode)))
        throw errors.WRONG_CODE(undefined, { path: 'twoFactorCode' });
      return this.#changes.setting(admin, before, secret, caller.who);
    });
  }

  async disable(admin: KnownAdmin, proofs: Proofs, caller: FactorCaller): Promise<FactorWrite> {
    if (!this.#factors.has(admin.id)) throw errors.NO_SECOND_FACTOR();
    return this.#checked(caller, async (attempt) => {
      const before = await this.#factors.of(admin.id);
      if (proofs.password !== undefined) await this.#checkPassword(admin, proofs.password);
      await this.#checkCode(attempt, admin, 'twoFactorCode', proofs.twoFactorCode);
      return this.#changes.removing(admin, before, caller.who);
    });
  }

  /** Checks a code in force, or a recovery code, before new recovery codes are made. */
  async renew(admin: KnownAdmin, code: unknown, caller: FactorCaller): Promise<FactorWrite> {
    if (!this.#factors.has(admin.id)) throw errors.TWO_FACTOR_OFF(undefined, { path: 'twoFactorCode' });
    return this.#checked(caller, async (attempt) => {
      const before = await this.#factors.of(admin.id);
      await this.#checkCode(attempt, admin, 'twoFactorCode', code);
      return this.#changes.renewing(admin, before, caller.who);
    });
  }

  #checked<T>(
    { who, ip, cookies, signal }: FactorCaller,
    check: (attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    const guesser = {
      ip,
      username: who.name,
      isAuthenticated: true,
      ...(cookies && { cookies }),
      ...(signal && { signal }),
    };
    return this.#attempts.run(guesser, check);
  }

  async #checkPassword({ id }: KnownAdmin, password: unknown): Promise<void> {
    if (typeof password !== 'string')
      throw errors.WRONG_CREDENTIALS(
        'a new secret while two-factor is on needs the password as well: send it in password',
        { path: 'password' },
      );
    if (!(await this.#admins.isPassword(password, id)))
      throw errors.WRONG_CREDENTIALS('the password is wrong', { path: 'password' });
  }

  /** A new secret opens the panel like no secret at all for its owner, so replacing it needs the same proof as turning two-factor off. */
  async #checkReplacement(
    attempt: Attempt,
    admin: KnownAdmin,
    secret: string,
    proofs: Proofs,
  ): Promise<void> {
    // Checked first: a typing error here must not use up a recovery code.
    const step = this.#twoFactor.stepOf(secret, proofs.twoFactorCode);
    if (step === undefined) throw errors.WRONG_CODE(undefined, { path: 'twoFactorCode' });
    await this.#checkCode(attempt, admin, 'currentTwoFactorCode', proofs.currentTwoFactorCode);
    await this.#admins.spendStep(admin.id, step);
  }

  async #checkCode(attempt: Attempt, { id }: KnownAdmin, path: string, code: unknown): Promise<void> {
    if (await this.#twoFactor.accepts(id, code)) return;
    attempt.wrongCode();
    throw errors.WRONG_CODE(
      `${path} must be a two-factor code of the secret in force that was not used yet, or a recovery code`,
      { path },
    );
  }
}
