// Subscriptions: what a client program fetches, in whatever format.
import { draft, extensionPoint, filter, guard, token } from '../../kernel/index.js';
import type { ClientRow } from '../clients/contract.js';
import type { JsonObject } from '../engine/contract.js';
import {
  type EntryTemplate,
  EntryTemplateShape,
  type Inbound,
  type ProxyEntry,
} from '../inbounds/contract.js';
import { formatProblem, headersShape, rendererProblem, wayShape } from './shapes.js';

export { encodeFragment } from './remark/fragment.js';
export { randomPath } from './settings.js';

/** One way to reach an inbound beside its own. */
export interface Way {
  /** name of this way, beside the inbound's own; stands for `{{HOST}}` in remarks */
  readonly hostRemark: string;
  /** the entry of the inbound as this way changes it; functions in it must be those that were given */
  readonly entry: EntryTemplate;
  /** names of the formats in which it does not stand */
  readonly notIn?: readonly string[];
}

/** What differs from client to client and from fetch to fetch. */
export interface EntryFill {
  readonly client: ClientRow;
  /** host name or IP address, IPv6 without brackets */
  readonly server: string;
  /** `server:port`, IPv6 in brackets */
  readonly authority: string;
  /** name under which the entry is shown */
  readonly name: string;
}
/** Writes an entry for one client; called for every fetch. */
export type WriteEntry = (fill: EntryFill) => string;

/** What all formats have. */
export interface AnyFormat {
  readonly name: string;
  readonly contentType: string;
  /** Begins and ends with a slash, of letters, digits, `-`, `_`, `.` and `~` between; undefined while the format is off. */
  prefix(): string | undefined;
  /** Name of the setting that holds the path, where there is one: nobody can then give it the path of another format. */
  readonly pathSetting?: string;
  /** Why the format cannot express an entry, such as `Surge has no REALITY`; undefined when it can. Such an entry is left out, and counted in `leftOut`, unless a renderer has words for it. */
  cannot(entry: EntryTemplate): string | undefined;
}
/** A format that writes each entry by itself, such as a list of links. */
export interface ListFormat extends AnyFormat {
  /** Writes down what is the same for all clients; called when an entry changes, the result for every fetch. */
  compile(entry: EntryTemplate): WriteEntry;
  /** Joins what was written to the body. */
  body(entries: readonly string[]): string;
}
/** A format that writes all entries of a subscription into one document, such as a config file. */
export interface DocumentFormat extends AnyFormat {
  /** Writes the document of one client; called for every fetch. */
  document(entries: readonly DocumentEntry[], subscription: { readonly client: ClientRow }): string;
}
export interface DocumentEntry {
  readonly entry: ProxyEntry;
  /** what a renderer made of it; there for exactly those entries that the format itself cannot express */
  readonly rendered?: JsonObject;
}
/** A format of subscriptions, with a path prefix of its own. */
export type Format = ListFormat | DocumentFormat;

/** Words of a format of somebody else for entries that it cannot express itself, such as those of a protocol that it does not know. */
export interface Renderer {
  /** name of the format */
  readonly format: string;
  /** `account.protocol` of the entries */
  readonly protocol: string;
  /** Why there are no words for this one either. */
  cannot?(entry: EntryTemplate): string | undefined;
  /** for a list: as `compile` of the format */
  compile?(entry: EntryTemplate): WriteEntry;
  /** for a document: what the format takes, as its own documentation says; called for every fetch */
  render?(entry: ProxyEntry): JsonObject;
}
/** Words for `format/protocol`; one plugin each. */
export const Renderers = extensionPoint<Renderer>('subscription', 'Renderers', (renderer, _, others) => {
  const problem = rendererProblem(renderer);
  if (problem !== undefined) return problem;
  const { format, protocol } = renderer;
  const other = others.find(({ value }) => value.format === format && value.protocol === protocol);
  return (
    other &&
    `there is a renderer for ${format}/${protocol} already, of plugin ${other.plugin}; only one can write these entries`
  );
});

/** The forms that a subscription can take. */
export const Formats = extensionPoint<Format>(
  'subscription',
  'Formats',
  (entry, { name, outside }, others) => {
    const problem = formatProblem(entry);
    if (problem !== undefined) return problem;
    const { name: format } = entry;
    if (outside && format !== name && !format.startsWith(`${name}.`))
      return `the format ${format} must be called ${name} or ${name}.…, as a plugin from outside has no names but its own`;
    const other = others.find(({ value }) => value.name === format);
    return other && `the format ${format} is there already, of plugin ${other.plugin}; choose another name`;
  },
);

/** What links carry where an inbound has no address of its own: the host that a request came under, or one that a person named, which wins over WEIR_PUBLIC_HOST. */
export type LinkHost = string | { readonly named: string };

/** An entry that a format leaves out. */
export interface LeftOut {
  readonly format: string;
  readonly inboundId: number;
  readonly hostRemark: string;
  readonly reason: string;
}

export interface SubscriptionApi {
  /** All ways of a client to its inbounds, in the order of its subscription, under the names that a panel shows. */
  proxies(client: ClientRow, host: LinkHost): ProxyEntry[];
  /** What a format cannot express of the inbounds that are on, and why. */
  leftOut(): readonly LeftOut[];
  /** One rendered text per entry, under the names that a panel shows; none of a format that writes documents. */
  entries(format: string, client: ClientRow, host: LinkHost): string[];
  /** Where a program fetches this client's subscription; undefined while the format is off. */
  url(format: string, client: ClientRow, host: LinkHost): string | undefined;
}
export const Subscription = token<SubscriptionApi>('subscription', 'Subscription');

export interface FetchInfo {
  readonly subId: string;
  readonly email: string;
  readonly ip: string;
  readonly agent: string;
  readonly headers: Readonly<Record<string, unknown>>;
}
/** The entry of an inbound, before ways and formats: a plugin that knows better how to reach it (a node knows its address) returns a changed copy. Called when inbounds or settings change, never for a fetch. */
export const inboundEntry = filter<EntryTemplate, { readonly inbound: Inbound }>(
  'subscription/inboundEntry',
  EntryTemplateShape,
);
/** Further ways to reach an inbound (hosts), which take the place of its own; called when inbounds or settings change, never for a fetch. Of `entry`, a tap returns changed copies. */
export const composeSubscription = draft<Way, { readonly inbound: Inbound; readonly entry: EntryTemplate }>(
  'subscription/composeSubscription',
  wayShape,
);
/** A tap sends every fetch through the slow lane. A refusal answers 404. */
export const beforeSubscription = guard<FetchInfo>('subscription/beforeSubscription');
/** A tap sends every fetch through the slow lane. */
export const subscriptionHeaders = filter<
  readonly (readonly [string, string])[],
  { readonly client: ClientRow }
>('subscription/subscriptionHeaders', headersShape);
