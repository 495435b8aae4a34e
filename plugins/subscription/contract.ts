// Subscriptions: what a client program fetches, in whatever format.
import { draft, extensionPoint, filter, guard, token } from '../../kernel/index.js';
import { entryShape, formatProblem, headersShape } from './shapes.js';
import type { ClientRow } from '../clients/contract.js';
import type { Inbound, Protocol } from '../inbounds/contract.js';

export { encodeFragment } from './remark/fragment.js';
export { randomPath } from './settings.js';

/** One way to reach one inbound, before it is written in any format. */
export interface Entry {
  readonly inbound: Inbound;
  readonly protocol: Protocol;
  /** name of this way, beside the inbound's own; empty for the plain one */
  readonly hostRemark: string;
  /** overrides the inbound's own address and port */
  readonly address?: string;
  readonly port?: number;
}

/** What differs from fetch to fetch. */
export interface EntryFill {
  readonly client: ClientRow;
  /** `host:port`, IPv6 in brackets */
  readonly authority: string;
  /** name under which the entry is shown */
  readonly remark: string;
}
export type EntryTemplate = (fill: EntryFill) => string;

/** A format of subscriptions, with a path prefix of its own. */
export interface Format {
  readonly name: string;
  readonly contentType: string;
  /** Begins and ends with a slash, of letters, digits, `-`, `_`, `.` and `~` between; undefined while the format is off. */
  prefix(): string | undefined;
  /** Name of the setting that holds the path, where there is one: nobody can then give it the path of another format. */
  readonly pathSetting?: string;
  /** Compiles what all fetches have in common; called when the entry changes. Undefined when the format has no words for such an entry. */
  compile(entry: Entry): EntryTemplate | undefined;
  /** Joins rendered entries to the body. */
  body(entries: readonly string[]): string;
}
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

export interface SubscriptionApi {
  /** One rendered text per entry, under the names that a panel shows. */
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
/** Further ways to reach an inbound (hosts, nodes); called when inbounds or settings change, never for a fetch. */
export const composeSubscription = draft<Entry, { readonly inbound: Inbound; readonly protocol: Protocol }>(
  'subscription/composeSubscription',
  entryShape,
);
/** A tap sends every fetch through the slow lane. A refusal answers 404. */
export const beforeSubscription = guard<FetchInfo>('subscription/beforeSubscription');
/** A tap sends every fetch through the slow lane. */
export const subscriptionHeaders = filter<
  readonly (readonly [string, string])[],
  { readonly client: ClientRow }
>('subscription/subscriptionHeaders', headersShape);
