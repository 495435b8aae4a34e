// One spelling for each address and host name, so that another spelling cannot bypass a limit, a list or a comparison.
import { isIP } from 'node:net';

/** An IPv4 address within IPv6 (RFC 4291, 2.5.5.2), in the form of URLs. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
/** Letters, digits, `-` and `_` (which local names have). The last label must not be all digits: that is an odd IPv4 address. */
const NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?!(?:\d+|0x[0-9a-f]*)$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** The last address of IPv6: the same one is asked about several times in a row, and each answer makes a URL. */
let last = { text: '', address: '' };

/**
 * An IP address in the form of RFC 5952 (`2001:db8::1`). IPv4 within IPv6 (`::ffff:7f00:1`) becomes IPv4. A zone
 * (`%eth0`) is dropped. Undefined for anything that is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  if (text !== last.text && text !== last.address) last = { text, address: canonicalIPv6(text) };
  return last.address;
}

function canonicalIPv6(text: string): string {
  const address = new URL(`http://[${text.replace(/%.*$/s, '')}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  const [left, right] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [left >> 8, left & 255, right >> 8, right & 255].join('.');
}

/** The eight groups of an IPv6 address in the form of `canonicalAddress`. */
export function ipv6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const numbers = (text: string): number[] =>
    text ? text.split(':').map((group) => Number.parseInt(group, 16)) : [];
  if (tail === undefined) return numbers(head);
  const [left, right] = [numbers(head), numbers(tail)];
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/** A host name (in lower case, without a final dot) or an address, IPv6 without brackets. Undefined for anything else, and for a host with a port. */
export function hostName(text: string): string | undefined {
  const isInBrackets = text.startsWith('[') && text.endsWith(']') && text.includes(':');
  const address = canonicalAddress(isInBrackets ? text.slice(1, -1) : text);
  if (address !== undefined) return address;
  const name = text.toLowerCase().replace(/\.$/, '');
  return NAME.test(name) ? name : undefined;
}

/** The host of a `Host` header (RFC 9110, 7.2: a name or an address, IPv6 in brackets, optionally a port); empty when it is invalid. */
export function hostOfHeader(header: string): string {
  const [, host] = /^(\[[^\]]*\]|[^:]*)(?::\d{0,5})?$/s.exec(header.trim()) ?? [];
  return (host !== undefined && hostName(host)) || '';
}

/** Whether a host, in any spelling and without port, is this machine itself. */
export function isLoopback(host: string): boolean {
  const name = hostName(host) ?? '';
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  );
}
