// A change of one record, as a central sends it, and what became of it.
import { PanelError, storageFailure } from '../../kernel/index.js';
import { NO_WAIT } from './records.js';
import type { RecordKind, RecordRow } from './tables.js';

export interface Change {
  readonly kind: RecordKind;
  /** id of the central */
  readonly id: number;
  readonly version: number;
  /** the whole record; null: it is deleted */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** of a client: where it is attached, by the central's ids */
  readonly inboundIds?: readonly number[] | undefined;
  /** of a new inbound: the one that it is here */
  readonly adopts?: number | undefined;
  /** of a new client that is here: what the central has counted of it */
  readonly taken?: { readonly up: number; readonly down: number } | undefined;
  /** with the value null: it stays here, and nobody manages it */
  readonly release?: boolean | undefined;
}
export interface Outcome {
  readonly ok: boolean;
  readonly reason?: string;
  /** the version that is here, where it is newer than the one that was sent */
  readonly newest?: number;
}
export const OK: Outcome = { ok: true };

/** Whether the change has something to do: a version that is stored is tried again where it is not in force. */
export const isDue = (record: RecordRow, { version }: Change): boolean =>
  version > record.version ||
  (version === record.version && !record.isGone && (record.refused !== '' || record.isDrifted));

/** What a central is told of a change that has nothing to do: one that was restored from a backup, or has forgotten a deletion, learns how far it must go. */
export const alreadyThere = (record: RecordRow, { version }: Change): Outcome =>
  record.version > version ? { ok: true, newest: record.version } : OK;

/** JSON of one record; a longer one is refused. */
const MOST_WANTED = 1_048_576;
export const wantedOf = ({ value, inboundIds, adopts, taken }: Change): string =>
  JSON.stringify({ value, inboundIds, adopts, taken });
export const isTooLong = (change: Change): boolean => wantedOf(change).length > MOST_WANTED;
export const TOO_LONG = 'the record has more than 1 MiB';

/** The change that a refused record waits with. */
export function waitingChange({ kind, id, version, wanted }: RecordRow): Change {
  const sent = JSON.parse(wanted || '{"value":null}') as Omit<Change, 'kind' | 'id' | 'version'>;
  return { ...sent, kind, id, version };
}

/** The record of a change that is in force. */
export const accepted = (record: RecordRow, { version }: Change, at: number): RecordRow => ({
  ...record,
  version,
  isGone: false,
  refused: '',
  isDrifted: false,
  waitsFor: 0,
  wanted: '',
  changedAt: at,
});
/** The record of a change that is not. */
export const refusedBy = (record: RecordRow, change: Change, reason: string, at: number): RecordRow => ({
  ...accepted(record, change, at),
  waitsFor: NO_WAIT,
  refused: reason === '' ? 'refused without a reason' : reason,
  wanted: isTooLong(change) ? '' : wantedOf(change),
});

/** The words of a refusal. A failure of the database or of the panel itself is thrown: the central sends the change again. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof PanelError) || storageFailure(error) || error.status >= 500) throw error;
  return error.message;
}
