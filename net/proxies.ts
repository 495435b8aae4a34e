// The caller's address, and the host that it asked for. Forwarded headers count only from configured proxies.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { canonicalAddress, hostOfHeader } from './host-name.js';

/** An entry of X-Forwarded-For; some proxies add the port: `1.2.3.4:567`, `[::1]:567`. */
const addressOfHop = (hop: string): string | undefined =>
  canonicalAddress(hop) ?? canonicalAddress(/^\[?(.*?)\]?(?::\d{1,5})?$/s.exec(hop)?.[1] ?? '');

const peerOf = ({ socket }: IncomingMessage): string =>
  canonicalAddress(socket.remoteAddress ?? '') ?? socket.remoteAddress ?? '';

export class Proxies {
  /** undefined while nobody is trusted */
  #trusted: BlockList | undefined;
  /** Nearly all requests have the same host, so its result is kept. */
  #lastHost = { header: '', name: '' };

  /** Takes what `set` takes. */
  constructor(entries: readonly string[]) {
    this.set(entries);
  }

  /** From now on trusts these addresses and CIDRs; throws with the entry that is neither. */
  set(entries: readonly string[]): void {
    const trusted = new BlockList();
    for (const entry of entries) {
      const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      if (!isIP(address) || Number(prefix ?? 0) > (family === 'ipv6' ? 128 : 32))
        throw new Error(`"${entry}" is neither an address nor a CIDR`);
      trust(trusted, canonicalAddress(address) ?? address, family, prefix);
    }
    this.#trusted = entries.length > 0 ? trusted : undefined;
  }

  trusts(address: string): boolean {
    const canonical = this.#trusted && canonicalAddress(address);
    return (
      this.#trusted !== undefined &&
      canonical !== undefined &&
      this.#trusted.check(canonical, isIPv6(canonical) ? 'ipv6' : 'ipv4')
    );
  }

  /** The caller's address: from the right end of X-Forwarded-For, the first that is not a trusted proxy. */
  callerAddress(request: IncomingMessage): string {
    let address = peerOf(request);
    if (!this.trusts(address)) return address;
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',');
    for (const hop of hops.reverse()) {
      const known = addressOfHop(hop.trim());
      if (known === undefined) break;
      address = known;
      if (!this.trusts(address)) break;
    }
    return address;
  }

  #forwardedHost(request: IncomingMessage): string | undefined {
    const forwarded = this.#trusted ? request.headers['x-forwarded-host'] : undefined;
    return forwarded === undefined || !this.trusts(peerOf(request))
      ? undefined
      : String(forwarded).split(',', 1)[0];
  }

  /** Host name or address that the caller asked for, without port; IPv6 without brackets. Empty when the header is neither. */
  requestHost(request: IncomingMessage): string {
    const header = this.#forwardedHost(request) ?? request.headers.host ?? '';
    if (header !== this.#lastHost.header) this.#lastHost = { header, name: hostOfHeader(header) };
    return this.#lastHost.name;
  }

  isSecure(request: IncomingMessage): boolean {
    if ('encrypted' in request.socket) return true;
    return (
      this.#trusted !== undefined &&
      request.headers['x-forwarded-proto'] === 'https' &&
      this.trusts(peerOf(request))
    );
  }
}

function trust(
  trusted: BlockList,
  address: string,
  written: 'ipv4' | 'ipv6',
  prefix: string | undefined,
): void {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  // The first 96 bits mark an IPv4 address within IPv6.
  const length = Number(prefix) - (written === family ? 0 : 96);
  if (prefix === undefined) trusted.addAddress(address, family);
  else trusted.addSubnet(address, Math.max(0, length), family);
}
