// What a write of clients is asked to do, and what it did.
import type { PanelError, Tx } from '../../../kernel/index.js';
import type { Applied } from '../../engine/contract.js';
import type { Inbound } from '../../inbounds/contract.js';
import type { SentParts } from '../contract.js';
import type { ChangedCredentials } from '../credentials/client-credentials.js';
import type { SentCredentials } from '../credentials/sent.js';
import type { ClientRow } from '../model/row.js';
import type { ClientEdit } from './edit.js';

export interface WriteRequest {
  /** new clients; their ids are set by the write */
  readonly added?: readonly ClientRow[];
  /** what callers sent beside the fields of new clients */
  readonly parts?: ReadonlyMap<ClientRow, SentParts>;
  /** what callers sent of the credentials of new clients; the rest is generated */
  readonly credentials?: ReadonlyMap<ClientRow, SentCredentials>;
  /** New clients were here before and have their ids: an undo of their deletion. */
  readonly returning?: boolean;
  /** new clients with the subId of another one */
  readonly sharing?: ReadonlySet<ClientRow>;
  /** new clients with usage take what is retained for their emails then */
  readonly restoreUsage?: boolean;
  /** what new clients used elsewhere, by the key of their email; it wins over what is retained */
  readonly usage?: ReadonlyMap<string, Partial<Usage>>;
  readonly edits?: readonly ClientEdit[];
  readonly deleted?: readonly ClientRow[];
  /** retain the usage of deleted clients for their emails */
  readonly keepTraffic?: boolean;
  /** written first, in the same transaction */
  readonly also?: ((tx: Tx) => Promise<void>) | undefined;
  /** Asked first in the transaction for the ids of clients that are left out after all. */
  readonly leaveOut?: (tx: Tx) => Promise<ReadonlySet<number>>;
  /** part of work that is recorded as a whole: `audit` records none of its clients */
  readonly isRecorded?: true;
  /** Called in the transaction when the clients are written: its failure undoes them. */
  readonly settle?: ((tx: Tx, changes: Changes) => Promise<void>) | undefined;
  /** Called last in the transaction. */
  readonly committing?: ((changes: Changes) => void) | undefined;
  /** stands before the names of fields in errors */
  readonly fieldPrefix?: string;
  /** Error if an edited client was deleted meanwhile. Without it, such clients are skipped. */
  readonly missingError?: () => PanelError;
}

/** Bytes over all inbounds; times in Unix ms. */
export type Usage = Pick<ClientRow, 'up' | 'down' | 'lastOnline' | 'lastSubFetch'>;
/** Stands for an inbound that is created in the same transaction. */
export const NEW_INBOUND = 0;

/** A write whose guards have passed. */
export interface PlannedWrite {
  /** Writes within a transaction of the caller. `saving` is the inbound that the same transaction has written: memory does not have it yet, and NEW_INBOUND in the request stands for it. */
  run(tx: Tx, saving?: Inbound): Promise<Changes>;
  /** Updates the core after the commit. */
  apply(written: Changes): Promise<Applied>;
}

export interface Written {
  readonly added: readonly ClientRow[];
  /** new clients that cannot have the credentials of an inbound; the others are added */
  readonly refused: readonly { readonly row: ClientRow; readonly error: PanelError }[];
  /** ids of the clients that this write deleted */
  readonly deleted: ReadonlySet<number>;
  readonly applied: Applied;
}
/** What a write changed, before the core has it. */
export type Changes = Omit<Written, 'applied'> & { readonly changed: ChangedCredentials };
/** Of a write that never ran. */
export const NO_CHANGES: Changes = { added: [], refused: [], deleted: new Set(), changed: new Map() };

export interface Inserted {
  readonly inserted: readonly ClientRow[];
  /** of the inserted rows, in the same order */
  readonly sources: readonly ClientRow[];
  readonly refused: Written['refused'];
}
