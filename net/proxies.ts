// The caller's address, and the host that it asked for. Forwarded headers count only from configured proxies.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { canonicalAddress, hostOfHeader } from './host-name.js';
import { NetworkList } from './network-list.js';

/** An entry of X-Forwarded-For; some proxies add the port: `1.2.3.4:567`, `[::1]:567`. */
const addressOfHop = (hop: string): string | undefined =>
  canonicalAddress(hop) ?? canonicalAddress(/^\[?(.*?)\]?(?::\d{1,5})?$/s.exec(hop)?.[1] ?? '');

/** Ids of requests that proxies make: of HAProxy (`unique-id-format`), nginx (`$request_id`), Envoy (a UUID). */
const REQUEST_ID = /^[\w.:/+=@-]{8,128}$/;

const peerOf = ({ socket }: IncomingMessage): string =>
  canonicalAddress(socket.remoteAddress ?? '') ?? socket.remoteAddress ?? '';

export class Proxies {
  /** undefined while nobody is trusted */
  #trusted: NetworkList | undefined;
  /** Nearly all requests have the same host, so its result is kept. */
  #lastHost = { header: '', name: '' };

  /** Takes what `set` takes. */
  constructor(entries: readonly string[]) {
    this.set(entries);
  }

  /** From now on trusts these addresses and CIDRs; throws with the entry that is neither. */
  set(entries: readonly string[]): void {
    this.#trusted = entries.length > 0 ? new NetworkList(entries) : undefined;
  }

  trusts(address: string): boolean {
    return this.#trusted?.has(address) ?? false;
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

  /** The id under which a request is found in logs: `X-Request-Id` of a trusted proxy, else a new one. */
  requestId(request: IncomingMessage): string {
    const sent = this.#trusted ? request.headers['x-request-id'] : undefined;
    return typeof sent === 'string' && REQUEST_ID.test(sent) && this.trusts(peerOf(request))
      ? sent
      : randomUUID();
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
