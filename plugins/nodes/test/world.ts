// Panels in this process, one of them the central, and servers that only look like panels.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

export const NODES = '/panel/api/nodes';
export interface ShownNode {
  readonly id: number;
  readonly guid: string;
  readonly parentGuid: string;
  readonly name: string;
  readonly apiToken: string;
  readonly hasApiToken: boolean;
  readonly enable: boolean;
  readonly transitive: boolean;
  readonly status: string;
  readonly lastError: string;
  readonly lastHeartbeat: number;
  readonly latencyMs: number;
  readonly memPct: number;
  readonly panelVersion: string;
  readonly engineState: string;
  readonly clockOffset: number;
  readonly inboundCount: number;
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

export interface Booted {
  readonly panel: TestPanel;
  readonly clock: FakeClock;
}
type Options = Parameters<typeof TestPanel.boot>[0];

/** A panel with a clock of its own, which starts at the present. */
export async function boot(t: ExecutionContext, options: Options = {}): Promise<Booted> {
  const clock = new FakeClock(Date.now());
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock, ...options });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return { panel, clock };
}

export const portOf = (panel: TestPanel): number => Number(new URL(panel.url).port);
export const guidOf = async (panel: TestPanel): Promise<string> =>
  (await panel.get<{ panelGuid: string }>('/panel/api/server/status')).panelGuid;

export async function tokenOf(panel: TestPanel, kind = ''): Promise<string> {
  const body = { name: `central ${Math.random()}`, kind };
  return (await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', { body })).token;
}

/** Fields of a node at this port of the machine. */
export const local = (port: number, apiToken: string, more: Record<string, unknown> = {}) => ({
  name: `node ${port}`,
  scheme: 'http',
  address: '127.0.0.1',
  port,
  basePath: '/',
  apiToken,
  allowPrivateAddress: true,
  ...more,
});
export const placeOf = async (panel: TestPanel, more: Record<string, unknown> = {}) =>
  local(portOf(panel), await tokenOf(panel), more);

export const list = (panel: TestPanel): Promise<ShownNode[]> => panel.get(`${NODES}/list`);
export async function only(panel: TestPanel): Promise<ShownNode> {
  const [node] = await list(panel);
  if (!node) throw new Error('there is no node');
  return node;
}

/** Adds a node and resolves with its id. */
export async function add(panel: TestPanel, body: Record<string, unknown>): Promise<number> {
  await panel.get(`${NODES}/add`, { body });
  const found = (await list(panel)).find(({ name }) => name === body['name']);
  if (!found) throw new Error('the node was not added');
  return found.id;
}

/** A server of the test; `answer` can be replaced. */
export async function server(
  t: ExecutionContext,
  answer: RequestListener,
): Promise<{ port: number; answer: RequestListener; asked: string[]; server: Server }> {
  const world = { port: 0, answer, asked: [] as string[], server: undefined as unknown as Server };
  world.server = createServer((request, response) => {
    world.asked.push(`${request.method} ${request.url}`);
    request.resume();
    world.answer(request, response);
  });
  world.server.listen(0, '127.0.0.1');
  await once(world.server, 'listening');
  world.port = (world.server.address() as AddressInfo).port;
  t.teardown(() => {
    world.server.closeAllConnections();
    world.server.close();
  });
  return world;
}

export const STATUS = {
  cpu: 12.5,
  mem: { current: 1, total: 4 },
  netIO: { up: 10, down: 20 },
  uptime: 100,
  panelVersion: '9.9.9',
  panelGuid: '11111111-2222-4333-8444-555555555555',
  engine: { state: 'running', errorMsg: '', version: '26.3.27' },
};
/** Answers as a panel with this status. */
export const statusOf =
  (status: unknown, below: unknown = []): RequestListener =>
  (request, response) => {
    const obj = request.url?.endsWith('/descendants') ? below : status;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ success: true, msg: '', obj }));
  };
