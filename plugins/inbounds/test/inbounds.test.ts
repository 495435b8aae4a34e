// Runs on every database in test:full.
import { rm } from 'node:fs/promises';
import test from 'ava';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { firstPending } from '../sent-clients.js';

interface Inbound {
  readonly id: number;
  readonly tag: string;
  readonly port: number;
  readonly enable: boolean;
  readonly remark: string;
  readonly total: number;
  readonly up: number;
  readonly down: number;
  readonly settings: Record<string, unknown> | null;
  readonly streamSettings: Record<string, unknown> | null;
  readonly sniffing: Record<string, unknown> | null;
  readonly clientStats: readonly { readonly email: string; readonly inboundId: number }[];
}
const list = (panel: TestPanel): Promise<Inbound[]> => panel.get('/panel/api/inbounds/list');
const get = (panel: TestPanel, id: number): Promise<Inbound> => panel.get(`/panel/api/inbounds/get/${id}`);
const update = (panel: TestPanel, id: number, body: object): Promise<Inbound> =>
  panel.get(`/panel/api/inbounds/update/${id}`, { body });
async function boot(engine = new FakeEngine()): Promise<TestPanel> {
  return TestPanel.boot({ plugins: [engine.plugin], clock: new FakeClock() });
}

test('an inbound has every described field, in the list without its settings', async (t) => {
  await using panel = await boot();
  const id = await panel.addInbound();
  await panel.addClient('a', [id]);
  const [row] = await list(panel);
  const fields = [
    'id',
    'enable',
    'remark',
    'listen',
    'port',
    'protocol',
    'tag',
    'expiryTime',
    'total',
    'up',
    'down',
    'settings',
    'streamSettings',
    'sniffing',
    'clientStats',
    'disableFlow',
    'fallbackParent',
    'lastTrafficResetTime',
    'nodeId',
    'originNodeGuid',
    'state',
    'shareAddr',
    'shareAddrStrategy',
    'subSortIndex',
    'trafficReset',
    'trafficResetDay',
  ];
  // Other plugins may add theirs.
  t.deepEqual(
    fields.filter((field) => !(field in (row ?? {}))),
    [],
  );
  t.deepEqual([row?.settings, row?.streamSettings, row?.sniffing], [null, null, null]);
  const whole = await get(panel, id);
  t.like(whole, {
    id,
    enable: true,
    up: 0,
    down: 0,
    total: 0,
    settings: { decryption: 'none' },
    streamSettings: {},
    sniffing: {},
  });
  t.deepEqual(
    (whole.settings as { clients: { email: string }[] }).clients.map(({ email }) => email),
    ['a'],
  );
  t.deepEqual(
    whole.clientStats.map(({ email, inboundId }) => [email, inboundId]),
    [['a', id]],
  );
});

test('settings, streamSettings and sniffing are taken as objects and as JSON text, and returned as objects with unknown keys', async (t) => {
  await using panel = await boot();
  const settings = { decryption: 'none', testseed: [1, 2] };
  const streamSettings = {
    network: 'ws',
    wsSettings: { path: '/x', heartbeatPeriod: 10 },
    sockopt: { mark: 255, deep: { list: [null, 1.5] } },
  };
  const sniffing = { enabled: true, destOverride: ['http'], future: 'yes' };
  const asObject = await panel.addInbound({ settings, streamSettings, sniffing });
  const asText = await panel.addInbound({
    settings: JSON.stringify(settings),
    streamSettings: JSON.stringify(streamSettings),
    sniffing: JSON.stringify(sniffing),
  });
  const blank = await panel.addInbound({ settings: '', streamSettings: ' ', sniffing: '' });
  for (const id of [asObject, asText]) {
    const inbound = await get(panel, id);
    t.deepEqual({ ...inbound.settings, clients: [] }, { ...settings, clients: [] });
    t.deepEqual(inbound.streamSettings, streamSettings);
    t.deepEqual(inbound.sniffing, sniffing);
  }
  t.deepEqual((await get(panel, blank)).streamSettings, {});
});

test('unknown keys of a body are ignored', async (t) => {
  await using panel = await boot();
  const id = await panel.addInbound({
    id: 99,
    up: 5,
    down: 6,
    userId: 1,
    clientStats: [{}],
    nodeId: 0,
    whatever: { a: 1 },
  });
  const inbound = await get(panel, id);
  t.is(id, 1);
  t.is(inbound.up + inbound.down, 0);
  t.false('whatever' in inbound);
});

test('a form does as well as JSON', async (t) => {
  await using panel = await boot();
  const port = await freePort();
  const form = new URLSearchParams({
    protocol: 'vless',
    port: String(port),
    listen: '127.0.0.1',
    enable: 'false',
    total: '1000',
    remark: 'a form',
    streamSettings: '{"network":"ws"}',
  });
  const answer = await panel.call<Inbound>('/panel/api/inbounds/add', {
    rawBody: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.like(answer.body.obj, {
    port,
    enable: false,
    total: 1000,
    remark: 'a form',
    streamSettings: { network: 'ws' },
  });
});

/** It changes with what is edited. */
const versionOf = (record: object) => ({ version: (record as { readonly version?: string }).version });

test('an update changes what is sent and keeps the rest', async (t) => {
  await using panel = await boot();
  const id = await panel.addInbound({
    remark: 'before',
    total: 5,
    tag: 'mine',
    sniffing: { enabled: true },
    streamSettings: { network: 'ws' },
    subSortIndex: 3,
  });
  const before = await get(panel, id);
  await update(panel, id, { remark: 'after' });
  const after = await get(panel, id);
  t.deepEqual(after, { ...before, remark: 'after', ...versionOf(after) });
  t.notDeepEqual(versionOf(after), versionOf(before));
  await update(panel, id, {});
  t.deepEqual(await get(panel, id), after);
});

test('what get returns can be sent back, clients included, and changes nothing', async (t) => {
  await using panel = await boot();
  const id = await panel.addInbound({ streamSettings: { network: 'ws' } });
  await panel.addClient('a', [id]);
  const before = await get(panel, id);
  await update(panel, id, before);
  t.deepEqual(await get(panel, id), before);
});

test('two concurrent updates of different fields both take effect, in memory and on disk', async (t) => {
  const engine = new FakeEngine();
  const panel = await boot(engine);
  t.teardown(() => rm(panel.dataDirectory, { recursive: true, force: true }));
  const id = await panel.addInbound();
  await Promise.all([
    update(panel, id, { remark: 'both' }),
    update(panel, id, { total: 77 }),
    update(panel, id, { subSortIndex: 9 }),
  ]);
  const expected = { remark: 'both', total: 77, subSortIndex: 9 };
  t.like(await get(panel, id), expected);
  await panel.stop();
  const again = await TestPanel.boot({ plugins: [engine.plugin], dataDirectory: panel.dataDirectory });
  t.teardown(() => again.stop());
  t.like(await get(again, id), expected);
});

test('generated tags are unique and follow the port; a chosen tag stays', async (t) => {
  await using panel = await boot();
  const [port, next] = [await freePort(), await freePort()];
  const tagOf = async (id: number) => (await get(panel, id)).tag;
  const first = await panel.addInbound({ port, listen: '127.0.0.1' });
  const second = await panel.addInbound({ port, listen: '127.0.0.2' });
  const third = await panel.addInbound({ port, listen: '127.0.0.3', tag: '' });
  t.deepEqual(await Promise.all([first, second, third].map(tagOf)), [
    `in-${port}-tcp`,
    `in-${port}-tcp-2`,
    `in-${port}-tcp-3`,
  ]);
  await update(panel, second, { port: next });
  t.is(await tagOf(second), `in-${next}-tcp`);
  const chosen = await panel.addInbound({ tag: 'in-443-tcp-x' });
  await update(panel, chosen, { port: await freePort() });
  t.is(await tagOf(chosen), 'in-443-tcp-x');
  await update(panel, chosen, { tag: '' });
  t.is(await tagOf(chosen), `in-${(await get(panel, chosen)).port}-tcp`);
});

test('of concurrent requests for one port, one succeeds and the others get 409', async (t) => {
  await using panel = await boot();
  const port = await freePort();
  const answers = await Promise.all(
    ['127.0.0.1', '', '0.0.0.0', '127.0.0.1', 'localhost'].map((listen) =>
      panel.call('/panel/api/inbounds/add', { body: { protocol: 'vless', port, listen } }),
    ),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409]);
  t.deepEqual(
    [...new Set(answers.filter(({ status }) => status === 409).map(({ body }) => body.code))],
    ['INBOUNDS_PORT_TAKEN'],
  );
  t.is((await list(panel)).length, 1);
});

test('of concurrent requests for one tag, one succeeds', async (t) => {
  await using panel = await boot();
  const ports = [await freePort(), await freePort(), await freePort()];
  const answers = await Promise.all(
    ports.map((port) =>
      panel.call('/panel/api/inbounds/add', {
        body: { protocol: 'vless', port, listen: '127.0.0.1', tag: 'one' },
      }),
    ),
  );
  t.deepEqual(answers.map(({ status, body }) => `${status} ${body.code ?? ''}`).sort(), [
    '200 ',
    '409 INBOUNDS_TAG_TAKEN',
    '409 INBOUNDS_TAG_TAKEN',
  ]);
  t.is((await list(panel)).length, 1);
});

test('of two concurrent updates to one port, one succeeds', async (t) => {
  await using panel = await boot();
  const [a, b, port] = [await panel.addInbound(), await panel.addInbound(), await freePort()];
  const answers = await Promise.all(
    [a, b].map((id) => panel.call(`/panel/api/inbounds/update/${id}`, { body: { port } })),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  t.is((await list(panel)).filter((inbound) => inbound.port === port).length, 1);
});

test('the second of two concurrent deletions gets 404, and so does an update of a deleted inbound', async (t) => {
  await using panel = await boot();
  const id = await panel.addInbound();
  const answers = await Promise.all(
    [1, 2].map(() => panel.call(`/panel/api/inbounds/del/${id}`, { method: 'POST' })),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
  t.is((await panel.call(`/panel/api/inbounds/update/${id}`, { body: { remark: 'x' } })).status, 404);
});

test('the core gets enabled inbounds only', async (t) => {
  const engine = new FakeEngine();
  await using panel = await boot(engine);
  const on = await panel.addInbound({ tag: 'on' });
  const off = await panel.addInbound({ tag: 'off', enable: false });
  t.deepEqual(engine.inbounds, ['on']);
  await panel.get(`/panel/api/inbounds/setEnable/${off}`, { body: { enable: true } });
  t.deepEqual(engine.inbounds, ['on', 'off']);
  t.true((await get(panel, off)).enable);
  await panel.get(`/panel/api/inbounds/setEnable/${on}`, { body: { enable: false } });
  t.deepEqual(engine.inbounds, ['off']);
  await panel.get(`/panel/api/inbounds/del/${off}`, { method: 'POST' });
  t.deepEqual(engine.inbounds, []);
});

test('clients of a deleted inbound stay, and its id is never used again', async (t) => {
  const engine = new FakeEngine();
  await using panel = await boot(engine);
  const [stays, goes] = [await panel.addInbound(), await panel.addInbound()];
  await panel.addClient('both', [stays, goes]);
  await panel.addClient('lonely', [goes]);
  await panel.get(`/panel/api/inbounds/del/${goes}`, { method: 'POST' });
  const clients = await panel.get<{ items: { email: string; inboundIds: number[] }[] }>(
    '/panel/api/clients/list/paged',
  );
  t.deepEqual(
    clients.items.map(({ email, inboundIds }) => [email, inboundIds]),
    [
      ['both', [stays]],
      ['lonely', []],
    ],
  );
  t.deepEqual(
    (await list(panel)).map(({ id }) => id),
    [stays],
  );
  t.deepEqual(await panel.get('/panel/api/clients/links/lonely'), []);
  t.true((await panel.addInbound()) > goes);
});

test('what the core has not taken yet is said, whichever part of an edit it is', (t) => {
  const done = { pending: false, reason: '' };
  const late = { pending: true, reason: 'late' };
  t.deepEqual(
    [firstPending(done, late), firstPending(late, done), firstPending(done, done)],
    [late, late, done],
  );
});
