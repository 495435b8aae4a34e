// When a client renews, and until when. Pure: the poll and the preview ask the same function.
import { canRenew, type Renewable } from '../clients/contract.js';
import { daysLater, dayOfMonthStart, localDaysBetween, monthOf } from './calendar.js';

export type Renewing = Pick<Renewable, 'expiryTime' | 'reset' | 'resetDay' | 'resetMax' | 'resetCount'>;

export interface Renewal {
  readonly expiryTime: number;
  readonly resetCount: number;
  /** The new expiry is in the future. False if too few renewals were left: the client stays expired. */
  readonly isBack: boolean;
}

/** A period of 2,700 years is for ever; dates that are later have no calendar. */
const MOST_DAYS = 1_000_000;

/**
 * Moves the expiry of an expired client beyond `now`, in steps of its period. However many periods are over, this is
 * one renewal; each of them costs one of `resetMax`. Undefined for a client that is not due.
 */
export function renewal(client: Renewing, now: number, zone: string | undefined): Renewal | undefined {
  const { expiryTime, resetMax, resetCount } = client;
  if (expiryTime <= 0 || expiryTime > now || !canRenew(client)) return undefined;
  const { needed, after } = client.resetDay > 0 ? monthly(client, now, zone) : daily(client, now, zone);
  const steps = resetMax === 0 ? needed : Math.min(needed, resetMax - resetCount);
  // The count may come from a node or from a file, as large as a number can be.
  const count = Math.min(resetCount + steps, Number.MAX_SAFE_INTEGER);
  return { expiryTime: after(steps), resetCount: count, isBack: steps === needed };
}

interface Steps {
  /** steps until the expiry is in the future */
  readonly needed: number;
  /** the expiry after so many steps */
  after(steps: number): number;
}

/** On a day of the month, at midnight. Counted from the day itself, so a short month does not move the later ones. */
function monthly({ expiryTime, resetDay }: Renewing, now: number, zone: string | undefined): Steps {
  const start = (month: number): number => dayOfMonthStart(month, resetDay, zone);
  const monthAfter = (at: number): number => {
    const month = monthOf(at, zone);
    return start(month) > at ? month : month + 1;
  };
  const first = monthAfter(expiryTime);
  return { needed: monthAfter(now) - first + 1, after: (steps) => start(first + steps - 1) };
}

/** After so many days, at the same local time. */
function daily({ expiryTime, reset }: Renewing, now: number, zone: string | undefined): Steps {
  const days = Math.min(reset, MOST_DAYS);
  const after = (steps: number): number => daysLater(expiryTime, steps * days, zone);
  // A change of the clock may move the last step over `now`.
  let needed = Math.max(1, Math.floor(localDaysBetween(expiryTime, now, zone) / days));
  while (after(needed) <= now) needed++;
  return { needed, after };
}
