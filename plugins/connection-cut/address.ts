// One notation for each IP address, that of /proc/net: 8 hex digits for IPv4, also when mapped into IPv6, and 32 for IPv6.
// Those tables have thousands of rows and are read every few seconds, so their rows are not converted.
import { isIPv4, isIPv6 } from 'node:net';
import { endianness } from 'node:os';

/** The kernel prints words of four bytes as numbers. */
const REVERSED = endianness() === 'LE';
export const MAPPED = REVERSED ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';

/** Two digits of each byte. */
export const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'));
const swap = (hex: string): string => (REVERSED ? hex.replace(/(..)(..)(..)(..)/g, '$4$3$2$1') : hex);

/** Without lists: each connection that the core logs has one. */
function fromDotted(text: string): string {
  let [hex, byte] = ['', 0];
  const add = (): void => {
    const digits = HEX[byte] ?? '00';
    hex = REVERSED ? digits + hex : hex + digits;
    byte = 0;
  };
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit >= 0) byte = byte * 10 + digit;
    else add();
  }
  add();
  return hex;
}

function groups(text: string): string {
  if (text === '') return '';
  return text
    .split(':')
    .map((group) => (group.includes('.') ? swap(fromDotted(group)) : group.padStart(4, '0')))
    .join('');
}

/** Converts to that notation; undefined for what is not an address, or has a zone (`fe80::1%eth0`). */
export function spell(address: string): string | undefined {
  if (isIPv4(address)) return fromDotted(address);
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const [head = '', tail = ''] = address.toUpperCase().split('::');
  const [front, back] = [groups(head), groups(tail)];
  const words = swap(front + '0'.repeat(32 - front.length - back.length) + back);
  return words.startsWith(MAPPED) ? words.slice(MAPPED.length) : words;
}

/** Converts to the usual notation. */
export function written(spelt: string): string {
  const hex = swap(spelt);
  if (hex.length === 8) return [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.');
  return hex.toLowerCase().replace(/(....)(?=.)/g, '$1:');
}
