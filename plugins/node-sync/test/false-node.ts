// A server that only looks like a node: it takes everything, and says what the test wants.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import type { TestPanel } from '../../../test/harness/index.js';

export interface ToldUser {
  readonly clientId: number;
  readonly inboundId: number;
  readonly up: number;
  readonly down: number;
}
export const toldEpoch = (epoch: string, seq: number, users: readonly ToldUser[], more: object = {}) => ({
  epoch,
  seq,
  isCurrent: true,
  more: false,
  users,
  ...more,
});
interface Sent {
  readonly kind: string;
  readonly id: number;
  readonly version: number;
  readonly value: unknown;
}

export class FalseNode {
  port = 0;
  guid = '11111111-2222-4333-8444-555555555555';
  /** replies by the end of the path, in place of the usual ones; a promise may keep the central waiting */
  readonly replies = new Map<string, (body: string) => unknown>();
  readonly asked: string[] = [];
  /** paths of compressed bodies, with their bytes on the wire and unpacked */
  readonly packed: { readonly path: string; readonly sent: number; readonly bytes: number }[] = [];
  readonly applied: Sent[][] = [];
  epochs: readonly object[] = [];

  static async start(t: ExecutionContext, guid?: string): Promise<FalseNode> {
    const node = new FalseNode();
    if (guid !== undefined) node.guid = guid;
    const server = createServer(async (request, response) => {
      const { 'content-encoding': encoding, 'content-length': sent } = request.headers;
      const body = await text(encoding === 'gzip' ? request.pipe(createGunzip()) : request);
      if (encoding === 'gzip')
        node.packed.push({ path: request.url ?? '', sent: Number(sent), bytes: body.length });
      node.asked.push(`${request.method} ${request.url}`);
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      let obj: unknown;
      try {
        obj = await node.#reply(path, body);
      } catch {
        return void request.socket.destroy();
      }
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ success: true, msg: '', obj }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    node.port = (server.address() as AddressInfo).port;
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return node;
  }

  #reply(path: string, body: string): unknown {
    const [end] = [...this.replies.keys()].filter((one) => path.endsWith(one));
    if (end !== undefined) return this.replies.get(end)?.(body);
    if (path.endsWith('/server/status')) return { panelGuid: this.guid, engine: { state: 'running' } };
    if (path.endsWith('/descendants')) return [];
    if (path.endsWith('/usage')) return { guid: this.guid, epochs: this.epochs };
    if (path.endsWith('/apply')) {
      const { changes } = JSON.parse(body) as { changes: Sent[] };
      this.applied.push(changes);
      return { results: changes.map(({ kind, id, version }) => ({ kind, id, version, ok: true })) };
    }
    return { guid: this.guid };
  }

  /** Makes its record at a central, and waits until it is online. */
  async join(central: TestPanel, name: string): Promise<number> {
    const place = { scheme: 'http', address: '127.0.0.1', port: this.port, basePath: '/', apiToken: 'token' };
    await central.get('/panel/api/nodes/add', { body: { name, ...place, allowPrivateAddress: true } });
    const nodes = await central.get<{ id: number; name: string }[]>('/panel/api/nodes/list');
    return nodes.find((node) => node.name === name)?.id ?? 0;
  }
}
