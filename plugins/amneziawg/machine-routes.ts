// Routes of this machine beside those of its own addresses: a tunnel must not take them over.
import { closeSync, openSync, readSync } from 'node:fs';
import { canonicalAddress } from '../../kernel/index.js';

const V4 = '/proc/net/route';
const V6 = '/proc/net/ipv6_route';
/** About 8,000 routes; a router with more has its most specific ones elsewhere. */
const MOST_BYTES = 1024 * 1024;
const UP = 1;

export interface Route {
  /** `10.50.0.0/16` */
  readonly network: string;
  readonly interfaceName: string;
}

/** Empty where the table cannot be read, as on other systems. */
function textOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(MOST_BYTES);
      let size = 0;
      for (let read = -1; read !== 0 && size < MOST_BYTES; size += read)
        read = readSync(file, buffer, size, MOST_BYTES - size, null);
      return buffer.toString('latin1', 0, size);
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

const ones = (mask: number): number => mask.toString(2).replaceAll('0', '').length;

/** Reads the form of /proc/net/route: numbers in the byte order of the machine. */
export function routesV4(text: string): Route[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [interfaceName = '', destination = '', , flags = '', , , , mask = ''] = line.split(/\s+/);
      if (!/^[\dA-F]{8}$/.test(destination) || !/^[\dA-F]{8}$/.test(mask)) return [];
      const length = ones(Number.parseInt(mask, 16));
      if (length === 0 || (Number.parseInt(flags, 16) & UP) === 0) return [];
      const bytes = [...Buffer.from(destination, 'hex')].reverse();
      return [{ network: `${bytes.join('.')}/${length}`, interfaceName }];
    });
}

/** Reads the form of /proc/net/ipv6_route. */
export function routesV6(text: string): Route[] {
  return text.split('\n').flatMap((line) => {
    const [destination = '', prefix = '', , , , , , , flags = '', interfaceName = ''] = line
      .trim()
      .split(/\s+/);
    const length = Number.parseInt(prefix, 16);
    // Link-local and multicast addresses are on each interface.
    if (!/^[\da-f]{32}$/.test(destination) || !(length > 0) || /^f[ef]/.test(destination)) return [];
    if ((Number.parseInt(flags, 16) & UP) === 0) return [];
    const address = (destination.match(/.{4}/g) ?? []).join(':');
    return [{ network: `${canonicalAddress(address) ?? address}/${length}`, interfaceName }];
  });
}

/** Networks that this machine reaches by routes, without default routes, and without those of interfaces that `isOurs`. */
export const machineRoutes = (isOurs: (interfaceName: string) => boolean): string[] =>
  [...routesV4(textOf(V4)), ...routesV6(textOf(V6))].flatMap(({ network, interfaceName }) =>
    interfaceName === 'lo' || isOurs(interfaceName) ? [] : network,
  );
