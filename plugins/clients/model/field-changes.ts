// The fields that a caller sent, and those of them that an update changes.
import { decideEnabled } from './depletion.js';
import { type ClientFields, fields, uniqueFields } from './fields.js';
import type { ClientRow } from './row.js';
import type { ClientPatch } from './schema.js';

const DECLARED = new Set<string>(fields.names);

/** The fields that were sent. Undefined means absent, and so does blank in a unique field; many programs send the UUID as `id`. */
export function sentValues({
  id,
  depletedCause: _,
  created_at: __,
  updated_at: ___,
  ...sent
}: ClientPatch): Partial<ClientFields> {
  const declared: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sent))
    if (value !== undefined && DECLARED.has(name)) declared[name] = value;
  const values: Partial<ClientFields> = declared;
  const uuid = (values.uuid || id || undefined)?.toLowerCase();
  if (uuid) values.uuid = uuid;
  for (const name of uniqueFields) if (!values[name]) delete values[name];
  return values;
}

/** The fields that an update changes, with `updatedAt`; none if it changes nothing. */
export function changedFields(before: ClientRow, sent: ClientPatch, now: number): Partial<ClientFields> {
  const values = sentValues(sent);
  // Forgets the previous cause, so that `decideEnabled` sees the caller's choice.
  if (values.enable !== undefined) values.depletedCause = null;
  const { trafficReset = before.trafficReset, trafficResetDay = before.trafficResetDay } = values;
  // A changed schedule starts at the change, or the first look would reset the client.
  if (trafficReset !== before.trafficReset || trafficResetDay !== before.trafficResetDay)
    values.countedSince = now;
  const changed = withoutEqual({ ...values, ...decideEnabled({ ...before, ...values }, now) }, before);
  return Object.keys(changed).length === 0 ? {} : { ...changed, updatedAt: now };
}

/** What a caller switches `enable` to; undefined where it is sent as it is. */
export const chosenSwitch = (before: ClientRow, { enable }: ClientPatch): boolean | undefined =>
  enable === before.enable ? undefined : enable;

const withoutEqual = (values: Partial<ClientFields>, before: ClientRow): Partial<ClientFields> =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => JSON.stringify(before[name as keyof ClientRow]) !== JSON.stringify(value),
    ),
  );
