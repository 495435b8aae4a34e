// Records who signed in: the first time in an hour from an address, as some programs sign in for each call.
import type { Clock } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';

const HOUR = 3_600_000;
const MOST_KNOWN = 1000;

interface Needs {
  readonly clock: Clock;
  readonly audit: AuditTrailApi | undefined;
}
interface Attempt {
  readonly username: string;
  readonly ip: string;
  readonly ok: boolean;
  readonly method: string;
}

export class SignIns {
  readonly #needs: Needs;
  /** by name, address and method, the time of the last record */
  readonly #known = new Map<string, number>();

  constructor({ clock, audit }: Needs) {
    this.#needs = { clock, audit };
  }

  async record(attempts: readonly Attempt[]): Promise<void> {
    const { audit } = this.#needs;
    for (const { username, ip, method } of attempts.filter((attempt) => attempt.ok && this.#isNew(attempt)))
      await audit?.act(
        'session',
        { kind: 'session', name: username, ip },
        { name: 'login', facts: { method } },
      );
  }

  #isNew({ username, ip, method }: Attempt): boolean {
    const now = this.#needs.clock.now();
    const key = JSON.stringify([username, ip, method]);
    const last = this.#known.get(key);
    if (last !== undefined && Math.abs(now - last) < HOUR) return false;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, now);
    return true;
  }
}
