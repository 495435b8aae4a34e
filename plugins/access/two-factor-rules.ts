// What a caller must prove before two-factor login is turned on or off: that the new authenticator works, and who the caller is.
import { nullable, optional, type Principal, type SessionsApi, text } from '../../kernel/index.js';
import type { SettingsCaller } from '../settings/contract.js';
import type { Admins } from './admins.js';
import type { Attempt, Attempts } from './attempts.js';
import { errors } from './errors.js';
import type { RecoveryCodes } from './recovery-codes.js';
import type { TwoFactor } from './two-factor.js';

type Values = Readonly<Record<string, unknown>>;

/** What `setting/update` takes beside settings: proofs that the caller is the admin. */
export const confirmations = {
  password: optional(nullable(text())).description(
    'of the admin; before two-factor login is turned on or its secret changes',
  ),
  twoFactorCode: optional(nullable(text())).description('code of the secret that is in force afterwards'),
  currentTwoFactorCode: optional(nullable(text())).description('code of the secret that is replaced'),
} as const;

export class TwoFactorRules {
  readonly #admins: Admins;
  readonly #attempts: Attempts;
  readonly #sessions: SessionsApi;
  readonly #twoFactor: TwoFactor;
  readonly #recoveryCodes: RecoveryCodes;

  constructor(parts: {
    admins: Admins;
    attempts: Attempts;
    sessions: SessionsApi;
    twoFactor: TwoFactor;
    recoveryCodes: RecoveryCodes;
  }) {
    this.#admins = parts.admins;
    this.#attempts = parts.attempts;
    this.#sessions = parts.sessions;
    this.#twoFactor = parts.twoFactor;
    this.#recoveryCodes = parts.recoveryCodes;
  }

  /** Stores a secret only while two-factor is on: an untested or unused one is dropped. */
  follow(changes: Values): Values {
    const on = changes['twoFactorEnable'] ?? this.#twoFactor.isOn;
    if (on) return changes;
    const { twoFactorToken: _, ...others } = changes;
    return this.#twoFactor.secret === '' ? others : { ...others, twoFactorToken: '' };
  }

  async check({
    changes,
    values,
    sent,
    who,
  }: {
    changes: Values;
    values: Values;
    sent: Values;
    who: SettingsCaller;
  }): Promise<void> {
    if (!('twoFactorEnable' in changes) && !('twoFactorToken' in changes)) return;
    const willBeOn = values['twoFactorEnable'] === true;
    const secret = String(values['twoFactorToken'] ?? '');
    if (willBeOn && secret === '') throw errors.NO_SECRET(undefined, { path: 'twoFactorToken' });
    const guesser = { ip: who.ip, username: who.name, isAuthenticated: true };
    await this.#attempts.run(guesser, async (attempt) => {
      // Read only now: this may have waited for seconds, and two-factor may have been turned on meanwhile.
      const { isOn } = this.#twoFactor;
      if (sent['password'] !== undefined || (isOn && willBeOn))
        await this.#checkPassword(sent['password'], who);
      if (!willBeOn) await this.#checkCode(attempt, 'twoFactorCode', sent['twoFactorCode']);
      else if (isOn) await this.#checkReplacement(attempt, secret, sent);
      else if (!(await this.#twoFactor.acceptsOf(secret, sent['twoFactorCode'])))
        throw errors.WRONG_CODE(undefined, { path: 'twoFactorCode' });
    });
  }

  /** Returns the recovery codes to show once after a save; undefined if two-factor was not turned on and its secret did not change. */
  async afterSave({ changes, who }: { changes: Values; who: SettingsCaller }): Promise<string[] | undefined> {
    if (changes['twoFactorEnable'] === false) await this.#recoveryCodes.discard();
    if (!changes['twoFactorEnable'] && !changes['twoFactorToken']) return undefined;
    // Closes sessions that began with a password alone, also those that began while this was saved.
    await this.#sessions.closeAll({ except: who.session });
    return this.#recoveryCodes.replace(who);
  }

  async #checkPassword(password: unknown, who: Principal): Promise<void> {
    if (typeof password !== 'string')
      throw errors.WRONG_CREDENTIALS(
        'a new secret while two-factor is on needs the password as well: send it in password',
        { path: 'password' },
      );
    if (!(await this.#admins.isPassword(password, who)))
      throw errors.WRONG_CREDENTIALS('the password is wrong', { path: 'password' });
  }

  /** A new secret opens the panel like no secret at all for its owner, so replacing it needs the same proof as turning two-factor off. */
  async #checkReplacement(attempt: Attempt, secret: string, sent: Values): Promise<void> {
    // Checked first: a typing error here must not use up a recovery code.
    const step = this.#twoFactor.stepOf(secret, sent['twoFactorCode']);
    if (step === undefined) throw errors.WRONG_CODE(undefined, { path: 'twoFactorCode' });
    await this.#checkCode(attempt, 'currentTwoFactorCode', sent['currentTwoFactorCode']);
    await this.#admins.spendStep(step);
  }

  async #checkCode(attempt: Attempt, path: string, code: unknown): Promise<void> {
    if (await this.#twoFactor.accepts(code)) return;
    attempt.wrongCode();
    throw errors.WRONG_CODE(
      `${path} must be a two-factor code of the secret in force that was not used yet, or a recovery code`,
      { path },
    );
  }
}
