// The second factor: a code by time (RFC 6238: SHA-1, six digits, thirty seconds) from a secret that an authenticator shares with us.
import { Secret, TOTP } from 'otpauth';
import { bool, type Clock, type Log, type Principal, text, type Tx } from '../../kernel/index.js';
import { setting, type SettingsApi } from '../settings/contract.js';
import type { Admins } from './admins.js';
import type { RecoveryCodes } from './recovery-codes.js';

/** RFC 4226 wants 128 bits. */
const LEAST_BYTES = 16;
/** Steps before and after the present one: clocks differ, and people take their time. */
const WINDOW = 1;

/** Authenticators show secrets in groups and small letters. */
const plainSecret = (value: string): string => value.replaceAll(/[\s=-]/g, '').toUpperCase();
const secretText = () =>
  text()
    .max(256)
    .custom((value: string, state) => {
      const plain = plainSecret(value);
      if (plain !== '' && !/^[A-Z2-7]+$/.test(plain))
        return state.error('any.custom', {
          error: new Error('it is no base32: letters, and digits from 2 to 7'),
        });
      if (plain !== '' && Math.floor((plain.length * 5) / 8) < LEAST_BYTES)
        return state.error('any.custom', {
          error: new Error(
            `it is too short; a secret has at least ${LEAST_BYTES} bytes, 26 characters of base32`,
          ),
        });
      return plain;
    });

export const twoFactorSettings = {
  twoFactorEnable: setting(bool(), false, 'a login needs a code of an authenticator as well'),
  twoFactorToken: setting(secretText(), '', 'secret that the authenticator shares, in base32', {
    secret: true,
  }),
} as const;

export class TwoFactor {
  readonly #settings: SettingsApi;
  readonly #admins: Admins;
  readonly #clock: Clock;
  readonly #recoveryCodes: RecoveryCodes;
  readonly #log: Log;

  constructor({
    settings,
    admins,
    clock,
    recoveryCodes,
    log,
  }: { settings: SettingsApi; admins: Admins; clock: Clock; recoveryCodes: RecoveryCodes; log: Log }) {
    this.#settings = settings;
    this.#admins = admins;
    this.#clock = clock;
    this.#recoveryCodes = recoveryCodes;
    this.#log = log;
  }

  get isOn(): boolean {
    return this.#settings.read(twoFactorSettings).twoFactorEnable;
  }
  get secret(): string {
    return this.#settings.read(twoFactorSettings).twoFactorToken;
  }

  /** Whether this is a code of the secret, and the first time that we see it: a code that somebody overheard opens nothing. A recovery code does as well, and is used up. */
  async accepts(code: unknown): Promise<boolean> {
    if (typeof code !== 'string' || !this.isOn) return false;
    if (!this.#recoveryCodes.isOne(code)) return this.acceptsOf(this.secret, code);
    if (!(await this.#recoveryCodes.spend(code))) return false;
    this.#log.warn('a recovery code was used in place of a two-factor code', {
      left: await this.#recoveryCodes.left(),
    });
    return true;
  }

  /** Like `accepts`, for a secret that is not in force yet. */
  async acceptsOf(secret: string, code: unknown): Promise<boolean> {
    const step = this.stepOf(secret, code);
    return step !== undefined && (await this.#admins.spendStep(step));
  }

  /** The time step that this is the code of, used or not; undefined when the code is wrong. */
  stepOf(secret: string, code: unknown): number | undefined {
    if (typeof code !== 'string' || secret === '') return undefined;
    const now = this.#clock.now();
    const delta = TOTP.validate({
      token: code.replaceAll(/\s/g, ''),
      secret: Secret.fromBase32(secret),
      timestamp: now,
      window: WINDOW,
    });
    return delta === null ? undefined : TOTP.counter({ timestamp: now }) + delta;
  }

  async turnOff(tx: Tx, who: Principal): Promise<void> {
    await this.#recoveryCodes.clear(tx);
    await this.#settings.change(tx, twoFactorSettings, { twoFactorEnable: false, twoFactorToken: '' }, who);
  }
}
