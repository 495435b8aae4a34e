// Both sides of the older wire, each written from the facts alone, meet: this plugin keeps a panel of ours that is shown to it
// as one of the older kind, by its API for centrals of that kind.
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { downOf, poll } from './world.js';

/** Passes everything on to a panel, under the name of a Go program; what is not there is 404 without a word. */
async function disguised(t: ExecutionContext, panel: TestPanel): Promise<{ port: number; paths: string[] }> {
  const paths: string[] = [];
  const target = new URL(panel.url);
  const server = createServer((request, response) => {
    const { method, url: path = '', headers } = request;
    if (method === 'POST') paths.push(path);
    if (path.includes('/x/node/')) {
      request.resume();
      return void response.writeHead(404).end();
    }
    const there = forward(
      {
        host: target.hostname,
        port: target.port,
        method,
        path,
        headers: { ...headers, 'user-agent': 'Go-http-client/1.1' },
      },
      (reply) => {
        response.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(response);
      },
    );
    there.on('error', () => response.destroy());
    request.pipe(there);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  return { port: (server.address() as AddressInfo).port, paths };
}

test('a panel of ours is kept, counted and cut through the older wire', async (t) => {
  const engine = new FakeEngine();
  const central = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  t.teardown(() => central[Symbol.asyncDispose]());
  const node = await TestPanel.boot({ plugins: [engine.plugin] });
  t.teardown(() => node[Symbol.asyncDispose]());
  const { port, paths } = await disguised(t, node);
  const { token } = await node.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'central', kind: 'node' },
  });
  await central.get('/panel/api/nodes/add', {
    body: {
      ...{ name: 'old', scheme: 'http', address: '127.0.0.1', port, basePath: '/' },
      ...{ apiToken: token, allowPrivateAddress: true },
    },
  });
  const [{ id: nodeId } = { id: 0 }] = await central.get<{ id: number }[]>('/panel/api/nodes/list');
  const sent = () =>
    until(async () => {
      const [state] = await central.get<{ pending: number }[]>('/panel/api/x/node-sync');
      return state?.pending === 0;
    }, 'nothing waits');
  const reconcile = async (): Promise<string> =>
    (await central.call(`/panel/api/x/node-sync/${nodeId}/reconcile`, { method: 'POST' })).body.msg;
  const refused = () => central.get<unknown[]>(`/panel/api/x/node-sync/${nodeId}/refused`);

  const ids = [
    await central.addInbound({ nodeId }),
    await central.addInbound({ nodeId, protocol: 'trojan' }),
  ];
  const ann = await central.addClient('ann', ids, { totalGB: 10_000, comment: 'x' });
  await central.addClient('off', [ids[0] ?? 0], { enable: false });
  await sent();
  t.deepEqual(await refused(), []);
  const there = (email: string) =>
    node.get<{
      id: number;
      uuid: string;
      enable: boolean;
      totalGB: number;
      inboundIds: number[];
      comment: string;
    }>(`/panel/api/clients/get/${email}`);
  t.like(await there('ann'), { uuid: ann.uuid, enable: true, totalGB: 10_000, comment: 'x' });
  t.is((await there('ann')).inboundIds.length, 2);
  t.false((await there('off')).enable);
  await poll(central);
  t.regex(await reconcile(), /nothing differs/);

  await central.get('/panel/api/clients/update/ann', { body: { email: 'anna', comment: '' } });
  await central.get('/panel/api/clients/anna/detach', { body: { inboundIds: [ids[1]] } });
  await sent();
  t.like(await there('anna'), { uuid: ann.uuid, comment: '' });
  t.is((await there('anna')).inboundIds.length, 1);
  const { id, inboundIds } = await there('anna');
  const move = async (bytes: number) => {
    engine.move(inboundIds[0] ?? 0, id, 0, bytes);
    await poll(node);
    await poll(central);
  };
  await poll(central);
  await move(4_000);
  await poll(central);
  t.is(await downOf(central, 'anna'), 4_000);
  await move(7_000);
  t.is(await downOf(central, 'anna'), 11_000);
  await until(async () => !(await there('anna')).enable, 'the quota cuts it there');
  await central.get('/panel/api/clients/resetTraffic/anna', { method: 'POST' });
  await until(async () => (await there('anna')).enable, 'a new period');
  t.is(await downOf(node, 'anna'), 0);
  await poll(central);
  await move(30);
  t.is(await downOf(central, 'anna'), 30);

  // By hand, there.
  await node.get('/panel/api/clients/update/anna', { body: { totalGB: 1 } });
  await sent();
  t.regex(await reconcile(), /1 records/);
  t.is((await there('anna')).totalGB, 10_000);
  for (const email of ['anna', 'off']) await central.get(`/panel/api/clients/del/${email}`, { body: {} });
  for (const one of ids) await central.get(`/panel/api/inbounds/del/${one}`, { body: {} });
  await sent();
  t.deepEqual(await node.get('/panel/api/clients/list'), []);
  t.deepEqual(await node.get('/panel/api/inbounds/list'), []);
  t.false(
    paths.some((path) => path.includes('attach')),
    'only what a narrow token opens',
  );
  t.deepEqual([...central.faults, ...node.faults], []);
});
