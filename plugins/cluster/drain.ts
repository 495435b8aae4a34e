// Takes this panel out of service before it stops: a balancer sends its callers elsewhere, another panel takes over the lead,
// and those who still come are answered.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ListenersApi, type Log, messageOf } from '../../kernel/index.js';
import type { Leaving } from './leaving.js';
import type { Member } from './member.js';
import type { Readiness } from './readiness.js';

/** Most balancers look every two seconds and need two bad answers. */
const USUAL_S = 5;

export class Drain implements Leaving {
  readonly #log: Log;
  readonly #listeners: Pick<ListenersApi, 'leave'>;
  readonly #readiness: Readiness;
  readonly #member: Pick<Member, 'others' | 'handOver'>;
  readonly #config: { readonly name?: string | undefined; readonly drain?: number | undefined };

  constructor({
    log,
    listeners,
    readiness,
    member,
    config,
  }: {
    log: Log;
    listeners: Pick<ListenersApi, 'leave'>;
    readiness: Readiness;
    member: Pick<Member, 'others' | 'handOver'>;
    config: { readonly name?: string | undefined; readonly drain?: number | undefined };
  }) {
    this.#log = log;
    this.#listeners = listeners;
    this.#readiness = readiness;
    this.#member = member;
    this.#config = config;
  }

  readonly run = async (hurry: AbortSignal): Promise<void> => {
    const { name, drain } = this.#config;
    this.#readiness.leave();
    this.#listeners.leave();
    const others = name === undefined ? [] : await this.#member.others();
    // Where there is nobody to go to, waiting helps nobody.
    const seconds = drain ?? (others.length > 0 ? USUAL_S : 0);
    if (seconds > 0)
      this.#log.info('this panel takes no new callers, and stops soon', { seconds, others: [...others] });
    const over = sleep(seconds * 1000, undefined, { signal: hurry }).catch(() => undefined);
    if (others.length > 0)
      await this.#member.handOver('this panel stops').catch((error: unknown) =>
        // The lease ends by itself.
        this.#log.warn('the lead was not handed over', { reason: messageOf(error) }),
      );
    await over;
  };
}
