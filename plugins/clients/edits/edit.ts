// What a write is asked to do with one client.
import type { UserRef } from '../../engine/contract.js';
import type { ClientChange, SentParts } from '../contract.js';
import type { Credential, LocalInboundsApi } from '../../inbounds/contract.js';
import { mergedCredentials } from '../credentials/merged.js';
import type { SentCredentials } from '../credentials/sent.js';
import { type ClientFields, coreFields } from '../model/fields.js';
import type { RowEdit } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';

export interface ClientEdit {
  readonly row: ClientRow;
  readonly fields?: Partial<ClientFields>;
  /** what the caller chose to switch `enable` to; the write decides the rest again (`decideAgain`) */
  readonly chosen?: boolean | undefined;
  /** bytes over all inbounds, from now on */
  readonly usage?: { readonly up: number; readonly down: number };
  readonly attach?: readonly number[];
  readonly detach?: readonly number[];
  /** for inbounds that the client is attached to after the edit */
  readonly credentials?: SentCredentials | undefined;
}

export const isEmpty = ({ fields = {}, usage, attach = [], detach = [], credentials }: ClientEdit): boolean =>
  Object.keys(fields).length === 0 && !usage && !credentials && attach.length + detach.length === 0;

export const rowEditOf = (
  { row: { id }, fields, usage, attach, detach }: ClientEdit,
  credentials?: ReadonlyMap<number, Credential>,
): RowEdit => ({
  id,
  fields: { ...fields, ...usage },
  ...(attach && { attach }),
  ...(detach && { detach }),
  ...(credentials && { credentials }),
});

export const attachmentsAfter = ({ row, attach = [], detach = [] }: ClientEdit): number[] =>
  [...new Set([...row.inboundIds, ...attach])].filter((id) => !detach.includes(id)).sort((a, b) => a - b);

export const changeOf = (edit: ClientEdit): ClientChange => ({
  kind: 'updated',
  before: { ...edit.row },
  after: {
    ...edit.row,
    ...edit.fields,
    ...edit.usage,
    inboundIds: attachmentsAfter(edit),
    credentials: mergedCredentials(edit.row.credentials, undefined, edit.detach ?? []),
  },
  ...(edit.usage && { setsUsage: true }),
});

export const addedChange = (
  after: ClientRow,
  parts: SentParts | undefined,
  returns: boolean | undefined,
): ClientChange => ({
  kind: 'added',
  before: undefined,
  after,
  ...(parts && { parts }),
  ...(returns && { returns }),
});
export const deletedChange = (before: ClientRow): ClientChange => ({
  kind: 'deleted',
  before,
  after: undefined,
});

export const refsOf = ({ id: clientId, inboundIds }: Pick<ClientRow, 'id' | 'inboundIds'>): UserRef[] =>
  inboundIds.map((inboundId) => ({ inboundId, clientId }));

/** An edit with the id of an inbound that was created after it was planned. */
export const attachedTo = (edit: ClientEdit, inboundId: number): ClientEdit => {
  const { attach, credentials } = edit;
  if (!attach) return edit;
  const byInbound =
    credentials && new Map([...credentials.byInbound].map(([id, own]) => [id || inboundId, own]));
  return {
    ...edit,
    attach: attach.map((id) => id || inboundId),
    ...(credentials && byInbound && { credentials: { ...credentials, byInbound } }),
  };
};

/** Users that the core must update after the edit. Another machine has the whole client, with its limits: it is updated after each edit. */
export function refsChanged(
  { row, fields = {}, attach = [], detach = [] }: ClientEdit,
  local: LocalInboundsApi | undefined,
): UserRef[] {
  const elsewhere = local ? row.inboundIds.filter((id) => !local.get(id)) : [];
  const inboundIds = coreFields.some((name) => name in fields)
    ? [...new Set([...row.inboundIds, ...attach])]
    : [...new Set([...attach, ...detach, ...elsewhere])];
  return refsOf({ id: row.id, inboundIds });
}

/** Ids of clients by inbound. */
export function byInbound(
  edits: readonly ClientEdit[],
  inboundsOf: (edit: ClientEdit) => readonly number[] | undefined,
): Map<number, number[]> {
  const clients = new Map<number, number[]>();
  for (const edit of edits) {
    for (const inboundId of inboundsOf(edit) ?? []) {
      const ids = clients.get(inboundId);
      if (ids) ids.push(edit.row.id);
      else clients.set(inboundId, [edit.row.id]);
    }
  }
  return clients;
}

/** Says of changes how they are written, where that is special. */
export function marked(
  changes: readonly ClientChange[],
  { isRecorded, settle }: { readonly isRecorded?: true; readonly settle?: object | undefined },
): readonly ClientChange[] {
  if (!isRecorded && !settle) return changes;
  const marks = { ...(isRecorded && { isRecorded }), ...(settle && { isSettled: true as const }) };
  return changes.map((change) => ({ ...change, ...marks }));
}
