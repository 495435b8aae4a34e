// Who is at the other end, and under which name we were asked for. Forwarded headers count only from configured proxies.
import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';

const unmapped = (address: string): string =>
  /^::ffff:/i.test(address) && isIP(address.slice(7)) === 4 ? address.slice(7) : address;

/** Whether a host as somebody wrote it, without port and brackets, is this machine itself. */
export function isLoopback(host: string): boolean {
  const name = unmapped(host).toLowerCase().replace(/\.$/, '');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  );
}

function hostName(header: string): string {
  const host = header.split(',')[0]?.trim() ?? '';
  return host.startsWith('[') ? host.slice(1, host.indexOf(']')) : host.replace(/:\d+$/, '');
}

export class Proxies {
  readonly #trusted = new BlockList();
  readonly #any: boolean;
  /** Nearly all requests name the same host. */
  #lastHost = { header: '', name: '' };

  /** Addresses and CIDRs; throws with the entry that is neither. */
  constructor(entries: readonly string[]) {
    this.#any = entries.length > 0;
    for (const entry of entries) {
      const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      if (!isIP(address) || Number(prefix ?? 0) > (family === 'ipv6' ? 128 : 32))
        throw new Error(`"${entry}" is neither an address nor a CIDR`);
      if (prefix === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(prefix), family);
    }
  }

  trusts(address: string): boolean {
    return (
      this.#any && isIP(address) !== 0 && this.#trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
    );
  }

  /** The caller's address: from the right end of X-Forwarded-For, the first that is not a proxy of ours. */
  callerAddress(request: IncomingMessage): string {
    let address = unmapped(request.socket.remoteAddress ?? '');
    if (!this.trusts(address)) return address;
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => unmapped(hop.trim()));
    for (const hop of hops.reverse()) {
      if (!isIP(hop)) break;
      address = hop;
      if (!this.trusts(hop)) break;
    }
    return address;
  }

  /** Host name as the caller wrote it, without port; IPv6 without brackets. */
  requestHost(request: IncomingMessage): string {
    const forwarded =
      this.#any && this.trusts(unmapped(request.socket.remoteAddress ?? ''))
        ? request.headers['x-forwarded-host']
        : undefined;
    const header = String(forwarded ?? request.headers.host ?? '');
    if (header !== this.#lastHost.header) this.#lastHost = { header, name: hostName(header) };
    return this.#lastHost.name;
  }

  isSecure(request: IncomingMessage): boolean {
    if ('encrypted' in request.socket) return true;
    return (
      this.trusts(unmapped(request.socket.remoteAddress ?? '')) &&
      request.headers['x-forwarded-proto'] === 'https'
    );
  }
}
