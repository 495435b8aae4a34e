// Hosts as plugins and admins name them, and whether a call is one of theirs.
import { BlockList, isIP } from 'node:net';
import { canonicalAddress, hostName } from '../../kernel/index.js';
import { hostOf, plainAddress } from '../core-guard/contract.js';

/** Where a call goes: an address in the spelling of `plainAddress`, or a name in lower case without a dot at its end. */
export interface Destination {
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

/** One entry of a list. */
export interface Pattern {
  readonly port: number | undefined;
  readonly matches: (host: string, isAddress: boolean) => boolean;
  /** whether an admin who wrote it means addresses, private ones as well */
  readonly namesAddresses: boolean;
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const portOf = ({ port, protocol }: URL): number => (port === '' ? (PORTS[protocol] ?? 0) : Number(port));

/** Undefined when the host of the URL is neither a name nor an address. The URL parser has read numbers like 0x7f.1 and international names already. */
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
  // A range of mapped addresses (::ffff:0:0/96) would be one of IPv4 with another prefix: it is written as that.
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

/** `*`, `*.example.com`, a name, an address or `address/prefix`; all but the last with `:port` if wanted. Undefined for anything else. */
export function patternOf(text: string): Pattern | undefined {
  if (text.includes('/')) return rangeOf(text);
  const [, any, below, plain = '', portText] =
    /^(?:(\*)|(?:(\*\.)?((?:\[[^[\]]+\]|[^:@?#\\\s*[\]]+))))(?::(\d{1,5}))?$/.exec(
      isIP(text) === 6 ? `[${text}]` : text,
    ) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  if (any !== undefined) return { port, matches: () => true, namesAddresses: false };
  // A zone (%eth0) is no part of a URL, and so of no call.
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

/** As an entry of `WEIR_OUTGOING_ALLOW` names it. */
export const nameOf = ({ host, port }: Pick<Destination, 'host' | 'port'>): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** One spelling for an address that a name server or a socket gives. */
export const spelled = (address: string): string => plainAddress(address);
