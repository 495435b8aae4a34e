// What a client has in one inbound only: keys and addresses of WireGuard, the secret of MTProto.
import type { Schema } from '../../kernel/index.js';
import type { ClientIdentity } from './entry/entry.js';
import type { Inbound } from './schema.js';

export type CredentialValue = string | number | boolean | readonly string[];
/** The credential of one client in one inbound. It is stored as JSON and shown to admins. */
export type Credential = Readonly<Record<string, CredentialValue>>;
/** Credentials of one client by inbound. */
export type Credentials = ReadonlyMap<number, Credential>;

/** The keys that the credentials of one inbound have. */
export interface TakenKeys {
  has(key: string): boolean;
  /** All of them, those of the oldest client first. */
  all(): Iterable<string>;
  /** For the protocol: where its last search for a free key ended. */
  cursor: { readonly pool: string; readonly next: number } | undefined;
  /** Keys that clients had and lost, newest last: a search takes them from here first. Some may be taken again. */
  readonly freed: string[];
}

export interface CredentialContext {
  readonly inbound: Inbound;
  /** `id` is 0 while the client is created */
  readonly client: ClientIdentity;
  /** the stored credential, when a client is edited; what was not sent stays */
  readonly before: Credential | undefined;
  readonly taken: TakenKeys;
  /** stands before the names of fields in refusals: `client.` or nothing */
  readonly fieldPrefix: string;
}

/** How a protocol makes credentials of its own, beside the UUID and the password that a client has everywhere. */
export interface ProtocolCredential {
  /** What callers may send of it. Blank values and unknown fields are removed before. */
  readonly schema: Schema<Readonly<Record<string, unknown>>>;
  /** Fields that callers may also send beside the fields of the client: its inbounds with this protocol get them. */
  readonly flat: readonly string[];
  /** A valid credential, which nobody has, for checks of an inbound. Set it where an account needs a credential: a client without one does not reach the core then. */
  readonly sample?: Credential;
  /** Returns the complete credential: what was sent, else what was there before, else generated. Undefined for none. Throws a PanelError for what cannot be; its `path` names the field. Called in a transaction, for thousands of clients one after another. */
  create(sent: Readonly<Record<string, unknown>>, context: CredentialContext): Credential | undefined;
  /** Texts of at most 255 characters that no two clients of an inbound may share. */
  keys(credential: Credential): readonly string[];
}
