// Runs every check of a password or code, so that guessing is limited everywhere in the same way. The limits depend on the
// caller: a device or address that has logged in before has its own limits, which nobody else can use up.
import { setTimeout as sleep } from 'node:timers/promises';
import { PanelError, type RequestInfo } from '../../kernel/index.js';
import type { DeviceCookie } from './device-cookie.js';
import { errors } from './errors.js';
import type { KnownAddresses } from './known-addresses.js';
import type { Limit, LoginLimits, Outcome } from './login-limits.js';
import type { NameThrottle } from './name-throttle.js';
import { networksOf } from './networks.js';

const PER_PAIR = 5;
const PER_ADDRESS = 20;
const PER_56 = 40;
const PER_48 = 80;
/** A full throttle has room again after the longest delay at the latest. */
const THROTTLE_RETRY_MS = 5_000;

export interface Guesser {
  readonly ip: string;
  readonly username: string;
  /** cookies of the request; the device cookie is among them */
  readonly cookies?: RequestInfo['cookies'];
  /** whether the caller has a session or a token already */
  readonly isAuthenticated?: boolean;
  /** Whether the proof cannot be guessed, and names its admin itself: failures of others do not slow it down. */
  readonly isUnguessable?: boolean;
  readonly signal?: AbortSignal;
}

/** The attempt, as its check sees it. */
export interface Attempt {
  /** neither the device nor the address has logged in before */
  readonly isStranger: boolean;
  /** Reports that the password was right and the two-factor code was not. */
  wrongCode(): void;
}

/** The limits of an attempt, which depend on its caller. */
interface Checks {
  /** the narrowest source comes last */
  readonly limits: readonly Limit[];
  /** limits that also count a failure, but are not checked */
  readonly also?: readonly Limit[];
  /** the name that the throttle counts; undefined if the caller is not throttled */
  readonly throttled: string | undefined;
  readonly isStranger: boolean;
}

const isWrongGuess = (error: unknown): boolean =>
  error instanceof PanelError && error.status < 500 && error.code !== errors.TOO_MANY_LOGINS.code;
const tooMany = (waitMs: number, message?: string) =>
  errors.TOO_MANY_LOGINS(message, { headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) } });

export class Attempts {
  readonly #limits: LoginLimits;
  readonly #throttle: NameThrottle;
  readonly #addresses: KnownAddresses;
  readonly #devices: DeviceCookie;

  constructor({
    limits,
    throttle,
    addresses,
    devices,
  }: { limits: LoginLimits; throttle: NameThrottle; addresses: KnownAddresses; devices: DeviceCookie }) {
    this.#limits = limits;
    this.#throttle = throttle;
    this.#addresses = addresses;
    this.#devices = devices;
  }

  /** Throws TOO_MANY_LOGINS when this device or address is blocked, whatever the user name; or, with a name, for it. Needs no body, and counts nothing. */
  refuseBlocked(caller: Pick<Guesser, 'ip' | 'cookies'> & { readonly username?: string }): void {
    const { limits } = this.#checksOf({ username: '', ...caller });
    const waitMs = this.#limits.blockedFor(limits.map(({ source }) => source));
    if (waitMs > 0) throw tooMany(waitMs);
  }

  /** Runs the check unless there were too many failures before. A PanelError of the check below 500 counts as a failure. */
  async run<T>(guesser: Guesser, check: (attempt: Attempt) => Promise<T>): Promise<T> {
    const checks = this.#checksOf(guesser);
    const sources = checks.limits.map(({ source }) => source);
    const blocked = this.#limits.blockedFor(sources);
    if (blocked > 0) throw tooMany(blocked);
    const others = this.#limits.hasCounted(sources) ? this.#limits.catchUp() : undefined;
    if (others) await others;
    const entered = checks.throttled === undefined ? undefined : this.#throttle.enter(checks.throttled);
    if (checks.throttled !== undefined && !entered)
      throw tooMany(THROTTLE_RETRY_MS, 'too many logins with this user name are being checked; try again');
    const admitted = this.#limits.admit(checks.limits, checks.also);
    if (typeof admitted !== 'function') {
      entered?.leave('undecided', false);
      throw tooMany(admitted.waitMs);
    }
    let outcome: Outcome = 'undecided';
    let wrongCode = false;
    let hasBegun = false;
    try {
      if (entered && entered.delay > 0)
        await this.wait(entered.delay, guesser.signal).catch((cause: unknown) => {
          // The caller has closed the connection; this is not a failed guess.
          throw errors.WRONG_LOGIN(undefined, { cause });
        });
      hasBegun = true;
      const result = await check({
        isStranger: checks.isStranger,
        wrongCode: () => {
          wrongCode = true;
        },
      });
      outcome = 'succeeded';
      return result;
    } catch (error) {
      // An attempt that was not checked, or failed for another reason, is not a wrong guess.
      if (hasBegun && isWrongGuess(error)) outcome = 'failed';
      throw error;
    } finally {
      entered?.leave(outcome, wrongCode);
      await admitted(outcome);
    }
  }

  /** Clears all failures and blocks. */
  async forget(): Promise<void> {
    this.#throttle.forget();
    await this.#limits.forget();
  }

  /** Tests override it with their own clock. */
  protected wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return sleep(ms, undefined, { signal });
  }

  #checksOf({ ip, username, cookies = {}, isAuthenticated = false, isUnguessable = false }: Guesser): Checks {
    const user = username.trim().toLowerCase();
    const { own, around } = networksOf(ip);
    const limits = (source: string): Limit[] => [
      { source, most: PER_ADDRESS },
      { source: `${source} ${user}`, most: PER_PAIR },
    ];
    const device = this.#devices.idOf(cookies);
    if (device !== undefined)
      return { limits: limits(`device ${device}`), throttled: undefined, isStranger: false };
    const address = limits(`address ${own}`);
    const isKnown = this.#addresses.has(ip);
    // Strangers behind the same router or proxy, who fail at the address, do not lock it out.
    if (isAuthenticated && isKnown)
      return {
        limits: limits(`authenticated ${own}`),
        also: address,
        throttled: undefined,
        isStranger: false,
      };
    if (isKnown) return { limits: address, throttled: undefined, isStranger: false };
    // One name for all of them: a stolen token could create other tokens, with other names.
    if (isAuthenticated)
      return { limits: limits(`authenticated ${own}`), throttled: 'authenticated', isStranger: false };
    const wider = around.map((source, i) => ({
      source: `address ${source}`,
      most: i === 0 ? PER_56 : PER_48,
    }));
    const throttled = isUnguessable ? undefined : `user ${user}`;
    return { limits: [...wider, ...address], throttled, isStranger: true };
  }
}
