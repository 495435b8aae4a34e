// One notification on its way over one channel.
import type { ClientRecipient, Notification, Severity } from '../contract.js';

export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'dropped';
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'dropped'] as const;

export interface Delivery {
  readonly id: number;
  readonly channel: string;
  readonly notification: Notification;
  readonly client: ClientRecipient | undefined;
  state: DeliveryState;
  attempts: number;
  queuedAt: number;
  attemptedAt: number;
  /** Unix ms before which no attempt is made */
  nextAt: number;
  /** why the last attempt failed, or why it was dropped */
  problem: string;
}

const SECOND = 1_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** A receiver may ask for more time than an hour, but not for ever. */
export const LONGEST_ASKED_MS = 6 * 3_600_000;
/** What is older is no news. */
export const GIVE_UP_MS = 24 * 3_600_000;
const LONGEST_PROBLEM = 500;

const RANKS: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 };
export const rankOf = (delivery: Delivery): number => RANKS[delivery.notification.severity];

/** Pause before the next attempt: 1 s, 4 s, 16 s … an hour, each up to a quarter longer or shorter, so that many panels do not come back at once. */
export function pauseAfter(attempts: number, random = Math.random()): number {
  const pause = Math.min(SECOND * 4 ** Math.max(0, attempts - 1), LONGEST_PAUSE_MS);
  return Math.round(pause * (0.75 + random / 2));
}

/** `retryAfterMs` of an error, if it is a usable one. */
export function askedPause(error: unknown): number | undefined {
  const asked = memberOf(error, 'retryAfterMs');
  return typeof asked === 'number' && Number.isFinite(asked) && asked > 0
    ? Math.min(asked, LONGEST_ASKED_MS)
    : undefined;
}
export const isPermanent = (error: unknown): boolean => memberOf(error, 'isPermanent') === true;

/** An error of a channel may be anything, also an object whose members throw. */
function memberOf(error: unknown, name: string): unknown {
  try {
    return (error as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

export function problemOf(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? error.message : String(error);
  } catch {
    text = '';
  }
  const plain = Buffer.from(String(text).slice(0, LONGEST_PROBLEM)).toString();
  return (
    plain
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, LONGEST_PROBLEM) || 'no reason given'
  );
}
