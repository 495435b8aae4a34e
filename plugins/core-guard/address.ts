// Where an IP address or a host name leads, in every notation that the core or the C library accepts.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalAddress, ipv6Groups } from '../../kernel/index.js';
import { isPrivate } from './private-ranges.js';

/** `own`: an address of this machine; `private`: its network, and other addresses that are not public. */
export type Reach = 'own' | 'private' | 'public';

const LOOKUP_LIMIT_MS = 2_000;

/** The IPv4 address inside an IPv6 address: compatible (RFC 4291), NAT64 (RFC 6052) or 6to4 (RFC 3056). */
function embedded(address: string): string | undefined {
  const groups = ipv6Groups(address);
  const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const [first, second] = groups;
  const zeros = (from: number, to: number): boolean => groups.slice(from, to).every((group) => group === 0);
  if (zeros(0, 6) && (groups[6] !== 0 || (groups[7] ?? 0) > 1)) return dotted(groups[6], groups[7]);
  if (first === 0x64 && second === 0xff9b && zeros(2, 6)) return dotted(groups[6], groups[7]);
  return first === 0x2002 ? dotted(second, groups[2]) : undefined;
}

/** Returns one notation for each address: no zone, IPv6 compressed, IPv4 for an IPv6 address that contains one. */
export function plainAddress(address: string): string {
  const plain = canonicalAddress(address) ?? address;
  return isIP(plain) === 6 ? (embedded(plain) ?? plain) : plain;
}

/** Addresses that reach the loopback listeners of this machine. */
export const isHere = (address: string): boolean => ['127.0.0.1', '0.0.0.0', '::1', '::'].includes(address);

/** @param address in the notation of `plainAddress` */
export function reachOf(address: string): Reach {
  if (isHere(address) || address.startsWith('127.') || address.startsWith('0.')) return 'own';
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  if (interfaces.some((own) => plainAddress(own.address) === address)) return 'own';
  return isPrivate(address) ? 'private' : 'public';
}

export type Host = { readonly address: string } | { readonly name: string };

/** A pattern would try each run of dots within the text to its end. */
function withoutFinalDots(text: string): string {
  let end = text.length;
  while (text[end - 1] === '.') end--;
  return text.slice(0, end);
}

/** Reads a host as the core's dialer and getaddrinfo would; undefined for text that is neither an address nor a host name. */
export function hostOf(text: string): Host | undefined {
  const host = text.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (isIP(host) !== 0) return { address: plainAddress(host) };
  const name = withoutFinalDots(host);
  if (host !== '' && !/^[a-z0-9_.-]+$/.test(name)) return undefined;
  if (name === '' || name === 'localhost' || name.endsWith('.localhost')) return { address: '127.0.0.1' };
  // 2130706433, 0x7f.1, 0177.0.0.1 and 127.1 are addresses to getaddrinfo, and to the parser of URLs.
  if (!/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name)) return { name };
  const url = URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`).hostname : '';
  return isIP(url) === 4 ? { address: url } : undefined;
}

/**
 * Looks names up for one call: each once, and all within one limit. A list of names whose servers are slow must not hold
 * up its caller, nor the threads that the database uses as well.
 */
export class Lookups {
  readonly #found = new Map<string, Promise<string[]>>();
  readonly #end: number;

  constructor(limitMs = LOOKUP_LIMIT_MS) {
    this.#end = performance.now() + limitMs;
  }

  /** Resolves with the addresses that the system has for a name now; none when it has none, or answers too late. */
  of(name: string): Promise<string[]> {
    const known = this.#found.get(name);
    if (known) return known;
    const found = this.#look(name);
    this.#found.set(name, found);
    return found;
  }

  async #look(name: string): Promise<string[]> {
    const left = this.#end - performance.now();
    if (left <= 0) return [];
    const found = await Promise.race([
      lookup(name, { all: true }).catch(() => []),
      sleep(left, [], { ref: false }),
    ]);
    return found.map(({ address }) => plainAddress(address));
  }
}
