// One spelling for each IP address: dotted for IPv4, however it is wrapped, and 32 hex digits for IPv6.
import { isIPv4, isIPv6 } from 'node:net';
import { endianness } from 'node:os';

const MAPPED = '00000000000000000000ffff';
const BYTES_REVERSED = endianness() === 'LE';

const dotted = (hex: string): string => [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.');
const plain = (hex: string): string => (hex.startsWith(MAPPED) ? dotted(hex.slice(24)) : hex);

function groups(text: string): string {
  if (text === '') return '';
  return text.split(':').map((group) => (group.includes('.') ? group.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0')).join('') : group.padStart(4, '0'))).join('');
}

/** Undefined for what is no address, or one of a single link (`fe80::1%eth0`), which is no more than a name here. */
export function spell(address: string): string | undefined {
  if (isIPv4(address)) return address;
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const [head = '', tail] = address.toLowerCase().split('::');
  const [front, back] = [groups(head), groups(tail ?? '')];
  return plain(front + '0'.repeat(32 - front.length - back.length) + back);
}

/** From the kernel's tables: words of four bytes in the machine's own order. */
export function spellWords(hex: string): string {
  const ordered = BYTES_REVERSED ? hex.toLowerCase().replace(/(..)(..)(..)(..)/g, '$4$3$2$1') : hex.toLowerCase();
  return ordered.length === 8 ? dotted(ordered) : plain(ordered);
}

/** As everybody else writes it. */
export const written = (spelt: string): string => (spelt.includes('.') ? spelt : spelt.replace(/(....)(?=.)/g, '$1:'));
