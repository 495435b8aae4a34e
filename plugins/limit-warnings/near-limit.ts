// Which limits a client is near.
import { canRenew, type ClientRow } from '../clients/contract.js';

export type WarningKind = 'quota' | 'expiry';
export interface Thresholds {
  readonly warnQuotaPercent: number;
  readonly warnExpiryDays: number;
}
export const DAY_MS = 86_400_000;

/** Near, and not beyond: of a client that has reached its limit, `traffic/clientDepleted` tells. */
export function nearQuota(
  { enable, totalGB, up, down }: Pick<ClientRow, 'enable' | 'totalGB' | 'up' | 'down'>,
  { warnQuotaPercent }: Thresholds,
): boolean {
  if (!enable || totalGB <= 0 || warnQuotaPercent === 0) return false;
  const used = up + down;
  return used < totalGB && used >= (totalGB / 100) * warnQuotaPercent;
}

/** A client that renews at its expiry goes on, so it is not warned. */
export function nearExpiry(
  client: Readonly<ClientRow>,
  { warnExpiryDays }: Thresholds,
  now: number,
): boolean {
  const { enable, expiryTime } = client;
  if (!enable || warnExpiryDays === 0 || expiryTime <= now) return false;
  return expiryTime <= now + warnExpiryDays * DAY_MS && !canRenew(client);
}
