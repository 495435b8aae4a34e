// Runs every check that a person could guess at (passwords, codes), so that all of it is limited alike. How depends on who
// asks: a device or address that has logged in before has limits of its own, which nobody else can use up.
import { setTimeout as sleep } from 'node:timers/promises';
import { PanelError, type RequestInfo } from '../../kernel/index.js';
import type { DeviceCookie } from './device-cookie.js';
import { errors } from './errors.js';
import type { KnownAddresses } from './known-addresses.js';
import type { Limit, LoginLimits, Outcome } from './login-limits.js';
import type { NameGate } from './name-gate.js';
import { networksOf } from './network.js';

const PER_PAIR = 5;
const PER_ADDRESS = 20;
const PER_56 = 40;
const PER_48 = 80;
/** A full gate is free again after the longest delay at the latest. */
const GATE_RETRY_MS = 5_000;

export interface Guesser {
  readonly ip: string;
  readonly username: string;
  /** cookies of the request; the device cookie is among them */
  readonly cookies?: RequestInfo['cookies'];
  /** whether the caller has a session or a token already */
  readonly isAuthenticated?: boolean;
  readonly signal?: AbortSignal;
}

/** What a check knows, and tells, of its attempt. */
export interface Attempt {
  /** neither the device nor the address has logged in before */
  readonly isStranger: boolean;
  /** Reports that the password was right and the two-factor code was not. */
  wrongCode(): void;
}

/** What an attempt has to pass, by who makes it. */
interface Checks {
  /** the narrowest source comes last */
  readonly limits: readonly Limit[];
  /** those that a failure counts for besides */
  readonly also?: readonly Limit[];
  /** what the gate counts; undefined when the caller need not pass it */
  readonly gate: string | undefined;
  readonly isStranger: boolean;
}

const tooMany = (waitMs: number, message?: string) =>
  errors.TOO_MANY_LOGINS(message, { headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) } });

export class Attempts {
  readonly #limits: LoginLimits;
  readonly #gate: NameGate;
  readonly #addresses: KnownAddresses;
  readonly #devices: DeviceCookie;

  constructor({
    limits,
    gate,
    addresses,
    devices,
  }: { limits: LoginLimits; gate: NameGate; addresses: KnownAddresses; devices: DeviceCookie }) {
    this.#limits = limits;
    this.#gate = gate;
    this.#addresses = addresses;
    this.#devices = devices;
  }

  /** Throws TOO_MANY_LOGINS when this device or address is blocked, whatever the user name. Needs no body, and counts nothing. */
  refuseBlocked(caller: Pick<Guesser, 'ip' | 'cookies'>): void {
    const { limits } = this.#checksOf({ ...caller, username: '' });
    const waitMs = this.#limits.blockedFor(limits.map(({ source }) => source));
    if (waitMs > 0) throw tooMany(waitMs);
  }

  /** Runs the check unless there were too many failures before. A PanelError of the check counts as a failure. */
  async run<T>(guesser: Guesser, check: (attempt: Attempt) => Promise<T>): Promise<T> {
    const checks = this.#checksOf(guesser);
    const blocked = this.#limits.blockedFor(checks.limits.map(({ source }) => source));
    if (blocked > 0) throw tooMany(blocked);
    const entered = checks.gate === undefined ? undefined : this.#gate.enter(checks.gate);
    if (checks.gate !== undefined && !entered)
      throw tooMany(GATE_RETRY_MS, 'too many logins with this user name are being checked; try again');
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
          // The caller is gone; nobody is to blame.
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
      // What was not checked, or failed for another reason, says nothing of a password.
      if (hasBegun && error instanceof PanelError && error.code !== errors.TOO_MANY_LOGINS.code)
        outcome = 'failed';
      throw error;
    } finally {
      admitted(outcome);
      entered?.leave(outcome, wrongCode);
    }
  }

  /** Forgets every failure and lifts every block. */
  async forget(): Promise<void> {
    this.#gate.forget();
    await this.#limits.forget();
  }

  /** Tests put a clock of their own here. */
  protected wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return sleep(ms, undefined, { signal });
  }

  #checksOf({ ip, username, cookies = {}, isAuthenticated = false }: Guesser): Checks {
    const user = username.trim().toLowerCase();
    const { own, around } = networksOf(ip);
    const limits = (source: string): Limit[] => [
      { source, most: PER_ADDRESS },
      { source: `${source} ${user}`, most: PER_PAIR },
    ];
    const device = this.#devices.idOf(cookies);
    if (device !== undefined)
      return { limits: limits(`device ${device}`), gate: undefined, isStranger: false };
    const address = limits(`address ${own}`);
    const isKnown = this.#addresses.has(ip);
    // Strangers behind the same router or proxy, who fail at the address, do not lock it out.
    if (isAuthenticated && isKnown)
      return {
        limits: limits(`authenticated ${own}`),
        also: address,
        gate: undefined,
        isStranger: false,
      };
    if (isKnown) return { limits: address, gate: undefined, isStranger: false };
    // One gate for all of them: a stolen token could make others, with names of their own.
    if (isAuthenticated)
      return { limits: limits(`authenticated ${own}`), gate: 'authenticated', isStranger: false };
    const wider = around.map((source, i) => ({
      source: `address ${source}`,
      most: i === 0 ? PER_56 : PER_48,
    }));
    return { limits: [...wider, ...address], gate: `user ${user}`, isStranger: true };
  }
}
