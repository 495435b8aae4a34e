// What a reseller may give. Called inside the write, with the reseller as the database has it.
import { errors } from './errors.js';
import type { Reseller } from './tables.js';

const DAY_MS = 86_400_000;

/** Case and Unicode composition do not make another name, so they make no other prefix. */
const normal = (name: string): string => name.normalize('NFC').toLowerCase();

export function requirePrefix({ prefix }: Reseller, email: string): void {
  if (!normal(email).startsWith(normal(prefix)))
    throw errors.PREFIX(`email: the name must begin with ${JSON.stringify(prefix)}`, { path: 'email' });
}

export function requireInbounds({ inboundIds: allowed }: Reseller, inboundIds: readonly number[]): void {
  const other = inboundIds.find((id) => !allowed.includes(id));
  if (other !== undefined)
    throw errors.NOT_YOUR_INBOUND(`inboundIds: you may not use the inbound ${other}`, { path: 'inboundIds' });
}

/** `expiryTime` is Unix ms, 0 for never, or negative: ms from the first use on. */
export function requireExpiry({ maxDays }: Reseller, expiryTime: number, now: number): void {
  if (maxDays === 0) return;
  const lasts = expiryTime < 0 ? -expiryTime : expiryTime - now;
  if (expiryTime === 0 || lasts > maxDays * DAY_MS)
    throw errors.DAYS(`expiryTime: a client of yours may last at most ${maxDays} days from now`, {
      path: 'expiryTime',
    });
}

/** A limit that is changed, set or handed out again. */
export function requireLimit({ maxBytes }: Reseller, limit: number): void {
  if (maxBytes > 0 && limit === 0)
    throw errors.UNLIMITED('totalGB: a client of yours needs a limit of bytes; 0 is none', {
      path: 'totalGB',
    });
}

/** What the reseller has given with these bytes. */
export const addedTo = ({ givenBytes }: Reseller, bytes: number): number =>
  Math.min(givenBytes + bytes, Number.MAX_SAFE_INTEGER);

export function requireBytes(reseller: Reseller, bytes: number): void {
  const { maxBytes, givenBytes } = reseller;
  if (maxBytes > 0 && bytes > 0 && addedTo(reseller, bytes) > maxBytes)
    throw errors.BYTE_QUOTA(
      `totalGB: this needs ${bytes} bytes; of the ${maxBytes} that you may give, ${Math.max(0, maxBytes - givenBytes)} are left`,
      { path: 'totalGB' },
    );
}

export function requireRoom({ maxClients }: Reseller, others: number): void {
  if (maxClients > 0 && others >= maxClients)
    throw errors.CLIENT_QUOTA(`you may have ${maxClients} clients, and have ${others}; delete one first`);
}
