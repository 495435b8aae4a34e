// Pages: what a browser gets at the address of a subscription. A plugin writes them; without one, a browser gets the list.
import { extensionPoint } from '../../kernel/index.js';

/** The status of a subscription: the reply to `?format=info`, and what a page shows. Texts of bytes are like `42.00GB`. */
export interface StatusView {
  readonly sId: string;
  /** one of its clients is enabled */
  readonly enabled: boolean;
  readonly isOnline: boolean;
  readonly download: string;
  readonly upload: string;
  readonly used: string;
  /** `∞` without a limit */
  readonly total: string;
  /** '' without a limit */
  readonly remained: string;
  /** Unix s; 0: never */
  readonly expire: number;
  /** Unix ms; 0: never */
  readonly lastOnline: number;
  readonly downloadByte: number;
  readonly uploadByte: number;
  /** 0: no limit */
  readonly totalByte: number;
  /** URLs of the subscription; '' while the format is not served */
  readonly subUrl: string;
  readonly subJsonUrl: string;
  readonly subAltUrl: string;
  readonly subTitle: string;
  readonly subSupportUrl: string;
  readonly announce: string;
  /** hours */
  readonly subUpdates: number;
  readonly datepicker: string;
  /** of all its clients, each once */
  readonly emails: readonly string[];
}

/** What a device limit leaves. */
export interface DevicePlaces {
  readonly active: boolean;
  readonly full: boolean;
  readonly limit: number;
  readonly registered: number;
  readonly remaining: number;
}

/** Everything that a page may show. */
export interface PageView {
  readonly status: StatusView;
  /** `working`, or why no link works */
  readonly state: 'working' | 'disabled' | 'expired' | 'depleted';
  /** of every format that is served, such as `{ format: 'links', url: 'https://…' }` */
  readonly urls: readonly { readonly format: string; readonly url: string }[];
  /** ms that the time lasts, where it begins with the first use; undefined once it runs, and where it never ends */
  readonly timeFromFirstUse: number | undefined;
  /** undefined while no device limit acts */
  readonly devices: DevicePlaces | undefined;
  /** Share links with the names for the panel. Empty unless they work, and while a device limit acts: a link does not know which device uses it, the URLs do. */
  readonly links: readonly { readonly name: string; readonly link: string }[];
  /** Unix ms */
  readonly now: number;
  /** IANA name of the zone of the panel's days; undefined: that of the machine */
  readonly timeZone: string | undefined;
}
export interface PageRequest {
  /** the query's `lang`, at most 35 letters, digits and dashes */
  readonly lang: string | undefined;
  /** tags of Accept-Language, the best one first, such as `fa-IR`; without those of weight 0 */
  readonly languages: readonly string[];
  /** the browser as its `User-Agent` says, at most 256 characters; '' for none. Do not match it with patterns that may take long. */
  readonly agent: string;
}
export interface PageReply {
  readonly html: string;
  /** its Content-Security-Policy and others; the server adds type, length and those against caches, sniffing and referrers */
  readonly headers: readonly (readonly [name: string, value: string])[];
}
export interface SubscriptionPage {
  /** Synchronous and short. When it throws, the reply is 503. */
  page(view: PageView, request: PageRequest): PageReply;
}
/** The page of subscriptions, for browsers; one plugin. */
export const SubscriptionPages = extensionPoint<SubscriptionPage>(
  'subscription',
  'SubscriptionPages',
  ({ page }, _, [other]) => {
    if (typeof page !== 'function') return 'a page needs a function page';
    return (
      other && `plugin ${other.plugin} already writes the page of subscriptions; turn one of the two off`
    );
  },
);
