// The second factor: a code by time (RFC 6238: SHA-1, six digits, thirty seconds) from a secret that an authenticator shares with us.
import { Secret, TOTP } from 'otpauth';
import { bool, type Clock, text, type Tx } from '../../kernel/index.js';
import { setting, type SettingsApi } from '../settings/contract.js';
import type { Admins } from './admins.js';

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

  constructor({ settings, admins, clock }: { settings: SettingsApi; admins: Admins; clock: Clock }) {
    this.#settings = settings;
    this.#admins = admins;
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#settings.read(twoFactorSettings).twoFactorEnable;
  }
  get secret(): string {
    return this.#settings.read(twoFactorSettings).twoFactorToken;
  }

  /** Whether this is a code of the secret, and the first time that we see it: a code that somebody overheard opens nothing. */
  async accepts(code: unknown, secret = this.secret): Promise<boolean> {
    if (typeof code !== 'string' || secret === '') return false;
    const now = this.#clock.now();
    const delta = TOTP.validate({
      token: code.replaceAll(/\s/g, ''),
      secret: Secret.fromBase32(secret),
      timestamp: now,
      window: WINDOW,
    });
    return delta !== null && (await this.#admins.spendStep(TOTP.counter({ timestamp: now }) + delta));
  }

  turnOff(tx: Tx): Promise<void> {
    return this.#settings.change(tx, twoFactorSettings, { twoFactorEnable: false, twoFactorToken: '' });
  }
}
