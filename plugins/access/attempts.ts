// Everything that a person could guess at (passwords, codes) is tried through here, so that all of it is limited alike.
import { setTimeout as sleep } from 'node:timers/promises';
import { errors } from './errors.js';
import type { LoginLimits } from './login-limits.js';

export interface Guesser {
  readonly ip: string;
  readonly username: string;
  readonly signal?: AbortSignal;
}

const tooMany = (blockedFor: number) =>
  errors.TOO_MANY_LOGINS(undefined, { headers: { 'Retry-After': String(Math.ceil(blockedFor / 1000)) } });

export class Attempts {
  readonly #limits: LoginLimits;

  constructor({ limits }: { limits: LoginLimits }) {
    this.#limits = limits;
  }

  /** Refuses an address that is blocked. For before the body is read; it counts as no attempt. */
  refuseBlocked(ip: string): void {
    const blockedFor = this.#limits.blockedFor(ip);
    if (blockedFor > 0) throw tooMany(blockedFor);
  }

  /** Runs the check unless there were too many failures before; it throws when what was sent is wrong, and that counts. */
  async run<T>({ ip, username, signal }: Guesser, check: () => Promise<T>): Promise<T> {
    const verdict = this.#limits.attempt(ip, username);
    if ('blockedFor' in verdict) throw tooMany(verdict.blockedFor);
    if (verdict.delay > 0) {
      await sleep(verdict.delay, undefined, { signal }).catch((cause: unknown) => {
        // The caller is gone; nobody is to blame.
        throw errors.WRONG_LOGIN(undefined, { cause });
      });
    }
    const result = await check();
    this.#limits.succeeded(ip, username);
    return result;
  }
}
