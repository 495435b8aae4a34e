// Inbounds: the listening endpoints of the core, and the protocols they speak.
import {
  after,
  during,
  extensionPoint,
  filter,
  guard,
  prepare,
  type Principal,
  type Schema,
  token,
  type Tx,
} from '../../kernel/index.js';
import type { Applied, CoreAccount, JsonObject } from '../engine/contract.js';
import type { EntryBase } from './entry/base.js';
import type { ClientIdentity, EntryTemplate } from './entry/entry.js';
import type { HiddenName } from './fields.js';
import { type AddInbound, type Inbound, UpdateInbound } from './schema.js';
import { protocolProblem, viewsShape } from './shapes.js';

export { type Inbound, StoredInbound as InboundShape } from './schema.js';
export { type StreamView, viewStream } from './stream/stream.js';
export {
  type Account,
  type AccountValue,
  type ByClient,
  type ClientIdentity,
  type EntryTemplate,
  type FieldsByClient,
  type IpVersion,
  isOf,
  type KnownAccount,
  type Mux,
  type ProxyEntry,
  type ShadowsocksAccount,
  type SocketOptions,
  type TrojanAccount,
  type VlessAccount,
  type VmessAccount,
} from './entry/entry.js';
export type { FinalMask, FragmentMask, LegacyKcpMask, SalamanderMask, SudokuMask } from './entry/masks.js';
export type { NoSecurity, Reality, Security, Tls } from './entry/security.js';
export type {
  GrpcTransport,
  HttpHeaders,
  HttpUpgradeTransport,
  KcpTransport,
  NumberRange,
  OwnTransport,
  TcpHttpHeader,
  TcpTransport,
  Transport,
  WsTransport,
  XhttpDownload,
  XhttpMode,
  XhttpMux,
  XhttpTransport,
} from './entry/transport.js';
export { type EntryBase, isUnspecified } from './entry/base.js';
export { completeEntry, type Completion, valueFor, withRoute } from './entry/complete.js';
export { EntryTemplateShape } from './entry/shape.js';
export { accountOf } from './accounts.js';
export { errors as inboundErrors } from './errors.js';
export { type InboundDepletion, inboundDepletion } from './limits.js';

/** A protocol. Each plugin adds its own to `Protocols`. */
export interface Protocol {
  readonly name: string;
  /** `settings` of an inbound, without clients; unknown keys are kept */
  readonly settings: Schema<Record<string, unknown>>;
  /** Returns `settings` in the form of the core's config, without clients. */
  coreSettings(settings: Readonly<Record<string, unknown>>): JsonObject;
  /** The protocol's name in the core's config, if it differs. */
  readonly coreName?: string;
  /** Returns the name of the account type (`AccountTypes` of the engine), if it is not the protocol's name. */
  accounts?(settings: Readonly<Record<string, unknown>>): string;
  /** Returns the client's account, with all fields of its type and no others. */
  account(client: ClientIdentity, inbound: Inbound): CoreAccount;
  /** Returns what a client program must know to connect: `base`, which has address and stream, and the account. Called when the inbound changes; functions in it are called for every fetch. */
  entry(inbound: Inbound, base: EntryBase): EntryTemplate;
}
/** The protocols that inbounds can speak. */
export const Protocols = extensionPoint<Protocol>('inbounds', 'Protocols', (protocol, _, others) => {
  const { name } = protocol;
  const other = others.find(({ value }) => value.name === name);
  return other
    ? `the protocol ${name} already exists, in plugin ${other.plugin}; choose another name`
    : protocolProblem(protocol);
});

export interface InboundUsage {
  readonly inboundId: number;
  /** bytes to add */
  readonly up: number;
  readonly down: number;
}

export interface InboundsApi {
  get(id: number): Inbound | undefined;
  /** All inbounds, ordered by id. */
  list(): readonly Inbound[];
  protocol(name: string): Protocol | undefined;
  /** Returns the plugin that adds this protocol; empty if there is none. */
  pluginOf(protocol: string): string;
  /** Returns what a client program must know to connect; undefined if no plugin has the protocol. Throws KERNEL_PLUGIN_OFF if that plugin fails. */
  entry(inbound: Inbound): EntryTemplate | undefined;
  /** Whether a client's flow has an effect there; false for an unknown inbound. */
  takesFlow(id: number): boolean;
  /** Rejects with INBOUNDS_NOT_FOUND naming the first unknown id. */
  require(ids: readonly number[], path: string): void;
  addUsage(tx: Tx, usage: readonly InboundUsage[]): Promise<void>;
  usage(id: number): { readonly up: number; readonly down: number };
}
export const Inbounds = token<InboundsApi>('inbounds', 'Inbounds');

/** What an edit of an inbound does with the clients in its `settings`; made by `InboundClients`. */
export interface ClientsPlan {
  /** Writes the clients, in the transaction of the inbound. Called last. */
  write(tx: Tx, inboundId: number): Promise<void>;
  /** Brings the clients into the core, after the commit and after the inbound. */
  apply(): Promise<Applied>;
  /** what happens to clients, for the message; empty if nothing does */
  readonly note: string;
}
export interface SentClients {
  /** `settings.clients` as it was sent */
  readonly clients: unknown;
  /** the inbound before the edit; undefined for a new one */
  readonly inbound: Inbound | undefined;
  readonly who: Principal;
  /** takes the names of keys that nothing reads, as `settings.clients[].fooBar` */
  readonly ignored: Set<string>;
}
/** The plugin that owns clients plans here what to do with those that callers send inside an inbound. Rejects if one of them cannot be stored. */
export const InboundClients = extensionPoint<{ plan(sent: SentClients): Promise<ClientsPlan> }>(
  'inbounds',
  'InboundClients',
  ({ plan }, _, others) =>
    typeof plan !== 'function'
      ? 'it needs a function plan'
      : others[0] && `${others[0].plugin} stores the clients of inbounds already`,
);

export interface AddOptions {
  /** Written in the same transaction, after the inbound. */
  readonly also?: (tx: Tx, inboundId: number) => Promise<void>;
  /** takes the names of keys that nothing reads */
  readonly ignored?: Set<string>;
  /** For an import by an admin: the inbound keeps local and private destinations that `WEIR_FALLBACK_DESTINATIONS` does not name. */
  readonly keepDestinations?: boolean;
}
export interface Added {
  readonly id: number;
  readonly applied: Applied;
  /** destinations kept for that reason, as `WEIR_FALLBACK_DESTINATIONS` would name them */
  readonly kept: readonly string[];
  /** what happened to clients in its `settings`; empty if there were none */
  readonly note: string;
}
/** The edits of the API, with the same checks. Do not call it inside a write. `who` is the principal who asked the calling plugin, or its `self`. */
export interface InboundEditsApi {
  add(inbound: AddInbound, who: Principal, options?: AddOptions): Promise<Added>;
  /** Clients of the inbound stay, without it. */
  delete(id: number, who: Principal): Promise<Applied>;
}
export const InboundEdits = token<InboundEditsApi>('inbounds', 'InboundEdits');

/** Applies limits to inbounds; the plugin that counts bytes decides which inbounds reached one. Do not call it inside a write. */
export interface InboundLimitsApi {
  /** Disables inbounds. A raised limit or a reset enables them again, unless an admin has disabled them meanwhile. */
  deplete(
    inbounds: readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[],
    who: Principal,
  ): Promise<Applied>;
  /** Starts a new period: sets counters to zero and enables inbounds that were disabled because of them. `within` receives the work and runs it in a transaction, together with the caller's own. */
  reset(
    ids: readonly number[],
    now: number,
    who: Principal,
    within: (work: (tx: Tx) => Promise<void>) => Promise<unknown>,
  ): Promise<Applied>;
}
export const InboundLimits = token<InboundLimitsApi>('inbounds', 'InboundLimits');

export interface InboundChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: Inbound | undefined;
  readonly after: Inbound | undefined;
}
/** Runs after an inbound passed the schema and before its rules are checked: for defaults and normal forms. `before` is undefined for a new one. One item per call. */
export const prepareInboundSave = prepare<
  UpdateInbound,
  { readonly before: Inbound | undefined; readonly who: Principal }
>('inbounds/prepareInboundSave', UpdateInbound);
/** Runs before an inbound is written, when it is checked and has its tag; a refusal changes nothing. `before` is undefined for a new one. */
export const beforeInboundSave = guard<{
  readonly before: Inbound | undefined;
  readonly after: Omit<Inbound, 'id'>;
  readonly who: Principal;
}>('inbounds/beforeInboundSave');
/** Runs in the transaction that adds, changes or deletes inbounds, also when a limit disables them. */
export const duringInboundSave = during<{
  readonly changes: readonly InboundChange[];
  readonly who: Principal;
}>('inbounds/duringInboundSave');
/** Runs after the commit and before the reply: for data that other plugins derive from inbounds. */
export const afterInboundSave = after<{
  readonly changes: readonly InboundChange[];
  readonly who: Principal;
}>('inbounds/afterInboundSave');

/** An inbound as a reply shows it. */
export interface InboundView extends Omit<Inbound, HiddenName> {
  readonly up: number;
  readonly down: number;
  readonly clientStats: readonly unknown[];
  /** the inbound whose fallback this one is; null without one */
  readonly fallbackParent: unknown;
  /** null: this machine */
  readonly nodeId: number | null;
  readonly originNodeGuid: string;
  readonly settings: Record<string, unknown>;
}
/** Runs before inbounds are sent in a reply, once for all rows: taps add fields. Without `whole`, JSON fields become null afterwards. */
export const describeInbounds = filter<readonly InboundView[], { readonly whole: boolean }>(
  'inbounds/describeInbounds',
  viewsShape,
);
