// External links: entries of other servers that belong to a client's subscription.
import { during, type Principal, token } from '../../kernel/index.js';

/** A share link, or the URL of a subscription elsewhere. */
export interface ExternalLink {
  readonly id: number;
  readonly clientId: number;
  readonly kind: 'link' | 'subscription';
  /** the share link, or an http(s) URL */
  readonly value: string;
  /** its name in the subscription; '' for its own */
  readonly remark: string;
  readonly enable: boolean;
  /** Unix ms; 0 for never */
  readonly expiryTime: number;
  /** stands before the names of the entries of a subscription */
  readonly namePrefix: string;
  /** Unix ms; 0 for never */
  readonly lastFetchAt: number;
  /** why the last fetch failed; '' when it did not */
  readonly lastFetchError: string;
  /** its place among the links of its client, from 0 */
  readonly sortIndex: number;
  /** Unix ms */
  readonly createdAt: number;
}

export interface ExternalLinksApi {
  /** The links of a client in their order, also disabled and expired ones; from memory. */
  of(clientId: number): readonly ExternalLink[];
}
export const ExternalLinks = token<ExternalLinksApi>('external-links', 'ExternalLinks');

export interface LinksChange {
  readonly clientId: number;
  /** all of them, in order */
  readonly before: readonly ExternalLink[];
  readonly after: readonly ExternalLink[];
}
/** Runs in the transaction that replaces the links of a client. `duringClientSave` reports those that come or go with their client. A link may hold credentials. */
export const duringLinksSave = during<{ readonly changes: readonly LinksChange[]; readonly who: Principal }>(
  'external-links/duringLinksSave',
);
