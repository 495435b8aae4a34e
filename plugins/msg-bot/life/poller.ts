// Fetches updates by long polling, as long as its signal allows.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BotApi } from '../api/bot-api.js';
import { type BotFailure, failureAround } from '../api/failure.js';
import type { BotUpdate } from '../api/update.js';

const LONGEST_PAUSE_MS = 60_000;
const CONFLICT_MS = 5_000;
/** A server that answers at once with nothing new is not asked more often than that. */
const IDLE_MS = 1_000;

export interface Polling {
  readonly api: BotApi;
  readonly signal: AbortSignal;
  /** id of the first update that is not handled */
  offset(): Promise<number>;
  /** Returns how many of them were new. */
  take(updates: readonly BotUpdate[]): Promise<number>;
  /** Called after each attempt: with the failure, or with nothing. */
  report(failure: BotFailure | undefined): void;
}

/** The pause after so many failures in a row. */
export function pauseAfter({ kind, retryAfterMs }: BotFailure, failures: number): number {
  if (kind === 'rate') return retryAfterMs ?? 1_000;
  const first = kind === 'conflict' ? CONFLICT_MS : 1_000;
  const pause = Math.min(first * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS);
  return pause * (0.75 + Math.random() / 2);
}

/** Resolves never; rejects when the signal aborts, and when the token is not valid any more. */
export async function poll({ api, signal, offset, take, report }: Polling): Promise<never> {
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    const began = Date.now();
    try {
      const updates = await api.updates(await offset(), signal);
      failures = 0;
      report(undefined);
      const fresh = await take(updates);
      if (fresh === 0 && Date.now() - began < IDLE_MS) await sleep(IDLE_MS, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      const failure = failureAround(error);
      report(failure);
      if (failure.kind === 'token') throw failure;
      await sleep(pauseAfter(failure, ++failures), undefined, { signal });
      // A webhook that somebody else has set is a conflict too.
      if (failure.kind === 'conflict') await api.deleteWebhook(signal).catch(() => undefined);
    }
  }
}
