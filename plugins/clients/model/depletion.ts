// The limits of a client, and whether it is enabled with them.
import type { ClientRow } from './row.js';

export type Depletion = 'quota' | 'expiry' | undefined;

type Used = Pick<ClientRow, 'up' | 'down' | 'elsewhereUp' | 'elsewhereDown'>;

/** Which limit a client has reached, whether or not it is enabled. Bytes on other machines count for the quota. */
export function depletionOf(
  {
    totalGB,
    expiryTime,
    up,
    down,
    elsewhereUp = 0,
    elsewhereDown = 0,
  }: Pick<ClientRow, 'totalGB' | 'expiryTime' | 'up' | 'down'> & Partial<Used>,
  now: number,
): Depletion {
  if (totalGB > 0 && up + down + elsewhereUp + elsewhereDown >= totalGB) return 'quota';
  if (expiryTime > 0 && expiryTime <= now) return 'expiry';
  return undefined;
}

/** A new period begins: what was used before does not count any more, here and elsewhere. */
export const NOTHING_USED: Used = { up: 0, down: 0, elsewhereUp: 0, elsewhereDown: 0 };

/** Decides whether a client is enabled: a client at a limit is not, and is enabled again when the limit is raised. An admin's own choice is kept. */
export function decideEnabled(
  client: Pick<ClientRow, 'enable' | 'depletedCause' | 'totalGB' | 'expiryTime'> & Used,
  now: number,
): Pick<ClientRow, 'enable' | 'depletedCause'> {
  const cause = depletionOf(client, now) ?? null;
  const wanted = client.enable || client.depletedCause !== null;
  return { enable: wanted && cause === null, depletedCause: wanted ? cause : null };
}

type Switch = Pick<ClientRow, 'enable' | 'depletedCause'>;
export const isSameSwitch = (a: Switch, b: Switch): boolean =>
  a.enable === b.enable && a.depletedCause === b.depletedCause;
