// Hosts as plugins and admins write them, and whether a call matches one.
import { BlockList, isIP } from 'node:net';
import { canonicalAddress, hostName } from '../../kernel/index.js';
import { hostOf, plainAddress } from '../core-guard/contract.js';

/** The destination of a call: an address in the form of `plainAddress`, or a name in lower case without a final dot. */
export interface Destination {
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

/** One entry of a list. */
export interface Pattern {
  readonly port: number | undefined;
  readonly matches: (host: string, isAddress: boolean) => boolean;
  /** whether the entry of an admin permits addresses, also private ones */
  readonly namesAddresses: boolean;
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const portOf = ({ port, protocol }: URL): number => (port === '' ? (PORTS[protocol] ?? 0) : Number(port));

/** Returns undefined if the host of the URL is neither a name nor an address. The URL parser has already converted numbers like 0x7f.1 and international names. */
export function destinationOf(url: URL): Destination | undefined {
  const name = hostName(url.hostname);
  const read = name === undefined ? undefined : hostOf(name);
  if (!read) return undefined;
  return 'address' in read
    ? { host: read.address, isAddress: true, port: portOf(url) }
    : { host: read.name, isAddress: false, port: portOf(url) };
}

function rangeOf(text: string): Pattern | undefined {
  const [, written = '', prefix = ''] = /^\[?([^/[\]]+)\/(\d{1,3})\]?$/.exec(text) ?? [];
  const family = isIP(written);
  const address = canonicalAddress(written);
  // A range of mapped addresses (::ffff:0:0/96) is an IPv4 range with another prefix.
  if (address === undefined || isIP(address) !== family || Number(prefix) > (family === 6 ? 128 : 32))
    return undefined;
  const range = new BlockList();
  range.addSubnet(address, Number(prefix), family === 6 ? 'ipv6' : 'ipv4');
  return {
    port: undefined,
    matches: (host, isAddress) => isAddress && range.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'),
    namesAddresses: true,
  };
}

/** `*`, `*.example.com`, a name, an address or `address/prefix`; all but the last with an optional `:port`. Returns undefined for anything else. */
export function patternOf(text: string): Pattern | undefined {
  if (text.includes('/')) return rangeOf(text);
  const [, any, below, plain = '', portText] =
    /^(?:(\*)|(?:(\*\.)?((?:\[[^[\]]+\]|[^:@?#\\\s*[\]]+))))(?::(\d{1,5}))?$/.exec(
      isIP(text) === 6 ? `[${text}]` : text,
    ) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  if (any !== undefined) return { port, matches: () => true, namesAddresses: false };
  // A URL cannot have a zone (%eth0).
  if (plain === '' || plain.includes('%') || !URL.canParse(`http://${plain}/`)) return undefined;
  const known = destinationOf(new URL(`http://${plain}/`));
  if (!known || (below !== undefined && known.isAddress)) return undefined;
  const { host: wanted, isAddress: namesAddresses } = known;
  const suffix = `.${wanted}`;
  return {
    port,
    namesAddresses,
    matches: (host) => (below === undefined ? host === wanted : host.endsWith(suffix)),
  };
}

/** The same for one entry of a plugin's list, which may be a URL. */
export function hostPatternOf(text: string): Pattern | undefined {
  if (!text.includes('://')) return text === '*' ? undefined : patternOf(text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const known = url && url.protocol in PORTS ? destinationOf(url) : undefined;
  if (!known) return undefined;
  return { port: known.port, matches: (host) => host === known.host, namesAddresses: known.isAddress };
}

export const fits = ({ port, matches }: Pattern, { host, isAddress, port: wanted }: Destination): boolean =>
  (port === undefined || port === wanted) && matches(host, isAddress);

/** Writes it as an entry of `WEIR_OUTGOING_ALLOW`. */
export const nameOf = ({ host, port }: Pick<Destination, 'host' | 'port'>): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** Normalises an address of a name server or a socket. */
export const spelled = (address: string): string => plainAddress(address);
