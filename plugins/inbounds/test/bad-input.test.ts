import { createServer, type Server } from 'node:net';
import test from 'ava';
import { FakeClock, FakeEngine, freePort, refused, TestPanel } from '../../../test/harness/index.js';

const ADD = '/panel/api/inbounds/add';
let engine: FakeEngine;
let panel: TestPanel;
let id: number;
let port: number;

test.before(async () => {
  engine = new FakeEngine();
  panel = await TestPanel.boot({ plugins: [engine.plugin], clock: new FakeClock() });
  id = await panel.addInbound({
    remark: 'first',
    tag: 'first',
    settings: { decryption: 'none' },
    streamSettings: { network: 'ws', wsSettings: { path: '/a' } },
  });
  port = (await panel.get<{ port: number }>(`/panel/api/inbounds/get/${id}`)).port;
  await panel.addClient('somebody', [id]);
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

const UNSAFE = Number.MAX_SAFE_INTEGER + 1;
/** For each field: values that it must not take. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  enable: ['true', 1, null, [], {}],
  remark: [5, true, ['x'], {}, 'x'.repeat(256), 'a\u0000b', 'a\nb', 'half \ud83d'],
  listen: [
    5,
    [],
    '10.0.0.1 ',
    'a b',
    '/etc/socket',
    '/run/weir/../../etc/s',
    '/dev/shm/',
    '@',
    '@weir.api',
    'x'.repeat(256),
    '1.2.3.4\u0000',
  ],
  port: ['443', 'NaN', null, 0, -1, 65_536, 1.5, UNSAFE, true, [443]],
  protocol: [5, null, '', [], {}, 'x'.repeat(33)],
  tag: [5, [], 'a b', 'a\tb', 'a>b', 'x'.repeat(129), 'half\ud83d'],
  expiryTime: ['-1', 'NaN', -1, 1.5, UNSAFE, -UNSAFE, []],
  total: ['1.5', 'NaN', -1, 1.5, UNSAFE, []],
  disableFlow: ['false', 0, null],
  shareAddr: [5, 'a b', 'a/b', 'a?b#c', 'x'.repeat(256)],
  shareAddrStrategy: ['anything', 5],
  subSortIndex: ['1', -1, 1.5, UNSAFE],
  trafficReset: ['yearly', 5],
  trafficResetDay: ['1', 32, -1, 1.5],
  settings: [5, true, [], 'no json', '[]', 'null', '5'],
  streamSettings: [5, true, [], 'no json', '[]'],
  sniffing: [5, true, [], '{"enabled":', '"text"'],
};

for (const [field, values] of Object.entries(WRONG)) {
  test.serial(
    `inbounds/add and inbounds/update refuse what ${field} cannot be, name it and change nothing`,
    async (t) => {
      for (const value of values) {
        await refused(
          t,
          panel,
          ADD,
          { body: { protocol: 'vless', port: 40_000, listen: '127.0.0.1', [field]: value } },
          { status: 400, code: 'KERNEL_INVALID', field },
        );
        await refused(
          t,
          panel,
          `/panel/api/inbounds/update/${id}`,
          { body: { [field]: value } },
          { status: 400, code: 'KERNEL_INVALID', field },
        );
      }
    },
  );
}

test.serial('all mistakes of a body are told at once', async (t) => {
  const body = { protocol: 'vless', port: -1, total: -1, remark: 7, streamSettings: '{' };
  const answer = await panel.call<{ issues: { path: string }[] }>(ADD, { body });
  t.deepEqual(answer.body.obj.issues.map(({ path }) => path).sort(), [
    'port',
    'remark',
    'streamSettings',
    'total',
  ]);
});

test.serial('port and protocol cannot be left out of a new inbound', async (t) => {
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'vless' } },
    { status: 400, code: 'KERNEL_INVALID', field: 'port' },
  );
  await refused(
    t,
    panel,
    ADD,
    { body: { port: 40_000 } },
    { status: 400, code: 'KERNEL_INVALID', field: 'protocol' },
  );
});

const STREAMS: readonly (readonly [field: string, stream: unknown])[] = [
  ['streamSettings.network', { network: 'h3' }],
  ['streamSettings.kcpSettings.mtu', { network: 'kcp', kcpSettings: { mtu: 100 } }],
  ['streamSettings.kcpSettings.tti', { network: 'kcp', kcpSettings: { tti: 5 } }],
  ['streamSettings.network', { network: 5 }],
  ['streamSettings.network', '{"network":"quic"}'],
  ['streamSettings.security', { security: 'sometimes' }],
  ['streamSettings.security', { security: null }],
  ['streamSettings.tcpSettings', { tcpSettings: [] }],
  ['streamSettings.tcpSettings.header.type', { tcpSettings: { header: { type: 'odd' } } }],
  ['streamSettings.wsSettings', { wsSettings: 'text' }],
  ['streamSettings.wsSettings.path', { wsSettings: { path: '/a b' } }],
  ['streamSettings.wsSettings.path', { wsSettings: { path: '/a\u0000' } }],
  ['streamSettings.wsSettings.path', { wsSettings: { path: '/\ud83d' } }],
  ['streamSettings.wsSettings.host', { wsSettings: { host: ['h'] } }],
  ['streamSettings.wsSettings.host', { wsSettings: { host: 'a b' } }],
  ['streamSettings.wsSettings.headers', { wsSettings: { headers: 'Host: x' } }],
];
test.serial('rejects unknown networks, securities and stream settings with their path', async (t) => {
  for (const [field, streamSettings] of STREAMS) {
    await refused(
      t,
      panel,
      ADD,
      { body: { protocol: 'vless', port: 40_000, streamSettings } },
      { status: 400, code: 'KERNEL_INVALID', field },
    );
    await refused(
      t,
      panel,
      `/panel/api/inbounds/update/${id}`,
      { body: { streamSettings } },
      { status: 400, code: 'KERNEL_INVALID', field },
    );
  }
});

test.serial('settings that the protocol does not take are refused with their path', async (t) => {
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'vless', port: 40_000, settings: { decryption: 'rot13' } } },
    { status: 400, code: 'KERNEL_INVALID', field: 'settings.decryption' },
  );
  await refused(
    t,
    panel,
    `/panel/api/inbounds/update/${id}`,
    { body: { settings: '{"encryption":7}' } },
    { status: 400, code: 'KERNEL_INVALID', field: 'settings.encryption' },
  );
});

test.serial('an unknown protocol is refused and the known ones are told', async (t) => {
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'gopher', port: 40_000 } },
    {
      status: 422,
      code: 'INBOUNDS_UNKNOWN_PROTOCOL',
      field: 'protocol',
      says: 'vless, vmess, trojan, shadowsocks',
    },
  );
  await refused(
    t,
    panel,
    `/panel/api/inbounds/update/${id}`,
    { body: { protocol: 'VLESS' } },
    { status: 422, code: 'INBOUNDS_UNKNOWN_PROTOCOL', field: 'protocol' },
  );
});

test.serial('a port of another inbound is taken, however the address is written', async (t) => {
  const taken = { status: 409, code: 'INBOUNDS_PORT_TAKEN', field: 'port', says: '#1 (first)' };
  for (const listen of [
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '',
    '0.0.0.0',
    '::',
    '::0',
    '0:0:0:0:0:0:0:0',
    'localhost',
    'LocalHost',
  ])
    await refused(t, panel, ADD, { body: { protocol: 'trojan', port, listen } }, taken);
  const other = await panel.addInbound({ listen: '127.0.0.2', port });
  await refused(t, panel, `/panel/api/inbounds/update/${other}`, { body: { listen: '127.0.0.1' } }, taken);
  await refused(t, panel, `/panel/api/inbounds/update/${other}`, { body: { listen: '' } }, taken);
  const six = await panel.addInbound({ listen: '::1' });
  const { port: sixPort } = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${six}`);
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'vless', port: sixPort, listen: '0:0:0:0:0:0:0:1' } },
    { status: 409, code: 'INBOUNDS_PORT_TAKEN', field: 'port' },
  );
  for (const done of [other, six]) await panel.get(`/panel/api/inbounds/del/${done}`, { method: 'POST' });
});

test.serial('the port of a disabled inbound is taken too: it may be enabled at any time', async (t) => {
  const off = await panel.addInbound({ enable: false, remark: 'asleep' });
  const { port: held } = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${off}`);
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'vless', port: held, listen: '127.0.0.1' } },
    { status: 409, code: 'INBOUNDS_PORT_TAKEN', field: 'port', says: 'asleep' },
  );
  await panel.get(`/panel/api/inbounds/del/${off}`, { method: 'POST' });
});

const listening = (at: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer()
      .once('error', reject)
      .listen(at, '127.0.0.1', () => resolve(server));
  });
test.serial(
  'a port that another program listens on is refused for an enabled inbound, on every way to it',
  async (t) => {
    const stranger = await listening(0);
    t.teardown(() => void stranger.close());
    const { port: foreign } = stranger.address() as { port: number };
    const inUse = { status: 409, code: 'INBOUNDS_PORT_IN_USE', field: 'port', says: `:${foreign}` };
    await refused(t, panel, ADD, { body: { protocol: 'vless', port: foreign, listen: '127.0.0.1' } }, inUse);
    await refused(t, panel, ADD, { body: { protocol: 'vless', port: foreign } }, inUse);
    await refused(t, panel, `/panel/api/inbounds/update/${id}`, { body: { port: foreign } }, inUse);
    const off = await panel.addInbound({ enable: false, port: foreign });
    await refused(t, panel, `/panel/api/inbounds/setEnable/${off}`, { body: { enable: true } }, inUse);
    await panel.get(`/panel/api/inbounds/del/${off}`, { method: 'POST' });
  },
);

test.serial('an address that is not one of this machine is refused', async (t) => {
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'vless', port: await freePort(), listen: '192.0.2.77' } },
    { status: 409, code: 'INBOUNDS_PORT_IN_USE', field: 'listen', says: '192.0.2.77' },
  );
});

test.serial('a tag of another inbound is taken', async (t) => {
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'vless', port: await freePort(), listen: '127.0.0.1', tag: 'first' } },
    { status: 409, code: 'INBOUNDS_TAG_TAKEN', field: 'tag', says: 'first' },
  );
});

test.serial('what the core refuses is not saved, and its reason is told', async (t) => {
  t.teardown(() => (engine.refuses = undefined));
  engine.refuses = 'invalid "decryption": it does not like it';
  const expected = {
    status: 422,
    code: 'INBOUNDS_CORE_REFUSED',
    field: 'streamSettings',
    says: engine.refuses,
  };
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'vless', port: await freePort(), listen: '127.0.0.1' } },
    expected,
  );
  await refused(t, panel, `/panel/api/inbounds/update/${id}`, { body: { remark: 'other' } }, expected);
  t.deepEqual(engine.inbounds, ['first']);
});

test.serial('an inbound that is not there is not found', async (t) => {
  const missing = { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'id', says: '4711' };
  await refused(t, panel, '/panel/api/inbounds/get/4711', {}, missing);
  await refused(t, panel, '/panel/api/inbounds/update/4711', { body: { remark: 'x' } }, missing);
  await refused(t, panel, '/panel/api/inbounds/del/4711', { method: 'POST' }, missing);
  await refused(t, panel, '/panel/api/inbounds/setEnable/4711', { body: { enable: true } }, missing);
  for (const bad of ['0', '-1', 'x', '1.5', 'NaN', String(UNSAFE), '%20'])
    await refused(
      t,
      panel,
      `/panel/api/inbounds/get/${bad}`,
      {},
      { status: 400, code: 'KERNEL_INVALID', field: 'id' },
    );
});

test.serial('setEnable takes a boolean and nothing else', async (t) => {
  for (const body of [{}, { enable: 'true' }, { enable: 1 }, { enable: null }])
    await refused(
      t,
      panel,
      `/panel/api/inbounds/setEnable/${id}`,
      { body },
      { status: 400, code: 'KERNEL_INVALID', field: 'enable' },
    );
});

const JSON_TYPE = { 'content-type': 'application/json' };
test.serial('rejects a body that is not a JSON object, with a reason', async (t) => {
  for (const rawBody of ['[]', '[{"protocol":"vless","port":40000}]', '"text"', '5', 'true']) {
    await refused(
      t,
      panel,
      ADD,
      { rawBody, headers: JSON_TYPE },
      { status: 400, code: 'KERNEL_INVALID', says: 'object' },
    );
    await refused(
      t,
      panel,
      `/panel/api/inbounds/update/${id}`,
      { rawBody, headers: JSON_TYPE },
      { status: 400, code: 'KERNEL_INVALID', says: 'object' },
    );
  }
  for (const rawBody of ['{', '{"port":}', '{"port": NaN}', '{"port": 1}}', 'no json'])
    await refused(
      t,
      panel,
      ADD,
      { rawBody, headers: JSON_TYPE },
      { status: 400, code: 'KERNEL_BAD_BODY', says: 'JSON' },
    );
  await refused(
    t,
    panel,
    ADD,
    { rawBody: 'null', headers: JSON_TYPE },
    { status: 400, code: 'KERNEL_INVALID' },
  );
  await refused(
    t,
    panel,
    ADD,
    { rawBody: '', headers: JSON_TYPE },
    { status: 400, code: 'KERNEL_INVALID', field: 'port' },
  );
  await refused(
    t,
    panel,
    ADD,
    { rawBody: '{"port":1}', headers: { 'content-type': 'text/plain' } },
    { status: 415, code: 'KERNEL_UNSUPPORTED_BODY', says: 'text/plain' },
  );
});

test.serial('a body of more than 10 MiB is too large', async (t) => {
  const rawBody = JSON.stringify({ protocol: 'vless', port: 40_000, remark: 'x'.repeat(11 * 1024 * 1024) });
  await refused(t, panel, ADD, { rawBody, headers: JSON_TYPE }, { status: 413, code: 'KERNEL_TOO_LARGE' });
});

test.serial('settings without end are refused, as objects and as text', async (t) => {
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  await refused(
    t,
    panel,
    ADD,
    { rawBody: `{"protocol":"vless","port":40000,"settings":${deep}}`, headers: JSON_TYPE },
    { status: 400, code: 'KERNEL_BAD_BODY' },
  );
  await refused(
    t,
    panel,
    ADD,
    { body: { protocol: 'vless', port: 40_000, settings: deep } },
    { status: 400, code: 'KERNEL_INVALID', field: 'settings' },
  );
});
