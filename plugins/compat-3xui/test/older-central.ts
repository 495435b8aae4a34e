// A central panel of the older kind, as the facts describe what it calls on its nodes: it knows nothing of ours.
import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders, request as sendPlain } from 'node:http';
import { request as sendTls, type RequestOptions } from 'node:https';
import { gunzipSync } from 'node:zlib';

export interface Reply<T = unknown> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly success: boolean;
  readonly msg: string;
  readonly obj: T;
}
export interface RemoteInbound {
  readonly id: number;
  readonly tag: string;
  readonly port: number;
  readonly protocol: string;
  readonly listen: string;
  readonly remark: string;
  readonly enable: boolean;
  readonly settings: { readonly clients: readonly Record<string, unknown>[]; readonly decryption?: string };
  readonly streamSettings: { readonly network: string };
  readonly originNodeGuid: string;
  readonly clientStats: readonly {
    readonly email: string;
    readonly up: number;
    readonly down: number;
    readonly enable: boolean;
    readonly total: number;
    readonly inboundId: number;
  }[];
}
/** An inbound of the central, with the clients that it keeps in its settings. */
export interface Wanted {
  tag: string;
  port: number;
  remark: string;
  enable: boolean;
  clients: Record<string, unknown>[];
}
/** All fields of a client as it sends them; `limitHwid` is not among them. */
export const wireClient = (email: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: `439a4bb6-9489-4ac0-8565-${createHash('md5').update(email).digest('hex').slice(0, 12)}`,
  email,
  subId: `sub-${email}`,
  enable: true,
  limitIp: 0,
  totalGB: 0,
  expiryTime: 0,
  tgId: 0,
  flow: '',
  comment: '',
  reset: 0,
  ...more,
});
export const sha256 = (body: string | Buffer): string => createHash('sha256').update(body).digest('hex');

export class OlderCentral {
  readonly guid = 'aaaaaaaa-0000-4000-8000-000000000001';
  /** of this node in its own table: tags may begin with it */
  readonly nodeId = 3;
  readonly #base: URL;
  readonly #auth: { readonly token?: string; readonly tls?: RequestOptions };
  #ids = new Map<string, number>();
  /** by email: what it saw of the node last, and what it has counted */
  readonly #baselines = new Map<string, { up: number; down: number }>();
  readonly counted = new Map<string, number>();

  constructor(base: string, auth: { readonly token?: string; readonly tls?: RequestOptions }) {
    this.#base = new URL(base);
    this.#auth = auth;
  }

  get<T>(path: string): Promise<Reply<T>> {
    return this.send<T>('GET', path);
  }
  form<T>(path: string, fields: Readonly<Record<string, string>>): Promise<Reply<T>> {
    return this.send<T>('POST', path, new URLSearchParams(fields).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
    });
  }
  json<T>(path: string, body?: unknown): Promise<Reply<T>> {
    if (body === undefined) return this.send<T>('POST', path, '');
    return this.send<T>('POST', path, JSON.stringify(body), { 'content-type': 'application/json' });
  }

  /** Below `panel/api/`. */
  send<T>(
    method: string,
    path: string,
    body: string | Buffer = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply<T>> {
    const send = this.#base.protocol === 'https:' ? sendTls : sendPlain;
    return new Promise((resolve, reject) => {
      const request = send(new URL(`panel/api/${path}`, this.#base), {
        method,
        agent: false,
        ...this.#auth.tls,
        headers: {
          'user-agent': 'Go-http-client/1.1',
          'accept-encoding': 'gzip',
          ...(this.#auth.token !== undefined && { authorization: `Bearer ${this.#auth.token}` }),
          ...(method === 'POST' && {
            'content-length': String(Buffer.byteLength(body)),
            'x-config-sha256': sha256(body),
          }),
          ...headers,
        },
      });
      request.on('error', reject).on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const sent = Buffer.concat(chunks);
          // As Go's client does by itself.
          const isPacked = response.headers['content-encoding'] === 'gzip';
          const text = (isPacked ? gunzipSync(sent) : sent).toString();
          const envelope = (text.startsWith('{') ? JSON.parse(text) : {}) as Reply<T>;
          resolve({ ...envelope, status: response.statusCode ?? 0, headers: response.headers });
        });
      });
      request.end(body);
    });
  }

  /** Its tags may have a prefix, which it takes off on the wire. */
  #wireTag(tag: string): string {
    return tag.replace(`n${this.nodeId}-`, '');
  }

  #fields({ tag, port, remark, enable, clients }: Wanted): Record<string, string> {
    return {
      total: '0',
      remark,
      subSortIndex: '1',
      enable: String(enable),
      expiryTime: '0',
      listen: '127.0.0.1',
      port: String(port),
      protocol: 'vless',
      settings: JSON.stringify({ clients, decryption: 'none', fallbacks: [] }),
      streamSettings: JSON.stringify({ network: 'tcp', security: 'none', tcpSettings: {} }),
      tag: this.#wireTag(tag),
      sniffing: JSON.stringify({ enabled: false, destOverride: [] }),
      shareAddrStrategy: 'node',
      shareAddr: '',
      disableFlow: 'false',
      trafficReset: 'never',
      trafficResetDay: '1',
    };
  }

  async list(): Promise<readonly RemoteInbound[]> {
    const { status, success, obj } = await this.get<readonly RemoteInbound[]>('inbounds/list');
    if (status !== 200 || !success) throw new Error(`the list of the node is ${status}`);
    this.#ids = new Map(obj.map(({ tag, id }) => [tag, id]));
    return obj;
  }

  /** The id there, by the tag; looked up once. */
  async remoteId(tag: string): Promise<number | undefined> {
    const wire = this.#wireTag(tag);
    if (!this.#ids.has(wire)) await this.list();
    return this.#ids.get(wire) ?? this.#ids.get(`n${this.nodeId}-${wire}`);
  }

  /** As it does with each edit of an inbound, and for each in a reconcile. */
  async push(inbound: Wanted): Promise<Reply> {
    const id = await this.remoteId(inbound.tag);
    if (id !== undefined) {
      const updated = await this.form(`inbounds/update/${id}`, this.#fields(inbound));
      if (updated.status !== 404 && !/not found/.test(updated.msg)) return updated;
      this.#ids.clear();
    }
    return this.form('inbounds/add', this.#fields(inbound));
  }

  /** Its rounds for a node that was away: pushes what should be, and deletes the rest. */
  async reconcile(wanted: readonly Wanted[]): Promise<void> {
    const remote = await this.list();
    for (const inbound of wanted) {
      const { success, msg } = await this.push(inbound);
      if (!success) throw new Error(msg);
    }
    const tags = wanted.map(({ tag }) => this.#wireTag(tag));
    for (const { id, tag } of remote) if (!tags.includes(tag)) await this.json(`inbounds/del/${id}`);
    this.#ids.clear();
  }

  /** Its merge: the greatest of all copies of a client, less what it saw last. */
  async pull(): Promise<void> {
    const totals = new Map<string, { up: number; down: number }>();
    for (const { clientStats } of await this.list())
      for (const { email, up, down } of clientStats) {
        const known = totals.get(email) ?? { up: 0, down: 0 };
        totals.set(email, { up: Math.max(up, known.up), down: Math.max(down, known.down) });
      }
    for (const [email, total] of totals) {
      const last = this.#baselines.get(email);
      this.#baselines.set(email, total);
      if (!last) continue;
      const moved = Math.max(0, total.up - last.up) + Math.max(0, total.down - last.down);
      this.counted.set(email, (this.counted.get(email) ?? 0) + moved);
    }
  }
}
