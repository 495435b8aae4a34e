// What must be shown before two-factor login is switched on or off: that the new authenticator works, and that it is really you.
import type { SessionsApi } from '../../kernel/index.js';
import type { SettingsCaller } from '../settings/contract.js';
import type { Admins } from './admins.js';
import type { Attempts } from './attempts.js';
import { errors } from './errors.js';
import type { TwoFactor } from './two-factor.js';

type Values = Readonly<Record<string, unknown>>;

export class TwoFactorRules {
  readonly #admins: Admins;
  readonly #attempts: Attempts;
  readonly #sessions: SessionsApi;
  readonly #twoFactor: TwoFactor;

  constructor({
    admins,
    attempts,
    sessions,
    twoFactor,
  }: { admins: Admins; attempts: Attempts; sessions: SessionsApi; twoFactor: TwoFactor }) {
    this.#admins = admins;
    this.#attempts = attempts;
    this.#sessions = sessions;
    this.#twoFactor = twoFactor;
  }

  /** There is a secret only while two-factor is on: one that nobody has tried yet, or that is of no use any more, is not kept. */
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
    caller,
  }: {
    changes: Values;
    values: Values;
    sent: Values;
    caller: SettingsCaller;
  }): Promise<void> {
    if (!('twoFactorEnable' in changes) && !('twoFactorToken' in changes)) return;
    const { isOn } = this.#twoFactor;
    const willBeOn = values['twoFactorEnable'] === true;
    const secret = String(values['twoFactorToken'] ?? '');
    if (willBeOn && secret === '') throw errors.NO_SECRET(undefined, { path: 'twoFactorToken' });
    const { password, twoFactorCode: code } = sent;
    await this.#attempts.run({ ip: caller.ip, username: caller.name }, async () => {
      if (typeof password === 'string' ? !(await this.#admins.isPassword(password)) : isOn && willBeOn) {
        throw errors.WRONG_CREDENTIALS(
          typeof password === 'string'
            ? 'the password is wrong'
            : 'a new secret while two-factor is on needs the password as well: send it in password',
          { path: 'password' },
        );
      }
      if (!willBeOn && typeof password === 'string') return;
      if (!(await this.#twoFactor.accepts(code, willBeOn ? secret : undefined)))
        throw errors.WRONG_CODE(undefined, { path: 'twoFactorCode' });
    });
    // Who came in with a password alone shall not stay.
    if (willBeOn) await this.#sessions.closeAll({ except: caller.session });
  }
}
