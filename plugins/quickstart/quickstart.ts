import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { renderUnicodeCompact } from 'uqr';
import { PanelError, type Principal } from '../../kernel/index.js';
import type { ClientEditsApi, ClientsApi } from '../clients/contract.js';
import { type InboundEditsApi, inboundErrors } from '../inbounds/contract.js';
import { newX25519 } from '../keygen/contract.js';
import type { SubscriptionApi } from '../subscription/contract.js';

const FORMAT = 'links';
/** The usual port of TLS comes first; then any free one. */
const WISHED_PORTS = [443, 8443];
const ELSEWHERE: readonly string[] = [inboundErrors.PORT_TAKEN.code, inboundErrors.PORT_IN_USE.code];

export interface Wishes {
  readonly email: string;
  readonly host?: string;
  readonly target: string;
}

/** A port that the system reports as free. */
async function anyPort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export class Quickstart {
  readonly #inbounds: InboundEditsApi;
  readonly #edits: ClientEditsApi;
  readonly #clients: ClientsApi;
  readonly #subscription: SubscriptionApi;

  constructor({
    inbounds,
    edits,
    clients,
    subscription,
  }: {
    inbounds: InboundEditsApi;
    edits: ClientEditsApi;
    clients: ClientsApi;
    subscription: SubscriptionApi;
  }) {
    this.#inbounds = inbounds;
    this.#edits = edits;
    this.#clients = clients;
    this.#subscription = subscription;
  }

  async run(wishes: Wishes, who: Principal, say: (line: string) => void): Promise<void> {
    if (!this.#clients.byEmail(wishes.email)) await this.#make(wishes, who, say);
    this.#show(wishes, say);
  }

  async #make({ email, target }: Wishes, who: Principal, say: (line: string) => void): Promise<void> {
    const { privateKey, publicKey } = newX25519();
    const realitySettings = {
      target: `${target}:443`,
      serverNames: [target],
      privateKey,
      shortIds: [randomBytes(8).toString('hex')],
      settings: { publicKey, fingerprint: 'chrome', spiderX: '/' },
    };
    const { id, applied, port } = await this.#addWhereFree(
      {
        remark: 'quickstart',
        protocol: 'vless',
        settings: { decryption: 'none' },
        streamSettings: { network: 'tcp', security: 'reality', realitySettings },
        sniffing: { enabled: true, destOverride: ['http', 'tls', 'quic'] },
      },
      who,
    );
    await this.#edits
      .add({ client: { email, flow: 'xtls-rprx-vision' }, inboundIds: [id] }, who)
      .catch(async (error: unknown) => {
        await this.#inbounds.delete(id, who);
        throw error;
      });
    say(`An inbound on port ${port} (VLESS, REALITY as ${target}) and the client ${email} were created.`);
    if (applied.pending) say(`They are not active in the core yet: ${applied.reason}`);
    say('');
  }

  /** The inbounds decide whether a port is free: a disabled inbound also holds its port. */
  async #addWhereFree(inbound: Omit<Parameters<InboundEditsApi['add']>[0], 'port'>, who: Principal) {
    for (const port of WISHED_PORTS) {
      try {
        return { port, ...(await this.#inbounds.add({ ...inbound, port }, who)) };
      } catch (error) {
        if (!(error instanceof PanelError && ELSEWHERE.includes(error.code))) throw error;
      }
    }
    const port = await anyPort();
    return { port, ...(await this.#inbounds.add({ ...inbound, port }, who)) };
  }

  #show({ email, host = '' }: Wishes, say: (line: string) => void): void {
    const client = this.#clients.byEmail(email);
    if (!client) return;
    const linkHost = host === '' ? '' : { named: host };
    const links = this.#subscription.entries(FORMAT, client, linkHost);
    const url = this.#subscription.url(FORMAT, client, linkHost);
    for (const link of links) say(`link          ${link}`);
    if (url !== undefined) say(`subscription  ${url}`);
    const [first] = links;
    if (first === undefined) {
      say(`the client ${email} has no working link: it is disabled, depleted, or has no enabled inbound`);
      return;
    }
    say('');
    say(renderUnicodeCompact(first));
    if (/@(?:localhost|127\.|\[::1\])/.test(first))
      say(
        'The link points to localhost: run this again with --host, or set WEIR_PUBLIC_HOST to the host that client programs can reach.',
      );
  }
}
