// 3xui-api-client of npm, and a panel with a real core to compare its results with.
import { createRequire } from 'node:module';
import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { ADMIN, freePort, type PanelApi } from '../../harness/api.js';

/** What its methods resolve with. */
export interface Reply<T = unknown> {
  readonly success: boolean;
  readonly msg: string;
  readonly obj: T;
}
export type Library = Record<string, (...args: unknown[]) => Promise<Reply<never>>> & {
  cookie: string | null;
};

const load = createRequire(import.meta.url);
const ThreeXUI = load('3xui-api-client') as (new (
  url: string,
  options: object,
) => Library) & {
  prototype: object;
};

/** Every public method of the class. */
export const methodsOfClass = (): string[] =>
  Object.getOwnPropertyNames(ThreeXUI.prototype).filter(
    (name) => name !== 'constructor' && !name.startsWith('_'),
  );

const made: Library[] = [];
export function libraryFor(panel: PanelApi, options: object = ADMIN): Library {
  const library = new ThreeXUI(panel.url, { loginRetryBackoff: 0, ...options });
  made.push(library);
  return library;
}
/** Each session that it knows has a timer, which would hold the process. */
export async function forgetSessions(): Promise<void> {
  for (const library of made) await library['clearAllSessions']?.();
}

export interface Client {
  readonly id: number;
  readonly email: string;
  readonly uuid: string;
  readonly password: string;
  readonly subId: string;
  readonly enable: boolean;
  readonly totalGB: number;
  readonly expiryTime: number;
  readonly comment: string;
  readonly limitIp: number;
  readonly group: string;
  readonly inboundIds: readonly number[];
  readonly traffic: { readonly up: number; readonly down: number };
}

/** What a check works with: the library, logged in with the password, and our own API. */
export class World<P extends PanelApi = PanelApi> {
  readonly panel: P;
  readonly library: Library;

  constructor(panel: P, library: Library) {
    this.panel = panel;
    this.library = library;
  }

  /** `obj` of a call that must succeed. */
  async call<T>(method: string, ...args: unknown[]): Promise<T> {
    const reply = await this.library[method]?.(...args);
    if (!reply?.success) throw new Error(`${method}: ${JSON.stringify(reply)}`);
    return reply.obj;
  }

  /** A client on an inbound of its own, made with our API. */
  async client(fields: Record<string, unknown> = {}): Promise<Client & { readonly inboundId: number }> {
    const inboundId = await this.panel.addInbound();
    const email = newEmail();
    await this.panel.addClient(email, [inboundId], fields);
    return { ...(await this.stored(email)), inboundId };
  }
  /** As our API has it. */
  stored(email: string): Promise<Client> {
    return this.panel.get(`/panel/api/clients/get/${email}`);
  }
  async isGone(email: string): Promise<boolean> {
    return (await this.panel.call(`/panel/api/clients/get/${email}`)).status === 404;
  }
  /** Counts this much for a client. */
  use(email: string, upload: number, download: number): Promise<unknown> {
    return this.panel.get(`/panel/api/clients/updateTraffic/${email}`, { body: { upload, download } });
  }
  /** Notes an address of a client, as another panel would. */
  seen(clientEmail: string, ip: string): Promise<unknown> {
    const timestamp = Math.floor(Date.now() / 1000);
    return this.panel.get('/panel/api/server/clientIps', {
      body: [{ clientEmail, ips: [{ ip, timestamp }] }],
    });
  }
  async usage(email: string): Promise<readonly [up: number, down: number]> {
    const { traffic } = await this.stored(email);
    return [traffic.up, traffic.down];
  }
}

export const newEmail = (): string => `ann-${randomBytes(4).toString('hex')}`;
/** An inbound as the library's README adds it. */
export const inboundConfig = async (remark: string) => ({
  remark,
  enable: true,
  listen: '127.0.0.1',
  port: await freePort(),
  protocol: 'vless',
  expiryTime: 0,
  settings: { clients: [], decryption: 'none', fallbacks: [] },
  streamSettings: { network: 'tcp', security: 'none', tcpSettings: { header: { type: 'none' } } },
  sniffing: { enabled: true, destOverride: ['http', 'tls'] },
});

/** Calls a method and compares its result with the state of the panel. */
export type Check = (t: ExecutionContext, world: World) => Promise<void>;
export type Checks = Readonly<Record<string, Check>>;
