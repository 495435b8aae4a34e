// Inbounds: the listening endpoints of the core, and the protocols they speak.
import {
  after,
  during,
  extensionPoint,
  filter,
  guard,
  jsonRecord,
  prepare,
  type Principal,
  type Schema,
  token,
  type Tx,
} from '../../kernel/index.js';
import type { Applied, CoreAccount, JsonObject } from '../engine/contract.js';
import type { ProtocolCredential } from './credential.js';
import type { EntryBase } from './entry/base.js';
import type { ClientIdentity, EntryTemplate } from './entry/entry.js';
import type { HiddenName } from './fields.js';
import type { InboundEditsApi } from './inbound-edits.js';
import type { InboundPlace } from './places/inbound-places.js';
import { type Inbound, UpdateInbound } from './schema.js';
import type { ClientsPlan, SentClients } from './sent-clients.js';
import type { ClientsShownIn, ShownClients } from './shown-clients.js';
import { programProblem, protocolProblem, viewsShape } from './contributed/shapes.js';
import type { StreamView } from './stream/stream.js';

export { type Inbound, InboundForm, initialFields, StoredInbound as InboundShape } from './schema.js';
export type {
  Credential,
  CredentialContext,
  Credentials,
  CredentialValue,
  ProtocolCredential,
  TakenKeys,
} from './credential.js';
export { type StreamView, viewStream } from './stream/stream.js';
export { type StreamChoice, streamChoices, streamForms } from './stream/pairing.js';
export {
  type Account,
  type AccountValue,
  type ByClient,
  type ClientIdentity,
  type EntryTemplate,
  type FieldsByClient,
  type HappyEyeballs,
  type HysteriaAccount,
  type IpVersion,
  isOf,
  type KnownAccount,
  type LoginAccount,
  type MtprotoAccount,
  type Mux,
  type ProxyEntry,
  type ShadowsocksAccount,
  type SocketOptions,
  type TrojanAccount,
  type TuicAccount,
  type VlessAccount,
  type VmessAccount,
  type WireguardAccount,
} from './entry/entry.js';
export type {
  FinalMask,
  FragmentMask,
  HeaderMask,
  KcpScramblingMask,
  LegacyKcpMask,
  SalamanderMask,
  SudokuMask,
} from './entry/masks.js';
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
export { EntryTemplateShape, FinalMaskShape, MuxShape, SocketShape } from './entry/shape.js';
export { finalMaskOf } from './entry/read-masks.js';
export { xhttpOf } from './stream/xhttp.js';
export { loopbackPort } from './ports/loopback-port.js';
export { accountOf, clientlessReason } from './accounts.js';
export { errors as inboundErrors } from './errors.js';
export type { ClientsPlan, SentClients } from './sent-clients.js';
export type { ClientsShownIn, ShownClients } from './shown-clients.js';
export { type Added, type AddOptions, type InboundEditsApi, mayKeepDestinations } from './inbound-edits.js';
export { type InboundDepletion, inboundDepletion } from './limits.js';
export { type InboundPlace, InboundPlaces, type InboundPlacesApi } from './places/inbound-places.js';
export { LocalInbounds, type LocalInboundsApi } from './places/local-inbounds.js';
export { isSamePlace } from './places/places.js';

/** A transport protocol of the operating system: a port of one is free for the other. */
export type L4 = 'tcp' | 'udp';
/** What only inbounds of one protocol show in a selection list. Without secrets. */
export type ProtocolOption = Partial<{
  readonly awgServer: Record<string, unknown> | null;
  readonly tuicServer: Record<string, unknown> | null;
  readonly mtprotoDomain: string;
  readonly wgDns: string;
  readonly wgMtu: number;
  readonly wgPublicKey: string;
}>;

/** A protocol. Each plugin adds its own to `Protocols`. */
export interface Protocol {
  readonly name: string;
  /** as forms call it; without it, its name */
  readonly title?: string;
  /** `settings` of an inbound, without clients; unknown keys are kept. Forms are made of it: `inSection` and `annotate` say what they must know of its fields. */
  readonly settings: Schema<Record<string, unknown>>;
  /** Returns what was sent with what is generated when an inbound is first saved; `before` are the stored settings, if it spoke the protocol already. Called before `settings` validates the result, so what was sent may be anything. */
  complete?(
    sent: Readonly<Record<string, unknown>>,
    before: Readonly<Record<string, unknown>> | undefined,
  ): Record<string, unknown>;
  /** Returns `settings` in the form of the core's config, without clients. `stream` is for settings that depend on the transport. */
  coreSettings(settings: Inbound['settings'], stream: Inbound['streamSettings']): JsonObject;
  /** The protocol's name in the core's config, if it differs. */
  readonly coreName?: string;
  /** Returns the name of the account type (`AccountTypes` of the engine), if it is not the protocol's name. */
  accounts?(settings: Readonly<Record<string, unknown>>): string;
  /** Returns the settings with what the panel itself holds for the inbound, such as a port of this machine. Awaited each time that it is saved, after `settings` took them; `before` are those that are stored, if it spoke the protocol already. */
  reserve?(
    settings: Readonly<Record<string, unknown>>,
    context: {
      readonly before: Readonly<Record<string, unknown>> | undefined;
      /** whether an inbound has this port */
      readonly isTaken: (port: number) => boolean;
    },
  ): Promise<Record<string, unknown>> | Record<string, unknown>;
  /** The core lets go of such an inbound only when it restarts: it does when the inbound is changed, disabled or deleted by a caller. */
  readonly restarts?: true;
  /** Returns the stream in the form of the core's config; without it, it goes to the core as it is stored. */
  coreStream?(stream: JsonObject, settings: Readonly<Record<string, unknown>>): JsonObject;
  /** Returns why this network and security do not go with the protocol; undefined when they do. */
  streamProblem?(stream: StreamView): string | undefined;
  /** `program`: a program of its own runs such inbounds (see `ProtocolPrograms`), and the core gets neither them nor their users. Without it the core runs them. */
  readonly runBy?: 'program';
  /** What a client has in one inbound only. `client.credentials?.get(inbound.id)` in `account` and in functions of the entry. */
  readonly credential?: ProtocolCredential;
  /** Returns the client's account, with all fields of its type and no others. */
  account(client: ClientIdentity, inbound: Inbound): CoreAccount;
  /** Returns what a client program must know to connect: `base`, which has address and stream, and the account. Called when the inbound changes; functions in it are called for every fetch. */
  entry(inbound: Inbound, base: EntryBase): EntryTemplate;
  /** Returns the fields of the selection list (`inbounds/options`) that only this protocol has. */
  option?(inbound: Inbound): ProtocolOption;
  /** Returns what it listens on, for conflicts of ports; nothing when it listens on no port. Without this function the transport of the stream decides (kcp: udp, others: tcp). */
  l4?(inbound: Pick<Inbound, 'settings' | 'streamSettings'>): readonly L4[];
  /** Returns why clients cannot be attached to this inbound, as a sentence; undefined when they can. `account` and `entry` are not called where they cannot. */
  clientless?(settings: Readonly<Record<string, unknown>>): string | undefined;
  /** Returns a sentence for the reply to who saves an inbound with these settings: what they cost, or do not do. */
  note?(settings: Readonly<Record<string, unknown>>): string | undefined;
  /** The core serves it on a Unix socket as well. */
  readonly socket?: true;
  /** false: it has no transport and no security, and `streamSettings` are cleared when an inbound is saved. */
  readonly stream?: false;
}
/** The protocols that inbounds can speak. */
export const Protocols = extensionPoint<Protocol>('inbounds', 'Protocols', (protocol, _, others) => {
  const { name } = protocol;
  const other = others.find(({ value }) => value.name === name);
  return other
    ? `the protocol ${name} already exists, in plugin ${other.plugin}; choose another name`
    : protocolProblem(protocol);
});

/** The program that runs the inbounds of a protocol with `runBy: 'program'`. Its plugin learns of changes by `afterInboundSave` and `clients/afterClientSave`, and reads accounts with `accountOf`. */
export interface ProtocolProgram {
  /** name of the protocol */
  readonly protocol: string;
  /** Returns how the program is doing with this inbound, from memory: `running`, or `not running: ` and why. Called for every reply that shows the inbound. */
  state(inbound: Inbound): string;
}
/** The programs that run protocols in place of the core; one for each protocol. */
export const ProtocolPrograms = extensionPoint<ProtocolProgram>(
  'inbounds',
  'ProtocolPrograms',
  (program, _, others) => {
    const other = others.find(({ value }) => value.protocol === program.protocol);
    return other
      ? `the plugin ${other.plugin} runs the protocol ${program.protocol} already`
      : programProblem(program);
  },
);

export interface InboundUsage {
  readonly inboundId: number;
  /** bytes to add */
  readonly up: number;
  readonly down: number;
}

export interface InboundsApi {
  /** Returns inbounds of this machine and of nodes; `LocalInbounds` returns those of this machine. */
  get(id: number): Inbound | undefined;
  /** All inbounds, also those of nodes, ordered by id. */
  list(): readonly Inbound[];
  protocol(name: string): Protocol | undefined;
  /** All protocols, in the order in which their plugins were built. */
  protocols(): readonly Protocol[];
  /** Returns the plugin that adds this protocol; empty if there is none. */
  pluginOf(protocol: string): string;
  /** Returns what a client program must know to connect; undefined if no plugin has the protocol, or the inbound takes no clients. Throws KERNEL_PLUGIN_OFF if that plugin fails. */
  entry(inbound: Inbound): EntryTemplate | undefined;
  /** Returns the machine that runs the inbound. */
  placeOf(inbound: Pick<Inbound, 'nodeId'> & { readonly originGuid?: string }): InboundPlace;
  /** Returns the node with this id; undefined when no plugin knows it. */
  node(nodeId: number): InboundPlace | undefined;
  /** Returns the other inbounds of the same machine, ordered by id. */
  beside(
    inbound: Pick<Inbound, 'nodeId'> & { readonly id?: number; readonly originGuid?: string },
  ): readonly Inbound[];
  /** Whether a client's flow has an effect there; false for an unknown inbound. */
  takesFlow(id: number): boolean;
  /** Rejects with INBOUNDS_NOT_FOUND naming the first unknown id. */
  require(ids: readonly number[], path: string): void;
  /** Returns why clients cannot be attached to this inbound; undefined when they can, and for an unknown inbound. */
  clientless(id: number): string | undefined;
  /** Rejects as `require` does, and with INBOUNDS_NO_CLIENTS for the first inbound that takes no clients. */
  requireForClients(ids: readonly number[], path: string): void;
  addUsage(tx: Tx, usage: readonly InboundUsage[]): Promise<void>;
  usage(id: number): { readonly up: number; readonly down: number };
}
export const Inbounds = token<InboundsApi>('inbounds', 'Inbounds');

export interface InboundClientsApi {
  /** Plans what to do with clients that callers send inside an inbound. Rejects if one of them cannot be stored. */
  plan(sent: SentClients): Promise<ClientsPlan>;
  show(inboundId: number, shownIn: ClientsShownIn): ShownClients;
}
/** The plugin that owns clients stores those that come with an inbound, and shows them. */
export const InboundClients = extensionPoint<InboundClientsApi>(
  'inbounds',
  'InboundClients',
  ({ plan, show }, _, others) =>
    typeof plan !== 'function' || typeof show !== 'function'
      ? 'it needs the functions plan and show'
      : others[0] && `${others[0].plugin} stores the clients of inbounds already`,
);

/** The settings of an inbound in the core's config, whenever it is tested or composed. A tap must be quick and give the same result for the same data: another result replaces the inbound in the core. */
export const coreSettings = filter<JsonObject, { readonly inbound: Inbound }>(
  'inbounds/coreSettings',
  jsonRecord<JsonObject>(),
);

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
  /** guid of the panel on the machine that runs it; empty while it is not known */
  readonly originNodeGuid: string;
  /** how the program that runs it is doing; empty where the core runs it */
  readonly state: string;
  readonly settings: Record<string, unknown>;
}
/** Runs before inbounds are sent in a reply, once for all rows: taps add fields. Without `whole`, JSON fields become null afterwards. Clients are added afterwards, behind `clientStats` of taps. */
export const describeInbounds = filter<readonly InboundView[], { readonly whole: boolean }>(
  'inbounds/describeInbounds',
  viewsShape,
);
