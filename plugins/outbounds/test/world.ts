// A panel with a real core, whose inbound is the far end of tested outbounds, and a server that tests fetch from.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { outboundOf } from '../../../test/demo/link-to-outbound.js';
import { openPanel } from '../../../test/engine/user.js';
import type { PanelApi } from '../../../test/harness/api.js';
import type { JsonObject } from '../../engine/contract.js';
import type { Tested } from '../tester.js';

export const API = '/panel/api/engine';

export interface Target {
  readonly url: string;
  readonly server: Server;
  /** requests so far */
  readonly count: () => number;
  /** most requests at once */
  readonly most: () => number;
}
/** @param waitMs before each reply */
export async function openTarget(t: ExecutionContext, waitMs = 0): Promise<Target> {
  let [requests, open, most] = [0, 0, 0];
  const server = createServer((_, reply) => {
    requests += 1;
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      reply.writeHead(204).end();
    }, waitMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/generate`;
  return { url, server, count: () => requests, most: () => most };
}

/** Saves a template, and what tests fetch. */
export async function configure(
  panel: PanelApi,
  url: string,
  change: (template: Template) => object = (same) => same,
) {
  const { engineSetting } = await panel.get<{ engineSetting: string }>(`${API}/`, { method: 'POST' });
  const template = change(JSON.parse(engineSetting) as Template);
  const answer = await panel.call(`${API}/update`, {
    body: { engineSetting: JSON.stringify(template), outboundTestUrl: url },
  });
  if (!answer.body.success) throw new Error(answer.text);
}
export interface Template extends JsonObject {
  readonly outbounds: readonly JsonObject[];
  readonly routing: { readonly rules: readonly JsonObject[] };
}

export const tagged = (outbound: JsonObject, tag: string, more: JsonObject = {}): JsonObject => ({
  ...outbound,
  ...more,
  tag,
});

/** An outbound that reaches the panel's own inbound. */
export async function farEnd(panel: PanelApi): Promise<JsonObject> {
  const inbound = await panel.addInbound();
  await panel.addClient('far', [inbound]);
  const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/far');
  return outboundOf(link).outbound as JsonObject;
}

export async function openWorld(t: ExecutionContext, waitMs = 0) {
  const panel = await openPanel(t);
  const target = await openTarget(t, waitMs);
  await configure(panel, target.url);
  // Tests call nobody outside.
  await panel.get('/panel/api/setting/update', { body: { outboundTestEgress: false } });
  const works = await farEnd(panel);
  const test = (outbounds: readonly unknown[], more: object = {}) =>
    panel.get<Tested[]>(`${API}/testOutbounds`, { body: { outbounds, ...more } });
  return { panel, target, works, test };
}

/** Nobody listens there. */
export const dead = (tag: string, port = 9): JsonObject => ({
  tag,
  protocol: 'socks',
  settings: { servers: [{ address: '127.0.0.1', port }] },
});
/** The core rejects its key. */
export const poisoned = (tag: string): JsonObject => ({
  tag,
  protocol: 'shadowsocks',
  settings: {
    servers: [{ address: '127.0.0.1', port: 9, method: '2022-blake3-aes-128-gcm', password: 'short' }],
  },
});
