import test from 'ava';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { selfSigned } from '../../../test/harness/self-signed.js';

interface Inbound {
  readonly id: number;
  readonly tag: string;
  readonly port: number;
  readonly up: number;
  readonly down: number;
  readonly enable: boolean;
  readonly settings: { readonly clients: readonly { readonly email: string; readonly id: string }[] };
  readonly clientStats: readonly { readonly email: string; readonly up: number; readonly down: number }[];
}
const API = '/panel/api/inbounds';
const PATH = `${API}/import`;

test('imports a deleted inbound from the reply of get, with clients and counters, also into another panel', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using old = await TestPanel.boot({ plugins: [engine.plugin], clock });
  const id = await old.addInbound({ tag: 'mine', remark: 'kept', total: 5000 });
  const a = await old.addClient('a', [id], { totalGB: 9000, comment: 'c' });
  await old.addClient('b', [id], { enable: false });
  engine.move(id, a.id, 100, 4000);
  clock.tick(5000);
  await old.kernel.settled();
  const shown = await old.get<Inbound>(`${API}/get/${id}`);

  await refused(
    t,
    old,
    PATH,
    { body: { data: JSON.stringify(shown) } },
    { status: 409, code: 'INBOUNDS_PORT_TAKEN', field: 'port' },
  );
  await old.get(`${API}/del/${id}`, { method: 'POST' });
  const back = await old.call(PATH, { body: { data: JSON.stringify(shown) } });
  t.is(back.body.obj, null);
  t.regex(back.body.msg, /^inbound imported with 2 clients/);
  const [row] = await old.get<Inbound[]>(`${API}/list`);
  t.like(await old.get<Inbound>(`${API}/get/${row?.id}`), {
    tag: 'mine',
    up: 100,
    down: 4000,
    settings: shown.settings,
  });
  t.true(engine.inbounds.includes('mine'));

  await using fresh = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  await fresh.addInbound({ tag: 'mine' });
  const data = JSON.stringify({
    ...shown,
    settings: JSON.stringify({
      ...shown.settings,
      clients: [...shown.settings.clients, { email: 'no good' }],
    }),
  });
  const moved = await fresh.call(PATH, {
    rawBody: new URLSearchParams({ data }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.regex(
    moved.body.msg,
    /^inbound imported with 2 clients; 1 clients were skipped, the first of them no good: /,
  );
  const other = (await fresh.get<Inbound[]>(`${API}/list`)).find(({ port }) => port === shown.port);
  t.like(other, { tag: `in-${shown.port}-tcp`, up: 100, down: 4000 });
  t.like(await fresh.get(`/panel/api/clients/get/a`), {
    uuid: a.uuid,
    password: a.password,
    totalGB: 9000,
    comment: 'c',
    inboundIds: [other?.id],
  });
  t.like(await fresh.get(`/panel/api/clients/traffic/a`), { up: 100, down: 4000, enable: true });
  t.like(await fresh.get(`/panel/api/clients/traffic/b`), { enable: false, down: 0 });
});

test('rejects an invalid inbound and changes nothing', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  for (const data of [undefined, null, '[', '[]', 5])
    await refused(t, panel, PATH, { body: { data } }, { status: 400, code: 'KERNEL_INVALID', field: 'data' });
  await refused(
    t,
    panel,
    PATH,
    { body: { data: { protocol: 'vless' } } },
    { status: 400, code: 'KERNEL_INVALID', field: 'port' },
  );
  const clients = Array.from({ length: 20_001 }, (_, n) => ({ email: `c${n}` }));
  const settings = JSON.stringify({ clients });
  const { body } = await panel.call(PATH, { body: { data: { protocol: 'vless', port: 24_431, settings } } });
  t.regex(body.msg, /more than 20000 clients; add the rest with clients\/import/);
  t.deepEqual(await panel.get(`${API}/list`), []);
});

test('of several counters of one new client the last count, in any spelling of its email', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  const data = {
    protocol: 'vless',
    listen: '127.0.0.1',
    port: 24_431,
    settings: { clients: [{ email: 'a' }] },
    clientStats: [
      { email: 'a', up: 1, down: 2 },
      { email: 'A', up: 3, down: 4 },
    ],
  };
  t.regex((await panel.call(PATH, { body: { data } })).body.msg, /^inbound imported with 1 clients/);
  t.like(await panel.get('/panel/api/clients/traffic/a'), { up: 3, down: 4 });
});

test('clients of several imported inbounds keep the password and auth of each, and the message tells of a UUID that they do not', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], clock: new FakeClock() });
  const bring = async (port: number, inbound: object, client: object): Promise<string> => {
    const settings = { clients: [{ email: 'a', subId: 'sub-a', ...client }] };
    const data = { listen: '127.0.0.1', port, settings, ...inbound };
    return (await panel.call(PATH, { body: { data } })).body.msg;
  };
  const id = '3f0a1c5e-7b2d-4e61-9c08-1d2e3f4a5b0d';
  t.is(await bring(24_441, { protocol: 'vless' }, { id }), 'inbound imported with 1 clients');
  t.is(
    await bring(24_442, { protocol: 'trojan' }, { id, password: 'of-the-old-panel' }),
    'inbound imported with 1 clients',
  );
  const { cert, key } = selfSigned();
  const streamSettings = {
    network: 'hysteria',
    security: 'tls',
    tlsSettings: { certificates: [{ certificate: [cert], key: [key] }] },
  };
  t.is(
    await bring(24_443, { protocol: 'hysteria', streamSettings }, { id, auth: 'auth-of-the-old-panel' }),
    'inbound imported with 1 clients',
  );
  const a = await panel.get<{ id: number }>('/panel/api/clients/get/a');
  const inCore = (inboundId: number) => engine.users.get(`i${inboundId}.c${a.id}`);
  t.like(inCore(2), { password: 'of-the-old-panel' });
  t.like(inCore(3), { auth: 'auth-of-the-old-panel' });
  const [, trojan = '', hysteria = ''] = await panel.get<string[]>('/panel/api/clients/links/a');
  t.regex(trojan, /^trojan:\/\/of-the-old-panel@/);
  t.regex(hysteria, /^hysteria2:\/\/auth-of-the-old-panel@/);
  t.is(
    await bring(24_444, { protocol: 'vless' }, { id: id.replace('3f', '4f') }),
    'inbound imported with 1 clients; 1 of them keep the UUID that they have, not the one in the data',
  );
});
