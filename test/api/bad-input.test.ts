// Bad input of every kind: a status, a code, a message that names the field, and nothing changed.
import { createServer } from 'node:net';
import anyTest, { type TestFn } from 'ava';
import { FakeEngine } from '../harness/fake-engine.js';
import { type CallOptions, TestPanel } from '../harness/panel.js';

const test = anyTest as TestFn<{ panel: TestPanel; inboundId: number; port: number }>;
const INBOUNDS = '/panel/api/inbounds';
const CLIENTS = '/panel/api/clients';

test.beforeEach(async (t) => {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const inboundId = await panel.addInbound();
  const { port } = await panel.get<{ port: number }>(`${INBOUNDS}/get/${inboundId}`);
  await panel.addClient('ann@example.com', [inboundId], {
    subId: 'ann-sub',
    uuid: '11111111-2222-4333-8444-555555555555',
    password: 'ann-password',
  });
  t.context = { panel, inboundId, port };
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());

/** Everything that a call could have changed. */
const stateOf = async (panel: TestPanel) => ({
  inbounds: await panel.get(`${INBOUNDS}/list`),
  clients: await panel.get(`${CLIENTS}/list/paged`),
  settings: await panel.get('/panel/api/setting/all', { body: {} }),
  tokens: await panel.get('/panel/api/setting/apiTokens'),
});

interface Case {
  readonly what: string;
  readonly path: string;
  readonly body?: unknown;
  readonly options?: CallOptions;
  readonly status: number;
  readonly code: string;
  /** the field at fault */
  readonly names?: string;
}

const client = (fields: object) => ({ client: { email: 'new@example.com', ...fields }, inboundIds: [1] });
const cases: readonly Case[] = [
  {
    what: 'an email that is a number',
    path: `${CLIENTS}/add`,
    body: client({ email: 5 }),
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.email',
  },
  {
    what: 'no email',
    path: `${CLIENTS}/add`,
    body: { client: {}, inboundIds: [1] },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.email',
  },
  {
    what: 'an email with a slash',
    path: `${CLIENTS}/add`,
    body: client({ email: 'a/b' }),
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.email',
  },
  {
    what: 'an email that is a word of the API',
    path: `${CLIENTS}/add`,
    body: client({ email: 'list' }),
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.email',
  },
  {
    what: 'a quota that is no number',
    path: `${CLIENTS}/add`,
    body: client({ totalGB: '5 GB' }),
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.totalGB',
  },
  {
    what: 'a negative quota',
    path: `${CLIENTS}/add`,
    body: client({ totalGB: -1 }),
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.totalGB',
  },
  {
    what: 'a quota beyond safe integers',
    path: `${CLIENTS}/add`,
    body: client({ totalGB: 2 ** 53 }),
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.totalGB',
  },
  {
    what: 'an id that is no UUID',
    path: `${CLIENTS}/add`,
    body: client({ id: 'nope' }),
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.id',
  },
  {
    what: 'enable as text',
    path: `${CLIENTS}/add`,
    body: client({ enable: 'yes' }),
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'client.enable',
  },
  {
    what: 'no inbounds',
    path: `${CLIENTS}/add`,
    body: { client: { email: 'x' }, inboundIds: [] },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'inboundIds',
  },
  {
    what: 'an unknown inbound',
    path: `${CLIENTS}/add`,
    body: { client: { email: 'x' }, inboundIds: [1, 99] },
    status: 404,
    code: 'INBOUNDS_NOT_FOUND',
    names: 'inboundIds',
  },
  {
    what: 'a duplicate email in other letters',
    path: `${CLIENTS}/add`,
    body: client({ email: 'ANN@example.com' }),
    status: 409,
    code: 'CLIENTS_EMAIL_TAKEN',
    names: 'client.email',
  },
  {
    what: 'a duplicate subId',
    path: `${CLIENTS}/add`,
    body: client({ subId: 'ann-sub' }),
    status: 409,
    code: 'CLIENTS_SUB_ID_TAKEN',
    names: 'client.subId',
  },
  {
    what: 'a UUID that differs only where VLESS does not look',
    path: `${CLIENTS}/add`,
    body: client({ uuid: '11111111-2222-4999-8444-555555555555' }),
    status: 409,
    code: 'CLIENTS_UUID_TAKEN',
    names: 'client.uuid',
  },
  {
    what: 'a duplicate password',
    path: `${CLIENTS}/add`,
    body: client({ password: 'ann-password' }),
    status: 409,
    code: 'CLIENTS_PASSWORD_TAKEN',
    names: 'client.password',
  },
  {
    what: 'an update of an unknown client',
    path: `${CLIENTS}/update/nobody`,
    body: { comment: 'x' },
    status: 404,
    code: 'CLIENTS_NOT_FOUND',
    names: 'email',
  },
  {
    what: 'an update with a wrong type',
    path: `${CLIENTS}/update/ann@example.com`,
    body: { expiryTime: 'soon' },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'expiryTime',
  },
  {
    what: 'a deletion of an unknown client',
    path: `${CLIENTS}/del/nobody`,
    body: {},
    status: 404,
    code: 'CLIENTS_NOT_FOUND',
    names: 'email',
  },
  {
    what: 'an inbound without port',
    path: `${INBOUNDS}/add`,
    body: { protocol: 'vless' },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'port',
  },
  {
    what: 'a port out of range',
    path: `${INBOUNDS}/add`,
    body: { protocol: 'vless', port: 70_000 },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'port',
  },
  {
    what: 'an unknown protocol',
    path: `${INBOUNDS}/add`,
    body: { protocol: 'telnet', port: 2 },
    status: 422,
    code: 'INBOUNDS_UNKNOWN_PROTOCOL',
    names: 'protocol',
  },
  {
    what: 'stream settings that are no JSON',
    path: `${INBOUNDS}/add`,
    body: { protocol: 'vless', port: 2, streamSettings: '{' },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'streamSettings',
  },
  {
    what: 'an unknown transport',
    path: `${INBOUNDS}/add`,
    body: { protocol: 'vless', port: 2, streamSettings: { network: 'pigeon' } },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'streamSettings.network',
  },
  {
    what: 'decryption that VLESS does not know',
    path: `${INBOUNDS}/add`,
    body: { protocol: 'vless', port: 2, settings: { decryption: 'rot13' } },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'settings.decryption',
  },
  {
    what: 'a client without an email inside an inbound',
    path: `${INBOUNDS}/add`,
    body: { protocol: 'vless', port: 2, settings: { clients: [{ comment: 'x' }] } },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'settings.clients.0.email',
  },
  {
    what: 'an id that is no number',
    path: `${INBOUNDS}/get/x`,
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'id',
  },
  {
    what: 'an unknown inbound id',
    path: `${INBOUNDS}/update/99`,
    body: { remark: 'x' },
    status: 404,
    code: 'INBOUNDS_NOT_FOUND',
    names: 'id',
  },
  {
    what: 'setEnable without a boolean',
    path: `${INBOUNDS}/setEnable/1`,
    body: { enable: 1 },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'enable',
  },
  {
    what: 'a setting of the wrong type',
    path: '/panel/api/setting/update',
    body: { subUpdates: 'often', subTitle: 'fine' },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'subUpdates',
  },
  {
    what: 'a path that is no path',
    path: '/panel/api/setting/update',
    body: { subPath: 'no slash' },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'subPath',
  },
  {
    what: 'a pinned setting',
    path: '/panel/api/setting/update',
    body: { webBasePath: '/elsewhere/' },
    status: 409,
    code: 'SETTINGS_PINNED',
    names: 'webBasePath',
  },
  {
    what: 'a token without name',
    path: '/panel/api/setting/apiTokens/create',
    body: { name: ' ' },
    status: 400,
    code: 'KERNEL_INVALID',
    names: 'name',
  },
  {
    what: 'an unknown token',
    path: '/panel/api/setting/apiTokens/delete/99',
    body: {},
    status: 404,
    code: 'ACCESS_TOKEN_NOT_FOUND',
    names: 'id',
  },
  {
    what: 'broken JSON',
    path: `${CLIENTS}/add`,
    options: { rawBody: '{"client":', headers: { 'content-type': 'application/json' } },
    status: 400,
    code: 'KERNEL_BAD_BODY',
  },
  {
    what: 'a list where an object belongs',
    path: `${CLIENTS}/add`,
    body: [],
    status: 400,
    code: 'KERNEL_INVALID',
  },
  {
    what: 'null',
    path: `${CLIENTS}/add`,
    options: { rawBody: 'null', headers: { 'content-type': 'application/json' } },
    status: 400,
    code: 'KERNEL_INVALID',
  },
  {
    what: 'a body of another kind',
    path: `${CLIENTS}/add`,
    options: { rawBody: '<xml/>', headers: { 'content-type': 'text/xml' } },
    status: 415,
    code: 'KERNEL_UNSUPPORTED_BODY',
  },
  {
    what: 'a body over the limit',
    path: `${CLIENTS}/add`,
    options: {
      rawBody: `{"x":"${'x'.repeat(11 * 2 ** 20)}"}`,
      headers: { 'content-type': 'application/json' },
    },
    status: 413,
    code: 'KERNEL_TOO_LARGE',
  },
  {
    what: 'no CSRF token',
    path: `${CLIENTS}/add`,
    body: client({}),
    options: { headers: { 'x-csrf-token': '' } },
    status: 403,
    code: 'KERNEL_CSRF',
  },
  {
    what: 'a wrong CSRF token',
    path: `${CLIENTS}/add`,
    body: client({}),
    options: { headers: { 'x-csrf-token': 'x'.repeat(43) } },
    status: 403,
    code: 'KERNEL_CSRF',
  },
  {
    what: 'nobody',
    path: `${CLIENTS}/add`,
    body: client({}),
    options: { anonymous: true },
    status: 401,
    code: 'KERNEL_UNAUTHORIZED',
  },
  {
    what: 'an unknown API token',
    path: `${CLIENTS}/list/paged`,
    options: { anonymous: true, headers: { authorization: 'Bearer nobody-knows-me' } },
    status: 401,
    code: 'ACCESS_WRONG_TOKEN',
  },
  { what: 'an unknown path', path: '/panel/api/nothing', status: 404, code: 'KERNEL_NOT_FOUND' },
];

test('each bad call has its status, its code and the name of the field, and changes nothing', async (t) => {
  const { panel } = t.context;
  const before = await stateOf(panel);
  for (const { what, path, body, options, status, code, names } of cases) {
    const answer = await panel.call<{ issues?: { path: string; message: string }[] } | null>(path, {
      ...options,
      ...(body !== undefined && { body }),
    });
    t.is(answer.status, status, what);
    t.is(answer.body.code, code, what);
    t.false(answer.body.success, what);
    t.not(answer.body.msg, '', what);
    if (names !== undefined)
      t.true(
        answer.body.obj?.issues?.some((issue) => issue.path === names && issue.message.length > 0),
        `${what}: ${answer.text}`,
      );
  }
  t.deepEqual(await stateOf(panel), before);
});

test('a port is refused that another inbound has on an overlapping address, or another program', async (t) => {
  const { panel, port } = t.context;
  const overlapping = await panel.call(`${INBOUNDS}/add`, { body: { protocol: 'vless', port, listen: '' } });
  t.is(overlapping.status, 409);
  t.is(overlapping.body.code, 'INBOUNDS_PORT_TAKEN');
  t.regex(overlapping.body.msg, /inbound #1/);
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const { port: held } = holder.address() as { port: number };
  const inUse = await panel.call(`${INBOUNDS}/add`, {
    body: { protocol: 'vless', port: held, listen: '127.0.0.1' },
  });
  holder.close();
  t.is(inUse.status, 409);
  t.is(inUse.body.code, 'INBOUNDS_PORT_IN_USE');
  t.is((await panel.get<unknown[]>(`${INBOUNDS}/list`)).length, 1);
});

test('wrong credentials are 401 for known and unknown names alike, and five of them block', async (t) => {
  const { panel } = t.context;
  const login = (username: string, password: string) =>
    panel.call('/login', { anonymous: true, body: { username, password } });
  const unknown = await login('nobody', 'wrong');
  t.is(unknown.status, 401);
  for (let i = 0; i < 5; i++)
    t.deepEqual([(await login('admin', 'wrong')).status, unknown.body.msg], [401, unknown.body.msg]);
  const blocked = await login('admin', 'correct horse battery');
  t.is(blocked.status, 429);
  t.true(Number(blocked.headers.get('retry-after')) > 0);
  t.is(blocked.headers.getSetCookie().length, 0);
});

test('of concurrent calls for one email, port or token name, one succeeds', async (t) => {
  const { panel, inboundId } = t.context;
  const { freePort } = await import('../harness/panel.js');
  const port = await freePort();
  const race = async (path: string, body: object) =>
    (await Promise.all(Array.from({ length: 6 }, () => panel.call(path, { body }))))
      .map(({ status }) => status)
      .sort();
  t.deepEqual(
    await race(`${CLIENTS}/add`, { client: { email: 'race' }, inboundIds: [inboundId] }),
    [200, 409, 409, 409, 409, 409],
  );
  t.deepEqual(
    await race('/panel/api/setting/apiTokens/create', { name: 'race' }),
    [200, 409, 409, 409, 409, 409],
  );
  t.deepEqual(
    await race(`${INBOUNDS}/add`, { protocol: 'vless', port, listen: '127.0.0.1' }),
    [200, 409, 409, 409, 409, 409],
  );
});

test('bulkCreate creates what is good and says of the rest why not', async (t) => {
  const { panel, inboundId } = t.context;
  const body = [
    client({ email: 'one' }),
    client({ email: 'ann@example.com' }),
    client({ email: 'one' }),
    { client: { email: 7 }, inboundIds: [inboundId] },
    'nonsense',
    { client: { email: 'two' }, inboundIds: [99] },
  ];
  const { created, skipped } = await panel.get<{
    created: number;
    skipped: { email: string; reason: string; code: string }[];
  }>(`${CLIENTS}/bulkCreate`, {
    body,
  });
  t.is(created, 1);
  t.deepEqual(skipped.map(({ email, code }) => `${email} ${code}`).sort(), [
    ' KERNEL_INVALID',
    ' KERNEL_INVALID',
    'ann@example.com CLIENTS_EMAIL_TAKEN',
    'one CLIENTS_EMAIL_TAKEN',
    'two INBOUNDS_NOT_FOUND',
  ]);
  t.is((await panel.get<{ total: number }>(`${CLIENTS}/list/paged`)).total, 2);
});
