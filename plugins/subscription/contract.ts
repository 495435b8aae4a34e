// Subscriptions: the data that a client program fetches, in any format.
import type { IncomingHttpHeaders } from 'node:http';
import { draft, extensionPoint, filter, guard, token } from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import type { JsonObject } from '../engine/contract.js';
import {
  type EntryTemplate,
  EntryTemplateShape,
  type Inbound,
  type ProxyEntry,
} from '../inbounds/contract.js';
import type { DevicePlaces } from './pages.js';
import { formatProblem, headersShape, rendererProblem, wayShape } from './shapes.js';

export { compileJson, type JsonTemplate } from './compiled-json.js';
export { linksOfClient } from './links-of-client.js';
export {
  type DevicePlaces,
  type PageReply,
  type PageRequest,
  type PageView,
  type StatusView,
  type SubscriptionPage,
  SubscriptionPages,
} from './pages.js';
export { encodeFragment, percentEncode } from './remark/fragment.js';
export { checkedText, publicUrl } from './setting-texts.js';
export { randomPath } from './settings.js';

/** An additional way to reach an inbound. */
export interface Way {
  /** name of this way, beside the inbound's own; `{{HOST}}` in remarks. It may hold the tokens of remarks itself. */
  readonly hostRemark: string;
  /** the entry of the inbound with the changes of this way; functions in it must be the given ones */
  readonly entry: EntryTemplate;
  /** names of the formats that leave it out */
  readonly notIn?: readonly string[];
  /** The panel shows it; a fetched subscription does not contain it. */
  readonly hidden?: boolean;
  /** Ways of an inbound with the same text change places: each client gets them in an order of its own. */
  readonly shuffle?: string;
}

/** Values that differ between clients and fetches. */
export interface EntryFill {
  readonly client: ClientRow;
  /** host name or IP address, IPv6 without brackets */
  readonly server: string;
  /** `server:port`, IPv6 in brackets */
  readonly authority: string;
  /** displayed name of the entry */
  readonly name: string;
}
/** Writes an entry for one client; called for every fetch. An empty text leaves it out: this client has no such entry. */
export type WriteEntry = (fill: EntryFill) => string;

/** Common to all formats. */
export interface AnyFormat {
  readonly name: string;
  readonly contentType: string;
  /** Begins and ends with a slash, with letters, digits, `-`, `_`, `.` and `~` between; undefined while the format is disabled. */
  prefix(): string | undefined;
  /** Further paths of the same form that give the same, such as those of an older panel. One that is taken is not served. */
  aliases?(): readonly string[];
  /** Name of the setting with the path, if there is one: it then cannot be set to the path of another format. */
  readonly pathSetting?: string;
  /** Name of the format of which this is a reduced form: what is kept out of that one is kept out of this one, and pages do not show it. */
  readonly variantOf?: string;
  /** The public URL before the id, such as that of a proxy; undefined or '': the path of the format at the usual place. */
  publicUrl?(): string | undefined;
  /** For `?view=raw`, which asks for a download, such as `subscription.json`. Programs take the title of a fetch with such a format as the name of the profile. */
  readonly fileName?: string;
  /** Why the format cannot express an entry, such as `Surge has no REALITY`; undefined when it can. Such an entry is left out and counted in `leftOut`, unless a renderer can write it. */
  cannot(entry: EntryTemplate): string | undefined;
}
/** A format that writes each entry by itself, such as a list of links or a document of many parts. */
export interface ListFormat extends AnyFormat {
  /** Names are keys in its documents: entries with the same name get `name-2`, `name-3`, and none is empty. */
  readonly uniqueNames?: boolean;
  /** Compiles what is the same for all clients; called when an entry changes, its result for every fetch. `compileJson` helps. */
  compile(entry: EntryTemplate): WriteEntry;
  /** An entry that connects nowhere: its name tells the user something, such as that the time is over. */
  note?(name: string): string;
  /** Joins the written entries to the body. */
  body(entries: readonly string[], subscription: Written): string;
}
/** What a list contains beside the texts. */
export interface Written {
  readonly client: ClientRow;
  /** by position: the name of each entry */
  readonly names: readonly string[];
  /** by position: where each entry comes from */
  readonly sources: readonly EntrySource[];
  /** the program that fetches, as its `User-Agent` says; '' for none and for the panel. Do not match it with patterns that may take long. */
  readonly agent: string;
}
/** One object per way to an inbound, the same at every fetch until the way changes; one for all notes. */
export interface EntrySource {
  /** It connects nowhere: where there are others, no group should choose it. It stands first. */
  readonly isNote?: boolean;
  /** 0: an entry of the client that leads to no inbound here (`ClientEntries`) */
  readonly inboundId: number;
  /** undefined when the plugin of its protocol failed, and for an entry that only exists as a text */
  readonly template: EntryTemplate | undefined;
}
/** A format that writes all entries of a subscription into one document from complete entries; simple, and slower than a list with `compileJson`. */
export interface DocumentFormat extends AnyFormat {
  /** Writes the document of one client; called for every fetch. */
  document(entries: readonly DocumentEntry[], subscription: { readonly client: ClientRow }): string;
}
export interface DocumentEntry {
  readonly entry: ProxyEntry;
  /** result of a renderer; present for exactly those entries that the format itself cannot express */
  readonly rendered?: JsonObject;
}
/** A subscription format with its own path prefix. */
export type Format = ListFormat | DocumentFormat;

/** Writes entries that a format of another plugin cannot express, such as those of a protocol that it does not know. */
export interface Renderer {
  /** name of the format */
  readonly format: string;
  /** `account.protocol` of the entries */
  readonly protocol: string;
  /** Why this entry cannot be written either. */
  cannot?(entry: EntryTemplate): string | undefined;
  /** for a list: works as `compile` of the format */
  compile?(entry: EntryTemplate): WriteEntry;
  /** for a document: returns what the documentation of the format asks for; called for every fetch */
  render?(entry: ProxyEntry): JsonObject;
}
/** Renderers for `format/protocol`; one plugin each. */
export const Renderers = extensionPoint<Renderer>('subscription', 'Renderers', (renderer, _, others) => {
  const problem = rendererProblem(renderer);
  if (problem !== undefined) return problem;
  const { format, protocol } = renderer;
  const other = others.find(({ value }) => value.format === format && value.protocol === protocol);
  return (
    other &&
    `a renderer for ${format}/${protocol} already exists, in plugin ${other.plugin}; only one can write these entries`
  );
});

/** The subscription formats. */
export const Formats = extensionPoint<Format>(
  'subscription',
  'Formats',
  (entry, { name, outside }, others) => {
    const problem = formatProblem(entry);
    if (problem !== undefined) return problem;
    const { name: format } = entry;
    if (outside && format !== name && !format.startsWith(`${name}.`))
      return `the format ${format} must be called ${name} or ${name}.…, because names of a third-party plugin begin with its own`;
    const other = others.find(({ value }) => value.name === format);
    return other && `the format ${format} already exists, in plugin ${other.plugin}; choose another name`;
  },
);

/** An entry of one client that leads to no inbound of this panel, such as a link to another server. The same object at every fetch until it changes: formats compile it once. */
export interface ClientEntry {
  /** Without functions, and with a server. Read when the first format needs it; undefined: only the formats of `texts` have the entry. */
  readonly template: EntryTemplate | undefined;
  /** Its name in the subscription; remark templates do not apply. A function is called for every fetch. */
  readonly name: string | ((client: ClientRow) => string);
  /** by name of a list format: the text there, in place of what the format would write; called for every fetch */
  readonly texts?: Readonly<Record<string, (name: string) => string>>;
}
export interface ClientEntrySource {
  /** Synchronous, from memory, and quick where a client has none: called for every fetch. A failure is a 503, because programs forget entries that are missing. */
  of(client: ClientRow): readonly ClientEntry[];
}
/** Entries of clients that lead to no inbound of this panel; they stand after all others. */
export const ClientEntries = extensionPoint<ClientEntrySource>('subscription', 'ClientEntries', ({ of }) =>
  typeof of === 'function' ? undefined : 'a source of entries needs a function of',
);

/** The host in links where an inbound has no address of its own: that of the request, or one that the caller names, which takes precedence over WEIR_PUBLIC_HOST. */
export type LinkHost = string | { readonly named: string };

/** An entry that a format leaves out. */
export interface LeftOut {
  readonly format: string;
  readonly inboundId: number;
  readonly hostRemark: string;
  readonly reason: string;
}

export interface SubscriptionApi {
  /** All ways of a client to its inbounds, in the order of its subscription, with the names for the panel. */
  proxies(client: ClientRow, host: LinkHost): ProxyEntry[];
  /** The entries that a format cannot express, of enabled inbounds, with the reason. */
  leftOut(): readonly LeftOut[];
  /** One rendered text per entry, with the names for the panel; none for a format that writes documents. `inbounds` leaves out what leads to no inbound here. */
  entries(format: string, client: ClientRow, host: LinkHost, only?: 'inbounds'): string[];
  /** The same of all clients with this subId, as their subscription has them; empty when there is none. */
  entriesOfSubId(format: string, subId: string, host: LinkHost): string[];
  /** The path before the subId, of a format that is served; for further paths of a subscription. */
  pathOf(format: string): string | undefined;
  /** The URL of this client's subscription; undefined while the format is disabled. */
  url(format: string, client: ClientRow, host: LinkHost): string | undefined;
}
export const Subscription = token<SubscriptionApi>('subscription', 'Subscription');

/** What a gate decides on one fetch. */
export interface GateDecision {
  /** the reply is 404 and empty, with these headers */
  readonly refused: boolean;
  /** pairs of name and value; return the same frozen list each time, because each other list is checked each time */
  readonly headers: readonly (readonly [name: string, value: string])[];
}
/** Decides on each fetch of a known client, without leaving the fast path. Of several clients with one subId it gets their sum, with the id of the first. */
export interface FetchGate {
  /** Synchronous and short; writes nothing to the database. Undefined: nothing to say. A gate that throws is skipped; a PanelError is the reply. */
  check(client: ClientRow, headers: IncomingHttpHeaders): GateDecision | undefined;
  /** The places that its limit leaves the client, for the status and the page; registers none. Undefined: it counts no devices. */
  places?(client: ClientRow): DevicePlaces | undefined;
}
/** Gates of subscriptions, called for GET and HEAD, after `beforeSubscription`. */
export const FetchGates = extensionPoint<FetchGate>('subscription', 'FetchGates', ({ check }) =>
  typeof check === 'function' ? undefined : 'a gate needs a function check',
);

export interface FetchInfo {
  readonly subId: string;
  readonly email: string;
  readonly ip: string;
  readonly agent: string;
  readonly headers: Readonly<Record<string, unknown>>;
}
/** The entry of an inbound, before ways and formats: a plugin that knows a better address (a node knows its own) returns a changed copy. Called when inbounds or settings change, never for a fetch. */
export const inboundEntry = filter<EntryTemplate, { readonly inbound: Inbound }>(
  'subscription/inboundEntry',
  EntryTemplateShape,
);
/** Additional ways to reach an inbound (hosts), which replace its own in every format, even where none of them is shown; called when inbounds or settings change, never for a fetch. A tap returns changed copies of `entry`. */
export const composeSubscription = draft<Way, { readonly inbound: Inbound; readonly entry: EntryTemplate }>(
  'subscription/composeSubscription',
  wayShape,
);
/** What ways depend on beside inbounds and settings, such as the rows of hosts. */
export interface WaySource {
  /** called once, at the start */
  start(out: WayOutput): void;
}
export interface WayOutput {
  /** Composes the ways of these inbounds again. Await it in an after hook, so that the next fetch has the change. */
  recompose(inboundIds: Iterable<number>): Promise<void>;
  /** names of all formats, for `notIn` */
  formats(): readonly string[];
}
/** Plugins that add ways and change them by themselves. */
export const WaySources = extensionPoint<WaySource>('subscription', 'WaySources', ({ start }) =>
  typeof start === 'function' ? undefined : 'a source of ways needs a function start',
);
/** A tap sends every fetch through the slow path. A refusal sends 404. */
export const beforeSubscription = guard<FetchInfo>('subscription/beforeSubscription');
/** A tap sends every fetch through the slow path. */
export const subscriptionHeaders = filter<
  readonly (readonly [string, string])[],
  { readonly client: ClientRow }
>('subscription/subscriptionHeaders', headersShape);
