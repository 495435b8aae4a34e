// One spelling for each address and host name, so that limits, lists and comparisons cannot be passed by another one.
import { isIP } from 'node:net';

/** An IPv4 address within IPv6 (RFC 4291, 2.5.5.2), as URLs write it. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
/** Letters, digits, `-` and `_` (which local names have); not all digits at the end: that would be an odd IPv4 address. */
const NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?!(?:\d+|0x[0-9a-f]*)$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * An IP address as RFC 5952 writes it (`2001:db8::1`); one of IPv4 within IPv6 (`::ffff:7f00:1`) is that of IPv4. A zone
 * (`%eth0`) is left out. Undefined for what is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  const address = new URL(`http://[${text.replace(/%.*$/s, '')}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  const [left, right] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [left >> 8, left & 255, right >> 8, right & 255].join('.');
}

/** The eight groups of an IPv6 address as `canonicalAddress` writes it. */
export function ipv6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const numbers = (text: string): number[] =>
    text ? text.split(':').map((group) => Number.parseInt(group, 16)) : [];
  if (tail === undefined) return numbers(head);
  const [left, right] = [numbers(head), numbers(tail)];
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/** A host name (in lower case, without a dot at its end) or an address, IPv6 without brackets. Undefined for anything else, and for a host with a port. */
export function hostName(text: string): string | undefined {
  const address = canonicalAddress(text.replace(/^\[(.*:.*)\]$/s, '$1'));
  if (address !== undefined) return address;
  const name = text.toLowerCase().replace(/\.$/, '');
  return NAME.test(name) ? name : undefined;
}

/** The host of a `Host` header (RFC 9110, 7.2: a name or an address, IPv6 in brackets, and perhaps a port); empty when it is not one. */
export function hostOfHeader(header: string): string {
  const [, host] = /^(\[[^\]]*\]|[^:]*)(?::\d{0,5})?$/s.exec(header.trim()) ?? [];
  return (host !== undefined && hostName(host)) || '';
}

/** Whether a host as somebody wrote it, without port, is this machine itself. */
export function isLoopback(host: string): boolean {
  const name = hostName(host) ?? '';
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  );
}
