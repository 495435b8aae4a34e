// Computes the fields of a new client, and what an update changes.
import { type ClientFields, fields, uniqueFields } from './fields.js';
import { type ClientRow, depletionOf } from './row.js';
import type { ClientPatch, NewClient } from './schema.js';

/** Decides whether a client is enabled: a client at a limit is not, and comes back when the limit is raised. An admin's own choice is kept. */
export function decideEnabled<
  F extends Pick<ClientRow, 'enable' | 'depletedCause' | 'totalGB' | 'expiryTime' | 'up' | 'down'>,
>(client: F, now: number): Pick<ClientRow, 'enable' | 'depletedCause'> {
  const cause = depletionOf(client, now) ?? null;
  const wanted = client.enable || client.depletedCause !== null;
  return { enable: wanted && cause === null, depletedCause: wanted ? cause : null };
}

/** The fields that were sent. Undefined means absent, and so does blank in a unique field; many programs send the UUID as `id`. */
function sentValues({ id, ...sent }: ClientPatch): Partial<ClientFields> {
  const values: Partial<ClientFields> = Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== undefined),
  );
  const uuid = (values.uuid || id || undefined)?.toLowerCase();
  if (uuid) values.uuid = uuid;
  for (const name of uniqueFields) if (!values[name]) delete values[name];
  return values;
}

export function newClient(sent: NewClient, now: number): ClientFields {
  const created = fields.create({ ...sentValues(sent), createdAt: now, updatedAt: now });
  return { ...created, ...decideEnabled({ ...created, up: 0, down: 0 }, now) };
}

/** The fields that an update really changes. */
export function changedFields(before: ClientRow, sent: ClientPatch, now: number): Partial<ClientFields> {
  const values = sentValues(sent);
  // Forgets the previous cause, so that `settle` sees the caller's choice.
  if (values.enable !== undefined) values.depletedCause = null;
  const wanted = { ...values, ...decideEnabled({ ...before, ...values }, now) };
  const changed = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(before[name as keyof ClientRow]) !== JSON.stringify(value),
  );
  return changed.length === 0
    ? {}
    : { ...(Object.fromEntries(changed) as Partial<ClientFields>), updatedAt: now };
}
