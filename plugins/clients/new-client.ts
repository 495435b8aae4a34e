// Turns what a caller sent into a whole client: blanks filled in, limits looked at.
import { randomBytes, randomUUID } from 'node:crypto';
import type { ClientFields, ClientRow } from './row.js';
import { depletionOf } from './row.js';
import type { ClientPatch, NewClient } from './schema.js';

const SUB_ID_BYTES = 12;

/** `id` is how many programs send the UUID. */
const uuidOf = (id: string | undefined, uuid: string | undefined): string | undefined =>
  (uuid || id || undefined)?.toLowerCase();

/** A client at its limit is off, and says why; a client whose limit was lifted comes back. A person's own switch is kept. */
export function settle<
  F extends Pick<ClientRow, 'enable' | 'depletedCause' | 'totalGB' | 'expiryTime' | 'up' | 'down'>,
>(client: F, now: number): Pick<ClientRow, 'enable' | 'depletedCause'> {
  const cause = depletionOf(client, now) ?? null;
  const wanted = client.enable || client.depletedCause !== null;
  return { enable: wanted && cause === null, depletedCause: wanted ? cause : null };
}

/** An absent field and one that is undefined say the same. */
const given = (sent: object): Partial<ClientFields> =>
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));

export function newClient(
  { email, id, uuid, subId, password, ...sent }: NewClient,
  now: number,
): ClientFields {
  const fields: ClientFields = {
    flow: '',
    enable: true,
    totalGB: 0,
    expiryTime: 0,
    limitIp: 0,
    limitHwid: 0,
    tgId: 0,
    group: '',
    comment: '',
    reset: 0,
    resetDay: 0,
    resetMax: 0,
    reverse: null,
    ...given(sent),
    email,
    uuid: uuidOf(id, uuid) ?? randomUUID(),
    subId: subId || randomBytes(SUB_ID_BYTES).toString('base64url'),
    password: password || randomBytes(18).toString('base64url'),
    depletedCause: null,
    resetCount: 0,
    createdAt: now,
    updatedAt: now,
  };
  return { ...fields, ...settle({ ...fields, up: 0, down: 0 }, now) };
}

/** The fields that an update really changes. Blank credentials and ids mean "as it is". */
export function changedFields(
  before: ClientRow,
  { id, uuid, subId, password, enable, ...sent }: ClientPatch,
  now: number,
): Partial<ClientFields> {
  const wanted: Partial<ClientFields> = {
    ...given(sent),
    ...(uuidOf(id, uuid) !== undefined && { uuid: uuidOf(id, uuid) as string }),
    ...(subId && { subId }),
    ...(password && { password }),
    // Said by a person: from here on it is no limit that keeps the client off.
    ...(enable !== undefined && { enable, depletedCause: null }),
  };
  const settled = settle({ ...before, ...wanted }, now);
  const all = { ...wanted, ...settled };
  const changed = Object.entries(all).filter(
    ([field, value]) => JSON.stringify(before[field as keyof ClientRow]) !== JSON.stringify(value),
  );
  return changed.length === 0
    ? {}
    : { ...(Object.fromEntries(changed) as Partial<ClientFields>), updatedAt: now };
}
