// The hosts under which the panel answers. A page of another site can point a name of its own at this machine (DNS
// rebinding) and call the panel from its visitor's browser; but its requests carry that name.
import type { IncomingMessage } from 'node:http';
import { hostName, hostOfHeader, isLoopback } from './host-name.js';
import type { Proxies } from './proxies.js';

const refusedBy = (
  names: ReadonlySet<string | undefined> | undefined,
  asked: readonly string[],
): string | undefined => asked.find((host) => names && !names.has(host) && !isLoopback(host));

export class AllowedHosts {
  readonly #own: string;
  readonly #proxies: Proxies;
  readonly #refusal: (message: string) => Error;
  #names: ReadonlySet<string | undefined> | undefined;
  #wayOut = '';

  /** `own` is the host that the panel listens on; it is always allowed. `refusal` creates the error for a refused host. */
  constructor(own: string, proxies: Proxies, refusal: (message: string) => Error) {
    this.#own = own;
    this.#proxies = proxies;
    this.#refusal = refusal;
  }

  /** An empty list allows every host. `wayOut` is the end of the refusal's sentence. */
  set(listed: readonly string[], wayOut: string): void {
    this.#names = this.#namesOf(listed);
    this.#wayOut = wayOut;
  }

  /** The first of `asked` (in the form of `hostOfHeader`) that this list would refuse. */
  refused(listed: readonly string[], asked: readonly string[]): string | undefined {
    return refusedBy(this.#namesOf(listed), asked);
  }

  #namesOf(listed: readonly string[]): ReadonlySet<string | undefined> | undefined {
    return listed.length === 0 ? undefined : new Set([...listed, this.#own].map(hostName));
  }

  /** Throws the refusal unless the `Host` header is allowed and so is the forwarded host of a trusted proxy: a page could have set either. */
  require(request: IncomingMessage): void {
    if (!this.#names) return;
    const asked = [hostOfHeader(request.headers.host ?? ''), this.#proxies.requestHost(request)];
    const refused = refusedBy(this.#names, asked);
    if (refused !== undefined)
      throw this.#refusal(`the panel does not answer under the host "${refused}"; ${this.#wayOut}`);
  }
}
