// The second factor: a code by time (RFC 6238: SHA-1, six digits, thirty seconds) from a secret that an authenticator shares with us.
import { Secret, TOTP } from 'otpauth';
import { bool, type Clock, inSection, type Log, setting, text } from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { RecoveryCodes } from './recovery-codes.js';
import type { SecondFactor, SecondFactors } from './second-factors.js';

/** RFC 4226 wants 128 bits. */
const LEAST_BYTES = 16;
/** Accepted steps before and after the current one: clocks differ, and people need time to type. */
const WINDOW = 1;

/** Authenticators show secrets in groups and small letters. */
const plainSecret = (value: string): string => value.replaceAll(/[\s=-]/g, '').toUpperCase();
/** Nothing, or as many letters and digits as these bytes need, five bits each. */
const SECRET = /^[\s=-]*(?:(?:[A-Za-z2-7][\s=-]*){26,})?$/;
export const secretText = () =>
  text()
    .max(256)
    .pattern(
      SECRET,
      `base32 of at least ${LEAST_BYTES} bytes: 26 or more letters, and digits from 2 to 7, in groups or not`,
    )
    .custom(plainSecret);

/** Each admin has values of its own for these, in the tables of this plugin. What is stored as settings is from earlier releases. */
export const twoFactorSettings = inSection('Second factor', {
  twoFactorEnable: setting(
    bool(),
    false,
    'a login of the admin who asks needs a code of an authenticator as well',
  ),
  twoFactorToken: setting(
    secretText(),
    '',
    'secret that the authenticator of the admin who asks shares, in base32',
    { when: { field: 'twoFactorEnable' }, secret: true },
  ),
});

export class TwoFactor {
  readonly #factors: SecondFactors;
  readonly #admins: Admins;
  readonly #clock: Clock;
  readonly #recoveryCodes: RecoveryCodes;
  readonly #log: Log;

  constructor(parts: {
    factors: SecondFactors;
    admins: Admins;
    clock: Clock;
    recoveryCodes: RecoveryCodes;
    log: Log;
  }) {
    this.#factors = parts.factors;
    this.#admins = parts.admins;
    this.#clock = parts.clock;
    this.#recoveryCodes = parts.recoveryCodes;
    this.#log = parts.log;
  }

  /** Accepts what this admin must show beside the password: nothing without a second factor. Returns the factor that was asked for, which `stillCounts` compares. */
  async passes(
    adminId: number,
    code: unknown,
  ): Promise<{ readonly factor: SecondFactor | undefined } | undefined> {
    const factor = await this.#factors.of(adminId);
    if (factor && !(await this.#fits(adminId, factor, code))) return undefined;
    return { factor };
  }

  /** Whether the admin has no other second factor than the one that `passes` asked for. */
  async stillCounts(adminId: number, asked: SecondFactor | undefined): Promise<boolean> {
    const now = await this.#factors.of(adminId);
    return now === undefined || now.since === asked?.since;
  }

  /** Accepts a code of the secret in force once, so that an overheard code gives no access. Also accepts a recovery code, and uses it up. */
  async accepts(adminId: number, code: unknown): Promise<boolean> {
    const factor = await this.#factors.of(adminId);
    return factor !== undefined && this.#fits(adminId, factor, code);
  }

  async #fits(adminId: number, { secret }: SecondFactor, code: unknown): Promise<boolean> {
    if (typeof code !== 'string') return false;
    if (!this.#recoveryCodes.isOne(code)) return this.acceptsOf(adminId, secret, code);
    if (!(await this.#recoveryCodes.spend(adminId, code))) return false;
    this.#log.warn('a recovery code was used in place of a two-factor code', {
      left: await this.#recoveryCodes.left(adminId),
    });
    return true;
  }

  /** Like `accepts`, for a secret that is not in force yet. */
  async acceptsOf(adminId: number, secret: string, code: unknown): Promise<boolean> {
    const step = this.stepOf(secret, code);
    return step !== undefined && (await this.#admins.spendStep(adminId, step));
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
}
