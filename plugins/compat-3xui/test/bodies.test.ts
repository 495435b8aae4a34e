// Bodies that older programs send, and what they find in replies; for all others the API is as strict as without them.
import anyTest, { type TestFn } from 'ava';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { shapes } from '../replies.js';
import { OLD_UUID as UUID, OldProgram } from './old-panel.js';

const test = anyTest as TestFn<{ old: OldProgram }>;
test.beforeEach(async (t) => {
  t.context = { old: await OldProgram.boot() };
});
test.afterEach.always(async (t) => t.context.old?.[Symbol.asyncDispose]());

/** py3xui's `Inbound.to_json()`. */
const py3xuiInbound = (client: object[] = []) => ({
  remark: 'py',
  enable: true,
  listen: '',
  port: 24_440,
  protocol: 'vless',
  expiryTime: 0,
  settings: JSON.stringify({ clients: client, decryption: '', fallbacks: [] }),
  sniffing: JSON.stringify({ enabled: true, destOverride: [], metadataOnly: false, routeOnly: false }),
  streamSettings: JSON.stringify({
    security: 'none',
    network: 'tcp',
    tcpSettings: { acceptProxyProtocol: false, header: { type: 'none' } },
    kcpSettings: {},
    externalProxy: [],
    realitySettings: {},
    xtlsSettings: {},
    tlsSettings: {},
    xhttpSettings: {},
  }),
});
/** A client inside of it: `Client.model_dump_json()`. */
const py3xuiClient = {
  email: 'ann',
  enable: true,
  id: UUID,
  password: '',
  inboundId: null,
  up: 0,
  down: 0,
  expiryTime: 0,
  total: 0,
  reset: null,
  flow: '',
  method: '',
  limitIp: 0,
  subId: '',
  comment: '',
  tgId: '',
  totalGB: 0,
  uuid: null,
};
interface Inbound {
  readonly id: number;
  readonly settings: { readonly decryption: string; readonly clients: readonly { readonly id: string }[] };
  readonly streamSettings: object | string | null;
  readonly sniffing: object;
}
const ADD = '/panel/api/inbounds/add';
const LIST = '/panel/api/inbounds/list';

test('takes an inbound of py3xui with its clients', async (t) => {
  const { old } = t.context;
  const added = await old.post<Inbound>(ADD, py3xuiInbound([py3xuiClient]));
  t.true(added.body.success, added.text);
  const { obj } = (await old.panel.call<Inbound>(`/panel/api/inbounds/get/${added.body.obj.id}`)).body;
  t.is(obj.settings.decryption, 'none');
  t.is(obj.settings.clients[0]?.id, UUID);
  t.deepEqual(obj.streamSettings, {
    network: 'tcp',
    security: 'none',
    tcpSettings: { acceptProxyProtocol: false, header: { type: 'none' } },
  });
});

test('others are refused what it takes of older programs, as without the plugin', async (t) => {
  await using plain = await TestPanel.boot({
    without: ['compat-3xui'],
    plugins: [new FakeEngine().plugin],
  });
  for (const panel of [t.context.old.panel, plain]) {
    const inbound = await panel.call(ADD, { body: py3xuiInbound() });
    t.is(inbound.status, 400, inbound.text);
    t.true(inbound.body.msg.includes('decryption'), inbound.body.msg);
    for (const change of [{ totalGB: 1.5 }, { enable: 1 }, { enable: null }, { comment: 7 }]) {
      const client = { email: 'bob', ...change };
      const answer = await panel.call('/panel/api/clients/add', { body: { client, inboundIds: [1] } });
      t.is(answer.body.code, 'KERNEL_INVALID', JSON.stringify(change));
      t.is(answer.status, 400);
    }
    const nothing = await panel.call('/panel/api/setting/update', { body: null });
    t.is(nothing.status, 400);
    const form = await panel.call('/panel/api/clients/bulkAdjust', {
      rawBody: 'emails=ann',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    t.is(form.status, 415);
  }
});

test('values of careless callers count as what they seem to mean', async (t) => {
  const { old } = t.context;
  const inbound = await old.inbound();
  const careless = {
    email: 'bob',
    enable: 1,
    totalGB: 1.9,
    limitIp: null,
    comment: null,
    tgId: '',
    expiryTime: null,
    id: null,
  };
  const { body } = await old.post('/panel/api/clients/add', { client: careless, inboundIds: [inbound] });
  t.true(body.success, body.msg);
  const shown = await old.panel.call('/panel/api/clients/get/bob');
  t.like(shown.body.obj, { enable: true, totalGB: 1, limitIp: 0, comment: '' });
  const bad = await old.post('/panel/api/clients/update/bob', { totalGB: [], enable: 'perhaps' });
  t.is(bad.status, 200);
  t.like(bad.body, { success: false, code: 'KERNEL_INVALID' });
  t.like((await old.panel.call('/panel/api/clients/get/bob')).body.obj, { enable: true, totalGB: 1 });
});

test('an update of py3xui sets what it leaves out, and an update of others does not', async (t) => {
  const { old } = t.context;
  const inbound = await old.inbound();
  const limits = { totalGB: 7, limitIp: 3, comment: 'paid' };
  await old.post('/panel/api/clients/add', {
    client: { email: 'bob', id: UUID, ...limits },
    inboundIds: [inbound],
  });
  const PATH = '/panel/api/clients/update/bob';
  const get = async () => (await old.panel.call('/panel/api/clients/get/bob')).body.obj as object;
  const body = { email: 'bob', enable: true, id: UUID, totalGB: 9 };
  await old.panel.call(PATH, { body });
  t.like(await get(), { ...limits, totalGB: 9 });
  await old.post(PATH, { totalGB: 8 });
  t.like(await get(), { ...limits, totalGB: 8 });
  t.true((await old.post(PATH, body)).body.success);
  t.like(await get(), { totalGB: 9, limitIp: 0, comment: '' });
});

test('replies to older programs have what they look for', async (t) => {
  const { old } = t.context;
  const whole = await old.post<Inbound>(ADD, py3xuiInbound([py3xuiClient]));
  await old.post(ADD, { port: 24_441, protocol: 'http', settings: '{}', streamSettings: '', sniffing: null });
  const [first, second] = (await old.call<Inbound[]>(LIST)).body.obj;
  t.is(first?.settings.clients[0]?.id, UUID);
  t.like(first?.sniffing, { enabled: true });
  t.is(second?.streamSettings, '');
  t.like(second?.sniffing, { enabled: false });
  t.is(whole.body.obj.settings.decryption, 'none');
  const client = await old.call('/panel/api/clients/get/ann');
  t.like(client.body.obj, { email: 'ann', client: { email: 'ann', uuid: UUID } });
  const status = (await old.call<Record<string, unknown>>('/panel/api/server/status')).body.obj;
  t.deepEqual(status['xray'], status['engine']);
  t.like(status['xray'], { errorMsg: '' });
});

test('a program of our own gets its own replies and statuses', async (t) => {
  const { panel } = t.context.old;
  await t.context.old.post(ADD, py3xuiInbound([py3xuiClient]));
  const [first] = (await panel.call<Inbound[]>(LIST)).body.obj;
  t.is(first?.settings as unknown, null);
  t.false('client' in ((await panel.call('/panel/api/clients/get/ann')).body.obj as object));
  t.is((await panel.call('/panel/api/clients/get/nobody')).status, 404);
  t.is((await panel.call('/panel/api/inbounds/get/x')).status, 400);
});

test('py3xui with a token gets its replies, and the real status of a failure', async (t) => {
  const { panel } = t.context.old;
  await t.context.old.post(ADD, py3xuiInbound([py3xuiClient]));
  const { token } = (
    await panel.call<{ token: string }>('/panel/api/setting/apiTokens/create', { body: { name: 'bot' } })
  ).body.obj;
  const python = { 'user-agent': 'python-requests/2.32.3', accept: 'application/json' };
  const headers = { ...python, authorization: `Bearer ${token}` };
  const call = <T>(path: string) => panel.call<T>(path, { anonymous: true, headers });
  t.is((await call<Inbound[]>(LIST)).body.obj[0]?.settings.clients[0]?.id, UUID);
  const missing = await call('/panel/api/clients/get/nobody');
  t.is(missing.status, 404);
  t.like(missing.body, { success: false, code: 'CLIENTS_NOT_FOUND' });
});

test('a program that stores all cookies is an older one if it goes on with its first token', async (t) => {
  const { old } = t.context;
  const both = (cookie: string) => `${cookie}; ${cookie.replace('3x-ui', 'weir_session')}`;
  const PATH = '/panel/api/clients/get/nobody';
  t.is((await old.call(PATH, { headers: { cookie: both(old.cookie) } })).status, 200);
  const id = old.panel.cookie.slice('weir_session='.length);
  t.is((await old.panel.call(PATH, { headers: { cookie: both(`3x-ui=${id}`) } })).status, 404);
});

test('an older program reads failures in a reply, and logs in again only where that helps', async (t) => {
  const { old } = t.context;
  for (const path of [
    '/panel/api/clients/get/nobody',
    '/panel/api/inbounds/get/x',
    '/panel/api/inbounds/get/99',
  ]) {
    const { status, body } = await old.call(path);
    t.is(status, 200, path);
    t.false(body.success);
    t.is(typeof body.requestId, 'string');
  }
  t.is((await old.call('/panel/api/nothing/here')).status, 404);
  t.is((await old.call(LIST, { headers: { cookie: '3x-ui=over' } })).status, 401);
});

test('settings have their older names beside ours, and are saved under both', async (t) => {
  await using old = await OldProgram.boot();
  const ALL = '/panel/api/setting/all';
  type Settings = Record<string, unknown>;
  const all = (await old.call<Settings>(ALL, { method: 'POST' })).body.obj;
  t.is(all['tgBotEnable'], false);
  t.like(all, { hasWarpSecret: false, hasNordSecret: false, warpUpdateInterval: 0 });
  const saved = await old.post('/panel/api/setting/update', { ...all, tgBotEnable: true });
  t.true(saved.body.success, saved.text);
  t.false(saved.body.msg.includes('tgBotEnable'), 'it is not said to be ignored');
  const ours = (await old.panel.call<Settings>(ALL, { method: 'POST' })).body.obj;
  t.is(ours['msgBotEnable'], true);
  t.false('tgBotEnable' in ours);
});

test('addresses of a client are texts', async (t) => {
  const { old } = t.context;
  const seen = {
    call: 'POST /panel/api/clients/ips/{email}',
    obj: [{ ip: '192.0.2.7', time: '2026-01-31 12:00:00' }],
  };
  const shape = shapes[seen.call as 'POST /'];
  t.deepEqual(await shape?.(seen.obj, undefined as never, undefined as never), [
    '192.0.2.7 (2026-01-31 12:00:00)',
  ]);
  t.deepEqual((await old.post('/panel/api/inbounds/clientIps/nobody')).body.obj, []);
});

test('a program that knows one host leaves the others where they are, and may replace all', async (t) => {
  const { old } = t.context;
  const path = '/panel/api/setting/update';
  const hosts = async () =>
    (await old.panel.get<{ allowedHosts: string[] }>('/panel/api/setting/all', { method: 'POST' }))
      .allowedHosts;
  await old.panel.get(path, { body: { allowedHosts: ['127.0.0.1', 'b.example'] } });
  const kept = await old.post(path, { webDomain: '127.0.0.1', pageSize: 30 });
  t.true(kept.body.success, kept.body.msg);
  t.deepEqual(await hosts(), ['127.0.0.1', 'b.example']);
  await old.post(path, { webDomain: 'c.example' });
  t.deepEqual(await hosts(), ['c.example']);
  const wrong = await old.post(path, { webDomain: 'd.example', allowedHosts: null });
  t.false(wrong.body.msg.includes('something went wrong'), wrong.body.msg);
});
