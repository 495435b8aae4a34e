// When a call is sent again, and how long it waits before. Only calls that may run twice come here.
import { PanelFailure, PanelUnreachable } from './failure.js';

export interface RetryOptions {
  /** attempts after the first one: 3 by default, 0 for none, at most 10 */
  readonly most?: number;
  /** wait before the first of them, in ms; doubles each time; 500 by default */
  readonly firstDelayMs?: number;
  /** longest wait, in ms; a panel that asks for a longer one (`Retry-After`) is not asked again; 30,000 by default */
  readonly mostDelayMs?: number;
}
export type Retries = Required<RetryOptions>;

const MOST_RETRIES = 10;
/** A server, or a proxy in front of it, that cannot answer now. */
const TRANSIENT = new Set([429, 502, 503, 504]);
/** The panel works on the first call with this key; its reply follows. */
const UNDER_WAY = 'IDEMPOTENCY_UNDER_WAY';
/** It stays full for hours. */
const FULL = 'IDEMPOTENCY_TOO_MANY';

/** Throws a TypeError that names the option. */
export function checkedNumber(name: string, value: number, most: number, least = 0): number {
  if (!Number.isFinite(value) || value < least || value > most)
    throw new TypeError(`${name} must be a number from ${least} to ${most}, not ${value}`);
  return value;
}

export function retriesOf(given: RetryOptions = {}): Retries {
  // The longest time that a timer takes.
  const longest = 2 ** 31 - 1;
  return {
    most: checkedNumber('retries.most', given.most ?? 3, MOST_RETRIES),
    firstDelayMs: checkedNumber('retries.firstDelayMs', given.firstDelayMs ?? 500, longest),
    mostDelayMs: checkedNumber('retries.mostDelayMs', given.mostDelayMs ?? 30_000, longest),
  };
}

function isTransient(error: unknown): boolean {
  if (error instanceof PanelUnreachable) return true;
  if (!(error instanceof PanelFailure)) return false;
  return error.code === UNDER_WAY || (TRANSIENT.has(error.status) && error.code !== FULL);
}

/** Ms to wait before attempt number `attempt` (1 is the first repetition); undefined to give up. */
export function delayBefore(
  attempt: number,
  error: unknown,
  { most, firstDelayMs, mostDelayMs }: Retries,
): number | undefined {
  if (attempt > most || !isTransient(error)) return undefined;
  const asked = error instanceof PanelFailure ? (error.retryAfterMs ?? 0) : 0;
  if (asked > mostDelayMs) return undefined;
  // Spread, so that programs that failed together do not come back together.
  const own = Math.min(mostDelayMs, firstDelayMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
  return Math.max(asked, own);
}

/** The wait that a `Retry-After` asks for: seconds or a date (RFC 9110, 10.2.3). */
export function retryAfterOf(headers: Headers, now = Date.now()): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Date.parse takes much more than dates of HTTP, such as "-1".
  const date = /^[A-Z][a-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Rejects with the reason of the signal when it aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
