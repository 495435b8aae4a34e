// The end of a subscription, as programs and pages are told.
import type { ClientRow } from '../clients/contract.js';
import { formatDate } from './remark/format.js';

/** Which ends belong to the day before: of a panel that sells months. */
export interface ShownExpiry {
  readonly inclusive: boolean;
  readonly timeZone: string | undefined;
}

const isStartOfMonth = (time: number, timeZone: string | undefined): boolean => {
  const day = formatDate(time, timeZone);
  return day.endsWith('-01') && formatDate(time - 1, timeZone) !== day;
};

/** Unix s; 0: never, or not before the first use. */
export function expireOf({ expiryTime, resetDay }: ClientRow, { inclusive, timeZone }: ShownExpiry): number {
  if (expiryTime <= 0) return 0;
  const seconds = Math.floor(expiryTime / 1000);
  return inclusive && resetDay === 1 && isStartOfMonth(expiryTime, timeZone) ? seconds - 1 : seconds;
}
