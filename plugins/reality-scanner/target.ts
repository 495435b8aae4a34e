// Targets as admins write them: a server with a port, or a network of addresses.
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { hostName, ipv6Groups } from '../../kernel/index.js';

export const HTTPS_PORT = 443;
/** Of one network: those from its first address on. */
export const MOST_ADDRESSES = 256;
/** A name of 253 letters may be longer before it is written in ASCII. */
export const LONGEST_TARGET = 1024;
const SHOWN = 100;

export interface Target {
  /** an address, or a name in ASCII without a final dot */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

export interface Network {
  readonly addresses: readonly string[];
  /** how many there are in all, if not all are in `addresses` */
  readonly size: bigint;
}

const quoted = (text: string): string =>
  JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** Writes it as `host:port`, IPv6 in brackets. */
export const placeOf = (host: string, port: number): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** Reads a host name, also an international one, or an address. Undefined for anything else. */
export function hostIn(text: string): string | undefined {
  // A zone (%eth0) names an interface of this machine; `hostName` would drop it.
  if (text.includes('%')) return undefined;
  const isAscii = /^[\x20-\x7e]*$/.test(text);
  return hostName(isAscii ? text : domainToASCII(text));
}

/** Reads `host`, `host:port`, an address, or `[address]:port`. Throws with what is wrong. */
export function targetOf(given: string): Target {
  const text = given.trim();
  if (text.length > LONGEST_TARGET) throw new Error(`it is longer than ${LONGEST_TARGET} characters`);
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text))
    throw new Error(`${quoted(text)} is a URL; write only its host, and its port if that is not 443`);
  const [, bracketed, plain, digits] =
    isIP(text) === 6 ? ['', text] : (/^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(text) ?? []);
  const host = hostIn(bracketed ?? plain ?? '');
  const isAddress = host !== undefined && isIP(host) !== 0;
  if (host === undefined || (bracketed !== undefined && isIP(bracketed) !== 6))
    throw new Error(
      `${quoted(text)} is not a host name or an address, with a port if that is not 443, such as www.example.com or [2001:db8::1]:8443`,
    );
  const port = digits === undefined ? HTTPS_PORT : /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port < 1 || port > 65_535)
    throw new Error(`the port of ${quoted(text)} is not a number from 1 to 65535`);
  return { host, isAddress, port };
}

const dotted = (number: number): string =>
  [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].join('.');

/** Reads `address/prefix`. Throws with what is wrong. */
export function networkOf(given: string): Network {
  const [, address = '', digits = ''] = /^\[?([^/[\]%]*)\]?\/(\d{1,3})$/.exec(given) ?? [];
  const family = isIP(address);
  const bits = family === 6 ? 128 : 32;
  const prefix = Number(digits);
  // IPv4 within IPv6 would be another network than the one that is written.
  if (family === 0 || prefix > bits || isIP(hostName(address) ?? '') !== family)
    throw new Error(`${quoted(given)} is not a network, such as 192.0.2.0/24 or 2001:db8::/64`);
  const size = 1n << BigInt(bits - prefix);
  const count = Number(size < MOST_ADDRESSES ? size : MOST_ADDRESSES);
  const each = Array.from({ length: count }, (_, i) => i);
  if (family === 4) {
    const number = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
    const first = number - (number % Number(size));
    return { addresses: each.map((i) => dotted(first + i)), size };
  }
  const number = ipv6Groups(address).reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  const first = number - (number % size);
  return { addresses: each.map((i) => ipv6Of(first + BigInt(i))), size };
}

function ipv6Of(number: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => (number >> BigInt(16 * (7 - i))) & 0xffffn);
  const text = groups.map((group) => group.toString(16)).join(':');
  return hostName(text) ?? text;
}
