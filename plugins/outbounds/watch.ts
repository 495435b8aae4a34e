// Tests all outbounds of the config on a schedule, and says which went down and which came back.
import type { Clock, Hooks, Log } from '../../kernel/index.js';
import type { CoreOutboundsApi } from '../engine/contract.js';
import { outboundDown, outboundUp } from './contract.js';
import { isReverse, protocolOf, tagOf } from './outbound-json.js';
import { MOST_TESTED } from './request.js';
import type { OutboundTester, Tested } from './tester.js';

/** How a tested outbound is. */
export interface Health {
  readonly tag: string;
  /** false once it failed as often in a row as `outboundDownThreshold` says, until it works again */
  readonly up: boolean;
  /** in a row */
  readonly failures: number;
  /** ms, of the last test; 0 when it failed */
  readonly delay: number;
  /** '' when the last test succeeded */
  readonly error: string;
  /** Unix ms */
  readonly testedAt: number;
}
interface Needs {
  readonly clock: Pick<Clock, 'now'>;
  readonly hooks: Pick<Hooks, 'emit'>;
  readonly log: Log;
  readonly settings: {
    read(): { readonly outboundTestMinutes: number; readonly outboundDownThreshold: number };
  };
  readonly configured: CoreOutboundsApi | undefined;
  readonly tester: Pick<OutboundTester, 'test'>;
}
/** What a test changed; empty where an outbound is as it was. */
interface Change {
  readonly down?: { readonly tag: string; readonly failures: number; readonly error: string };
  readonly up?: { readonly tag: string; readonly delay: number };
}

const MINUTE_MS = 60_000;
/** They lead through no server. */
const UNTESTED = new Set(['freedom', 'direct', 'blackhole', 'block', 'dns', 'loopback']);

export class OutboundWatch {
  readonly #needs: Needs;
  readonly #health = new Map<string, Health>();
  #lastAt = -Infinity;

  constructor({ clock, hooks, log, settings, configured, tester }: Needs) {
    this.#needs = { clock, hooks, log, settings, configured, tester };
  }

  get health(): readonly Health[] {
    return [...this.#health.values()];
  }

  /** Tests when the time has come; a job calls it every minute. */
  async runWhenDue(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#needs;
    const { outboundTestMinutes: minutes } = settings.read();
    if (minutes === 0) return this.#health.clear();
    // The job itself is up to some seconds early or late.
    if (clock.now() - this.#lastAt < (minutes - 0.5) * MINUTE_MS) return;
    this.#lastAt = clock.now();
    await this.run(signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { configured, tester } = this.#needs;
    const all = (await configured?.all()) ?? [];
    // A reverse proxy cannot be tested either, which does not mean that it is down.
    const tested = all.filter((outbound) => !UNTESTED.has(protocolOf(outbound)) && !isReverse(outbound));
    const tags = new Set(tested.map(tagOf));
    for (const tag of this.#health.keys()) if (!tags.has(tag)) this.#health.delete(tag);
    for (let at = 0; at < tested.length && !signal.aborted; at += MOST_TESTED) {
      const outbounds = tested.slice(at, at + MOST_TESTED);
      const results = await tester.test({ outbounds, all, mode: 'http' });
      if (!signal.aborted) this.#report(results.map((result) => this.#note(result)));
    }
  }

  #report(changes: readonly Change[]): void {
    const { hooks, log } = this.#needs;
    const down = changes.flatMap((change) => change.down ?? []);
    const up = changes.flatMap((change) => change.up ?? []);
    for (const { tag, failures, error } of down)
      log.warn('an outbound is down', { outbound: tag, failures, reason: error });
    for (const { tag, delay } of up) log.info('an outbound works again', { outbound: tag, delay });
    if (down.length > 0) hooks.emit(outboundDown, { outbounds: down });
    if (up.length > 0) hooks.emit(outboundUp, { outbounds: up });
  }

  #note({ tag, success, delay, error = '' }: Tested): Change {
    const { clock, settings } = this.#needs;
    const before = this.#health.get(tag);
    const wasUp = before?.up ?? true;
    const failures = success ? 0 : (before?.failures ?? 0) + 1;
    const up = success || (wasUp && failures < settings.read().outboundDownThreshold);
    this.#health.set(tag, { tag, up, failures, delay, error: success ? '' : error, testedAt: clock.now() });
    if (wasUp && !up) return { down: { tag, failures, error } };
    return !wasUp && up ? { up: { tag, delay } } : {};
  }
}
