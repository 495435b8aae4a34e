// The second factor: a code by time (RFC 6238: SHA-1, six digits, thirty seconds) from a secret that an authenticator shares with us.
import { Secret, TOTP } from 'otpauth';
import {
  bool,
  type Clock,
  type LiveSettings,
  type Log,
  type Principal,
  setting,
  text,
  type Tx,
  inSection,
} from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { RecoveryCodes } from './recovery-codes.js';

/** RFC 4226 wants 128 bits. */
const LEAST_BYTES = 16;
/** Accepted steps before and after the current one: clocks differ, and people need time to type. */
const WINDOW = 1;

/** Authenticators show secrets in groups and small letters. */
const plainSecret = (value: string): string => value.replaceAll(/[\s=-]/g, '').toUpperCase();
/** Nothing, or as many letters and digits as these bytes need, five bits each. */
const SECRET = /^[\s=-]*(?:(?:[A-Za-z2-7][\s=-]*){26,})?$/;
const secretText = () =>
  text()
    .max(256)
    .pattern(
      SECRET,
      `base32 of at least ${LEAST_BYTES} bytes: 26 or more letters, and digits from 2 to 7, in groups or not`,
    )
    .custom(plainSecret);

export const twoFactorSettings = inSection('Second factor', {
  twoFactorEnable: setting(bool(), false, 'a login needs a code of an authenticator as well'),
  twoFactorToken: setting(secretText(), '', 'secret that the authenticator shares, in base32', {
    when: { field: 'twoFactorEnable' },
    secret: true,
  }),
});

export class TwoFactor {
  readonly #settings: LiveSettings<typeof twoFactorSettings>;
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
  }: {
    settings: LiveSettings<typeof twoFactorSettings>;
    admins: Admins;
    clock: Clock;
    recoveryCodes: RecoveryCodes;
    log: Log;
  }) {
    this.#settings = settings;
    this.#admins = admins;
    this.#clock = clock;
    this.#recoveryCodes = recoveryCodes;
    this.#log = log;
  }

  get isOn(): boolean {
    return this.#settings.read().twoFactorEnable;
  }
  get secret(): string {
    return this.#settings.read().twoFactorToken;
  }

  /** Accepts a code of the secret once, so that an overheard code gives no access. Also accepts a recovery code, and uses it up. */
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

  /** Returns the time step of a code, used or not; undefined if the code is wrong. */
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
    await this.#settings.change(tx, { twoFactorEnable: false, twoFactorToken: '' }, who);
  }
}
