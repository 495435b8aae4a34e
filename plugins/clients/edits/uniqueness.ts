// No two clients have the same email, subId, UUID or password; only an import may give one subId to several of its own. Two clients with one credential are one user to the
// core: the one that was added last would get the other's bytes.
import { ForeignKeyConstraintError, UniqueConstraintError } from 'sequelize';
import { inboundErrors } from '../../inbounds/contract.js';
import { errors } from '../errors.js';
import {
  declaredFields,
  type ClientFields,
  fields,
  reverseTag,
  type UniqueField,
  uniqueFields,
  uniqueKey,
} from '../model/fields.js';
import type { Roster } from '../model/roster.js';

/** Values that clients of the same call take. */
export type TakenInBatch = Readonly<Record<UniqueField | 'reverse', Set<string>>>;
export const newBatch = (): TakenInBatch =>
  Object.fromEntries(
    [...uniqueFields, 'reverse'].map((name) => [name, new Set()]),
  ) as unknown as TakenInBatch;

/** Refuses values that another client has, and then adds them to the batch. `self` is the client that is edited; `path` stands before the names of fields. */
export function refuseTaken(
  roster: Roster,
  values: Partial<ClientFields>,
  fieldPrefix: string,
  {
    self,
    batch,
    sharable,
  }: {
    readonly self?: number | undefined;
    readonly batch?: TakenInBatch;
    /** subIds that several clients may have */
    readonly sharable?: ReadonlySet<string> | undefined;
  } = {},
): void {
  const named = uniqueFields.flatMap((name) => (values[name] ? [[name, values[name]] as const] : []));
  for (const [name, value] of named) {
    if (name === 'subId' && sharable?.has(value)) continue;
    const owner = roster.owner(name, value);
    if ((owner && owner.id !== self) || batch?.[name].has(uniqueKey(name, value)))
      throw declaredFields[name].uniqueError(undefined, { path: `${fieldPrefix}${name}` });
  }
  const tag = reverseTag(values.reverse);
  if (tag !== undefined) {
    const owner = roster.ownerOfReverse(tag);
    if ((owner && owner.id !== self) || batch?.reverse.has(tag))
      throw errors.REVERSE_TAKEN(`another client has the reverse tag ${tag}`, {
        path: `${fieldPrefix}reverse.tag`,
      });
    batch?.reverse.add(tag);
  }
  for (const [name, value] of named) batch?.[name].add(uniqueKey(name, value));
}

/** Unique fields by their columns. */
const BY_COLUMN = new Map(
  uniqueFields.flatMap((name) => fields.columnsOf(name).map((column) => [column, name] as const)),
);

/** Turns a broken constraint into the error of its field: two calls may have passed the checks together. */
export function constraintError(error: unknown, fieldPrefix: string): unknown {
  if (error instanceof ForeignKeyConstraintError)
    return inboundErrors.NOT_FOUND('an inbound was deleted meanwhile', { path: 'inboundIds', cause: error });
  if (!(error instanceof UniqueConstraintError)) return error;
  // On SQLite `fields` is a list of columns, whatever its type says; on MySQL an object with them as keys.
  const columns = Array.isArray(error.fields) ? error.fields.map(String) : Object.keys(error.fields);
  if (columns.includes('cred_key')) return errors.CREDENTIAL_TAKEN(undefined, { cause: error });
  const [column = ''] = columns;
  if (fields.columnsOf('reverse').includes(column))
    return errors.REVERSE_TAKEN(undefined, { path: `${fieldPrefix}reverse.tag`, cause: error });
  const name = BY_COLUMN.get(column);
  if (!name) return error;
  return declaredFields[name].uniqueError(undefined, { path: `${fieldPrefix}${name}`, cause: error });
}
