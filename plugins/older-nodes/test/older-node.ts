// A panel of the older kind, as the facts describe its API: with inbounds, clients and counters, and with bad days.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ExecutionContext } from 'ava';

export interface Exchange {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly contentType?: string;
    readonly headers?: readonly string[];
    readonly fields?: readonly string[];
    readonly body?: Readonly<Record<string, unknown>>;
  };
  readonly reply: { readonly obj: Record<string, unknown> };
}
/** An exchange of the folder `exchanges`. */
export async function exchange(name: string): Promise<Exchange> {
  const here = new URL(import.meta.url.replace('/dist/', '/'));
  return JSON.parse(await readFile(new URL(`exchanges/${name}.json`, here), 'utf8')) as Exchange;
}

export interface Call {
  readonly method: string;
  /** below `panel/api/` */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
interface Client {
  id: string;
  email: string;
  subId: string;
  enable: boolean;
  totalGB: number;
  expiryTime: number;
  [key: string]: unknown;
}
interface Inbound {
  id: number;
  tag: string;
  port: number;
  protocol: string;
  listen: string;
  remark: string;
  enable: boolean;
  up: number;
  down: number;
  settings: { clients: Client[]; [key: string]: unknown };
  fields: Record<string, string>;
}
interface Stats {
  inboundId: number;
  enable: boolean;
  up: number;
  down: number;
  total: number;
  expiryTime: number;
}
class Refused extends Error {}
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export class OlderNode {
  readonly token = 'older-token';
  readonly calls: Call[] = [];
  readonly pushedTotals: unknown[] = [];
  guid = '';
  /** how it answers: as it should, or not */
  mood: 'well' | 'html' | 'huge' | 'hollow' | 'slow' | 'falls' | 'strange' | 'negative' | 'gone' | 'mute' =
    'well';
  /** refuses changes whose path matches */
  refuses: { readonly path: RegExp; readonly msg: string } | undefined;
  inbounds: Inbound[] = [];
  stats = new Map<string, Stats>();
  /** records of clients, which outlive their inbounds */
  records = new Map<string, string>();
  #status: Record<string, unknown> = {};
  #server: Server | undefined;
  #nextId = 1;
  port = 0;

  static async start(t: ExecutionContext): Promise<OlderNode> {
    const node = new OlderNode();
    node.#status = (await exchange('server-status')).reply.obj;
    node.guid = String(node.#status['panelGuid']);
    await node.listen();
    t.teardown(() => node.stop());
    return node;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((closed) => (this.#server ? this.#server.close(closed) : closed(undefined)));
    this.#server = undefined;
  }

  get emails(): string[] {
    return [
      ...new Set(this.inbounds.flatMap(({ settings }) => settings.clients.map(({ email }) => email))),
    ].sort();
  }
  client(email: string): Client | undefined {
    return this.inbounds.flatMap(({ settings }) => settings.clients).find((one) => same(one.email, email));
  }
  changes(): Call[] {
    return this.calls.filter(({ method, path }) => method === 'POST' && !path.includes('ByGuid'));
  }

  move(email: string, up: number, down: number): void {
    const stats = this.stats.get(email.toLowerCase());
    if (!stats) throw new Error(`nobody is called ${email}`);
    stats.up += up;
    stats.down += down;
  }

  backup(): () => void {
    const copy = structuredClone({ inbounds: this.inbounds, stats: this.stats, records: this.records });
    return () => Object.assign(this, structuredClone(copy));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const path = (request.url ?? '').replace(/^\/panel\/api\//, '');
    const isStatus = path === 'server/status';
    if (!isStatus) this.calls.push({ method: request.method ?? '', path, headers: request.headers, body });
    const end = (status: number, text = '', type = 'application/json; charset=utf-8'): void =>
      void response.writeHead(status, { 'content-type': type }).end(text);
    // Such a panel hides from those who have no token.
    if (request.headers.authorization !== `Bearer ${this.token}`) return end(404);
    const hash = request.headers['x-config-sha256'];
    if (hash !== undefined && hash !== createHash('sha256').update(body).digest('hex')) return end(400);
    if (isStatus) return end(200, this.#envelope({ ...this.#status, panelGuid: this.guid }));
    if (this.mood === 'gone') return void response.destroy();
    if (this.mood === 'html') return end(200, '<html><title>Sign in</title></html>', 'text/html');
    if (this.mood === 'slow') return void response.writeHead(200).write('{');
    if (this.mood === 'hollow' && request.method === 'GET') return end(200, `[${'{},'.repeat(2_000_000)}{}]`);
    if (this.mood === 'huge' && request.method === 'GET') return this.#flood(response);
    try {
      const obj = this.#do(request.method ?? '', path, body, request.headers['content-type'] ?? '');
      if (obj === undefined) return end(404);
      // It is done, and the reply is lost.
      if (this.mood === 'mute' && request.method === 'POST') return void response.destroy();
      end(200, this.#envelope(obj));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      end(200, JSON.stringify({ success: false, msg: error.message, obj: null }));
    }
  }

  #envelope(obj: unknown): string {
    return JSON.stringify({ success: true, msg: '', obj });
  }

  /** Ten gibibytes, to who reads them. */
  #flood(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"success":true,"obj":[');
    const piece = `"${'x'.repeat(1_048_573)}",`;
    let left = 10_240;
    const more = (): void => {
      while (left-- > 0 && !response.destroyed) if (!response.write(piece)) return;
    };
    response.on('drain', more);
    more();
  }

  /** Undefined where there is no such path. */
  #do(method: string, fullPath: string, body: string, type: string): unknown {
    const [path = '', query = ''] = fullPath.split('?');
    const [group = '', ...rest] = path.split('/').map(decodeURIComponent);
    if (method === 'GET') {
      if (path === 'server/descendants') return [];
      return path === 'inbounds/list' ? this.#list() : undefined;
    }
    if (this.refuses?.path.test(path)) throw new Refused(this.refuses.msg);
    const form = (): Record<string, string> => {
      if (!type.startsWith('application/x-www-form-urlencoded')) throw new Refused('unexpected body');
      return Object.fromEntries(new URLSearchParams(body));
    };
    const json = (): Record<string, never> => JSON.parse(body || '{}') as Record<string, never>;
    if (group === 'inbounds') {
      const [action = '', id = ''] = rest;
      if (action === 'add') return this.#saved(undefined, form());
      if (action === 'update') return this.#saved(this.#inbound(Number(id)), form());
      if (action === 'del') return this.#deleted(Number(id));
      if (action === 'pushClientTraffics') return this.pushedTotals.push(json()) && null;
    }
    if (group !== 'clients') return undefined;
    const [first = '', second = ''] = rest;
    const ids = query
      .replace('inboundIds=', '')
      .split(',')
      .filter((one) => one !== '')
      .map(Number);
    if (first === 'add') return this.#add(json() as never);
    if (first === 'update') return this.#update(second, json() as never, ids);
    if (first === 'del') return this.#leave(second, undefined, true);
    if (second === 'detach')
      return this.#leave(first, (json() as { inboundIds?: number[] }).inboundIds, false);
    if (first === 'resetTraffic') return this.#reset(second);
    if (first === 'onlinesByGuid' || first === 'activeInbounds' || first === 'lastOnline') return {};
    return undefined;
  }

  #list(): unknown {
    if (this.mood === 'strange') return [{ id: 'one', clientStats: 'many' }];
    return this.inbounds.map(({ settings, fields, ...inbound }) => ({
      ...inbound,
      total: Number(fields['total']),
      expiryTime: Number(fields['expiryTime']),
      subSortIndex: 1,
      trafficReset: fields['trafficReset'],
      clientStats: settings.clients.map(({ email, id, subId }, i) => {
        const stats = this.stats.get(email.toLowerCase());
        const lie = this.mood === 'negative' ? -1 : 1;
        return {
          id: i + 1,
          email,
          uuid: id,
          subId,
          ...stats,
          up: lie * (stats?.up ?? 0),
          reset: 0,
          lastOnline: 0,
        };
      }),
      settings: JSON.stringify(settings, null, 2),
      streamSettings: fields['streamSettings'],
      sniffing: fields['sniffing'],
      originNodeGuid: this.guid,
    }));
  }

  #inbound(id: number): Inbound {
    const found = this.inbounds.find((one) => one.id === id);
    if (!found) throw new Refused('record not found');
    return found;
  }

  #saved(before: Inbound | undefined, fields: Record<string, string>): unknown {
    const { tag = '', port = '', listen = '', protocol = '', remark = '' } = fields;
    const other = this.inbounds.find((one) => one !== before && one.port === Number(port));
    if (other) throw new Refused(`port ${port} (tcp) is used by inbound '${other.remark}' #${other.id} on *`);
    const settings = JSON.parse(fields['settings'] ?? '{}') as Inbound['settings'];
    settings.clients ??= [];
    for (const client of settings.clients) {
      const subId = this.records.get(client.email.toLowerCase());
      if (subId !== undefined && subId !== client.subId)
        throw new Refused(`email already in use: ${client.email}`);
    }
    const id = before?.id ?? this.#nextId++;
    const enable = fields['enable'] === 'true';
    const saved = {
      id,
      tag,
      port: Number(port),
      listen,
      protocol,
      remark,
      enable,
      up: 0,
      down: 0,
      settings,
      fields,
    };
    const gone = before?.settings.clients.filter(
      ({ email }) => !settings.clients.some((one) => same(one.email, email)),
    );
    this.inbounds = [...this.inbounds.filter((one) => one !== before), saved].sort((a, b) => a.id - b.id);
    for (const { email } of gone ?? []) if (!this.client(email)) this.stats.delete(email.toLowerCase());
    for (const client of settings.clients) this.#stat(client, id);
    return { ...saved, settings: JSON.stringify(settings) };
  }

  #stat({ email, enable, totalGB, expiryTime, subId }: Client, inboundId: number): void {
    const { up = 0, down = 0 } = this.stats.get(email.toLowerCase()) ?? {};
    this.stats.set(email.toLowerCase(), { inboundId, enable, up, down, total: totalGB, expiryTime });
    this.records.set(email.toLowerCase(), subId);
  }

  #deleted(id: number): unknown {
    this.inbounds = this.inbounds.filter((one) => one.id !== id);
    return id;
  }

  #add({ client, inboundIds }: { readonly client: Client; readonly inboundIds: readonly number[] }): null {
    const subId = this.records.get(client.email.toLowerCase());
    if (subId !== undefined && subId !== client.subId)
      throw new Refused(`email already in use: ${client.email}`);
    // It enables whom it adds.
    const added = { ...client, enable: true };
    for (const id of inboundIds) {
      const { settings } = this.#inbound(id);
      if (!settings.clients.some(({ email }) => same(email, client.email))) settings.clients.push(added);
      this.#stat(added, id);
    }
    return null;
  }

  #update(name: string, client: Client, ids: readonly number[]): null {
    const has = this.inbounds.filter(
      ({ id, settings }) => ids.includes(id) && settings.clients.some(({ email }) => same(email, name)),
    );
    if (has.length === 0) throw new Refused('client not found in any inbound or record');
    const stats = this.stats.get(name.toLowerCase());
    this.stats.delete(name.toLowerCase());
    this.records.delete(name.toLowerCase());
    if (stats) this.stats.set(client.email.toLowerCase(), stats);
    for (const { id, settings } of has) {
      settings.clients = settings.clients.map((one) => (same(one.email, name) ? client : one));
      this.#stat(client, id);
    }
    return null;
  }

  #leave(name: string, ids: readonly number[] | undefined, isWhole: boolean): null {
    const isThere = this.client(name) ?? this.records.has(name.toLowerCase());
    if (!isThere) throw new Refused('client not found in any inbound or record');
    for (const { id, settings } of this.inbounds)
      if (!ids || ids.includes(id))
        settings.clients = settings.clients.filter(({ email }) => !same(email, name));
    if (!isWhole) return null;
    this.stats.delete(name.toLowerCase());
    this.records.delete(name.toLowerCase());
    return null;
  }

  #reset(name: string): null {
    const stats = this.stats.get(name.toLowerCase());
    if (stats) Object.assign(stats, { up: 0, down: 0, enable: true });
    for (const { settings } of this.inbounds)
      for (const client of settings.clients) if (same(client.email, name)) client.enable = true;
    return null;
  }
}
