// The values of the tokens in a remark template.
import {
  formatDate,
  formatDaysLeft,
  formatJalaliDate,
  formatShare,
  formatTimeLeft,
  formatTraffic,
  formatUnixSeconds,
  UNLIMITED,
} from './format.js';

/** All values for a remark. Times are Unix ms, traffic is in bytes; a missing text is ''. */
export interface RemarkInput {
  readonly inboundRemark: string;
  /** Remark of the endpoint (a host or an external proxy). */
  readonly hostRemark: string;
  readonly protocol: string;
  readonly network: string;
  /** `none`, `tls` or `reality`: of the inbound, not of the endpoint. */
  readonly security: string;
  readonly client: RemarkClient;
  readonly now: number;
  /** IANA name for dates; `undefined`: the zone of the process. */
  readonly timeZone: string | undefined;
}

export interface RemarkClient {
  readonly email: string;
  readonly uuid: string;
  readonly subId: string;
  /** 0: none. */
  readonly tgId: number;
  readonly comment: string;
  readonly enable: boolean;
  /** Quota in bytes, despite the name; 0: unlimited. */
  readonly totalGB: number;
  /** 0: never; negative: that many ms from the first use. */
  readonly expiryTime: number;
  readonly up: number;
  readonly down: number;
  /** 0: unknown. */
  readonly createdAt: number;
  /** Days between resets of the traffic; 0: never. */
  readonly reset: number;
  /** Day of the month on which traffic is reset; 0: none. */
  readonly resetDay: number;
}

/** usage: differs from fetch to fetch; identity: names the client; route: how the link connects. */
export type TokenGroup = 'usage' | 'identity' | 'route';

export interface Token {
  readonly read: (input: RemarkInput) => string;
  /** Tokens without a group appear in every kind of remark. */
  readonly group?: TokenGroup;
  /** The same for all clients of an entry, at any time. */
  readonly shared?: true;
  /** A value of `∞` counts as empty: it does not keep its segment. */
  readonly unbounded?: true;
}

type Status = 'disabled' | 'expired' | 'depleted' | 'active';

const STATUS_EMOJI: Readonly<Record<Status, string>> = {
  active: '✅',
  expired: '⏳',
  depleted: '🚫',
  disabled: '🚫',
};

function used({ client }: RemarkInput): number {
  return client.up + client.down;
}

function left(input: RemarkInput): number {
  return Math.max(0, input.client.totalGB - used(input));
}

function unlimited({ client }: RemarkInput): boolean {
  return client.totalGB <= 0;
}

function status(input: RemarkInput): Status {
  const { enable, expiryTime, totalGB } = input.client;
  if (!enable) return 'disabled';
  if (expiryTime > 0 && expiryTime <= input.now) return 'expired';
  return totalGB > 0 && used(input) >= totalGB ? 'depleted' : 'active';
}

function numberOrNothing(value: number): string {
  return value === 0 ? '' : String(value);
}

/** Hysteria is its own transport; it runs on QUIC, which is the word that users know. */
function transport({ protocol, network }: RemarkInput): string {
  return protocol === 'hysteria' || protocol === 'hysteria2' ? 'quic' : network;
}

const always = (read: Token['read']): Token => ({ read });
const identity = (read: Token['read']): Token => ({ read, group: 'identity' });
const ofEntry = (read: Token['read']): Token => ({ read, shared: true });
const route = (read: Token['read']): Token => ({ read, group: 'route', shared: true });
const usage = (read: Token['read']): Token => ({ read, group: 'usage' });
const usageUnbounded = (read: Token['read']): Token => ({ read, group: 'usage', unbounded: true });

/** By the name between double braces. Any other name is a token too, and always empty. */
export const TOKENS: ReadonlyMap<string, Token> = new Map(
  Object.entries({
    EMAIL: identity((input) => input.client.email),
    USERNAME: identity((input) => input.client.email),
    INBOUND: ofEntry((input) => input.inboundRemark),
    HOST: ofEntry((input) => input.hostRemark),
    ID: always((input) => input.client.uuid),
    SHORT_ID: always((input) => input.client.uuid.slice(0, 8)),
    TELEGRAM_ID: always((input) => numberOrNothing(input.client.tgId)),
    SUB_ID: always((input) => input.client.subId),
    COMMENT: always((input) => input.client.comment),
    CREATED_UNIX: always((input) =>
      input.client.createdAt > 0 ? formatUnixSeconds(input.client.createdAt) : '',
    ),
    RESET_DAYS: always((input) => numberOrNothing(input.client.reset)),
    RESET_DAY: always((input) => numberOrNothing(input.client.resetDay)),

    PROTOCOL: route((input) => input.protocol.toUpperCase()),
    TRANSPORT: route(transport),
    SECURITY: route((input) => input.security.toUpperCase()),

    STATUS: usage(status),
    STATUS_EMOJI: usage((input) => STATUS_EMOJI[status(input)]),
    DAYS_LEFT: usageUnbounded((input) => formatDaysLeft(input.client.expiryTime, input.now)),
    TIME_LEFT: usageUnbounded((input) => formatTimeLeft(input.client.expiryTime, input.now)),
    EXPIRE_DATE: usage((input) =>
      input.client.expiryTime > 0 ? formatDate(input.client.expiryTime, input.timeZone) : '',
    ),
    JALALI_EXPIRE_DATE: usage((input) =>
      input.client.expiryTime > 0 ? formatJalaliDate(input.client.expiryTime, input.timeZone) : '',
    ),
    EXPIRE_UNIX: usage((input) =>
      input.client.expiryTime > 0 ? formatUnixSeconds(input.client.expiryTime) : '0',
    ),
    TRAFFIC_USED: usage((input) => formatTraffic(used(input))),
    TRAFFIC_LEFT: usageUnbounded((input) => (unlimited(input) ? UNLIMITED : formatTraffic(left(input)))),
    TRAFFIC_TOTAL: usageUnbounded((input) =>
      unlimited(input) ? UNLIMITED : formatTraffic(input.client.totalGB),
    ),
    TRAFFIC_USED_BYTES: usage((input) => String(used(input))),
    TRAFFIC_LEFT_BYTES: usage((input) => (unlimited(input) ? '0' : String(left(input)))),
    TRAFFIC_TOTAL_BYTES: usage((input) => String(input.client.totalGB)),
    UP: usage((input) => formatTraffic(input.client.up)),
    DOWN: usage((input) => formatTraffic(input.client.down)),
    USAGE_PERCENTAGE: usage((input) =>
      unlimited(input) ? '' : formatShare(used(input), input.client.totalGB),
    ),
  }),
);
