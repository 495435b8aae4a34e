// The limits of a client, and whether it is enabled with them.
import type { ClientRow } from './row.js';

export type Depletion = 'quota' | 'expiry' | undefined;

/** Which limit a client has reached, whether or not it is enabled. */
export function depletionOf(
  { totalGB, expiryTime, up, down }: Pick<ClientRow, 'totalGB' | 'expiryTime' | 'up' | 'down'>,
  now: number,
): Depletion {
  if (totalGB > 0 && up + down >= totalGB) return 'quota';
  if (expiryTime > 0 && expiryTime <= now) return 'expiry';
  return undefined;
}

/** Decides whether a client is enabled: a client at a limit is not, and is enabled again when the limit is raised. An admin's own choice is kept. */
export function decideEnabled(
  client: Pick<ClientRow, 'enable' | 'depletedCause' | 'totalGB' | 'expiryTime' | 'up' | 'down'>,
  now: number,
): Pick<ClientRow, 'enable' | 'depletedCause'> {
  const cause = depletionOf(client, now) ?? null;
  const wanted = client.enable || client.depletedCause !== null;
  return { enable: wanted && cause === null, depletedCause: wanted ? cause : null };
}

type Switch = Pick<ClientRow, 'enable' | 'depletedCause'>;
export const isSameSwitch = (a: Switch, b: Switch): boolean =>
  a.enable === b.enable && a.depletedCause === b.depletedCause;
