// Runs on every database in test:full.
// A permission that would give more than its name says: by a call that does several things, or that sends something away.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { addAdmin, boot } from './world.js';

const API = '/panel/api';
const CALLBACKS = `${API}/x/event-callbacks/endpoints`;

test('who may write nodes does not make or delete inbounds and clients by it', async (t) => {
  await using panel = await boot();
  const grace = await addAdmin(panel, 'grace', ['nodes:write', 'inbounds:write']);
  for (const act of ['adopt', 'release']) {
    const { status, body } = await grace.call(`${API}/x/node-sync/1/${act}`, { body: {} });
    t.deepEqual([status, body.code], [403, 'ACCESS_NO_PERMISSION']);
    t.true(body.msg.includes('clients:write'), body.msg);
  }
});

test('who may write event callbacks has no events sent that she may not read', async (t) => {
  await using panel = await boot();
  const grace = await addAdmin(panel, 'grace', ['event-callbacks:write']);
  for (const path of ['', '/1', '/1/redeliver', '/1/rotate']) {
    const { status, body } = await grace.call(`${CALLBACKS}${path}`, {
      body: { url: 'https://elsewhere.example/hook', events: ['*'] },
    });
    t.deepEqual([status, body.code], [403, 'ACCESS_NO_PERMISSION'], path);
  }
  t.is((await grace.call(CALLBACKS)).status, 200);
});

test('who may write nodes does not get the token of one', async (t) => {
  const heard: string[] = [];
  const trap = createServer((request, reply) => {
    heard.push(String(request.headers.authorization));
    reply.end('{}');
  }).listen(0, '127.0.0.1');
  t.teardown(() => void trap.close());
  await using panel = await boot();
  const { port } = trap.address() as AddressInfo;
  const apiToken = 'the-token-that-nobody-reads';
  await panel.get(`${API}/nodes/add`, {
    body: { name: 'far', scheme: 'https', address: 'far.example', port: 443, apiToken, enable: false },
  });
  const [{ id = 0 } = {}] = await panel.get<{ id: number }[]>(`${API}/nodes/list`);
  const grace = await addAdmin(panel, 'grace', ['nodes:write']);
  const moved = { scheme: 'http', address: '127.0.0.1', port, allowPrivateAddress: true };
  const told = async (path: string, body: object): Promise<string> => {
    const { status, body: reply } = await grace.call(`${API}/nodes/${path}`, { body });
    return `${status} ${reply.code ?? ''}`.trim();
  };
  t.is(await told('test', { id, ...moved }), '403 NODES_TOKEN_STAYS');
  t.is(await told('inbounds', { id, ...moved }), '403 NODES_TOKEN_STAYS');
  t.is(await told(`update/${id}`, { ...moved, enable: true }), '403 NODES_TOKEN_STAYS');
  t.is(await told(`update/${id}`, { tlsVerifyMode: 'skip' }), '403 NODES_TOKEN_STAYS');
  t.deepEqual(heard, []);
  t.is(await told(`update/${id}`, { remark: 'in a rack', address: 'far.example' }), '200');
  t.is(
    await told(`update/${id}`, { ...moved, apiToken: 'a token that she knows'.replaceAll(' ', '-') }),
    '200',
  );
  await panel.get(`${API}/nodes/update/${id}`, { body: { apiToken } });
  await panel.get(`${API}/nodes/update/${id}`, { body: { port: port + 1 } });
  t.false(heard.some((one) => one.includes(apiToken)));
});

test('who may read inbounds does not get the keys and names of clients with their list', async (t) => {
  await using panel = await boot();
  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound]);
  const listed = async (permissions: readonly string[]): Promise<string> => {
    const { call } = await addAdmin(panel, `reads${permissions.length}`, permissions);
    const answer = await call(`${API}/inbounds/list`);
    t.is(answer.status, 200);
    return answer.text;
  };
  const withClients = await listed(['inbounds:read', 'clients:read']);
  for (const secret of [ada.uuid, ada.subId, '"ada"']) t.true(withClients.includes(secret), secret);
  const without = await listed(['inbounds:write']);
  for (const secret of [ada.uuid, ada.subId, '"ada"']) t.false(without.includes(secret), secret);
});

test('who may read subscriptions does not get the links of a client, nor learns who is one', async (t) => {
  await using panel = await boot();
  await panel.addClient('ada', [await panel.addInbound()]);
  const grace = await addAdmin(panel, 'grace', ['subscriptions:write']);
  for (const email of ['ada', 'nobody']) {
    const { status, body } = await grace.call(`${API}/setting/subscriptionPreview?email=${email}`);
    t.deepEqual([status, body.code], [403, 'ACCESS_NO_PERMISSION'], email);
    t.regex(body.msg, /clients:read/);
  }
  const joan = await addAdmin(panel, 'joan', ['subscriptions:read', 'clients:read']);
  const shown = await joan.call<{ body: string }>(`${API}/setting/subscriptionPreview?email=ada`);
  t.not(shown.body.obj.body, '');
});
