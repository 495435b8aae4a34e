// What hostile and careless callers send: ids that are no numbers, values that would change their meaning, texts without end.
import anyTest, { type TestFn } from 'ava';
import { defineErrors, definePlugin, kernelErrors, message, route } from '../../../kernel/index.js';
import { ADMIN } from '../../../test/harness/panel.js';
import { repaired } from '../repair.js';
import { OLD_UUID as UUID, OldProgram } from './old-panel.js';

const test = anyTest as TestFn<{ old: OldProgram; inbound: number }>;
test.beforeEach(async (t) => {
  const old = await OldProgram.boot();
  t.context = { old, inbound: await old.inbound() };
});
test.afterEach.always(async (t) => t.context.old?.[Symbol.asyncDispose]());

const BASE = '/panel/api/inbounds';
const ADD = `${BASE}/addClient`;
const about = (id: unknown, ...clients: object[]) => ({ id, settings: JSON.stringify({ clients }) });
const emails = async ({ panel }: OldProgram): Promise<string[]> =>
  (await panel.call<{ email: string }[]>('/panel/api/clients/list')).body.obj.map(({ email }) => email);

test('an id of an inbound is a whole number, and nothing else that JavaScript takes for one', async (t) => {
  const { old } = t.context;
  for (const id of [true, [1], ' ', '0x1', '1e0', '1.0', 1.5, null, {}]) {
    const { status, body } = await old.post(ADD, about(id, { email: 'ann' }));
    t.is(status, 200);
    t.like(body, { success: false, code: 'KERNEL_INVALID' }, JSON.stringify(id));
  }
  for (const id of ['%20', '0x1', '1.0'])
    t.false((await old.post(`${BASE}/resetAllClientTraffics/${id}`)).body.success, id);
  t.deepEqual(await emails(old), []);
});

test('only -1 stands for all inbounds', async (t) => {
  const { old, inbound } = t.context;
  await old.post(ADD, about(inbound, { email: 'ann', totalGB: 10 }));
  await old.post(`${BASE}/updateClientTraffic/ann`, { upload: 50, download: 0 });
  for (const id of [-2, 0, 99]) {
    t.true((await old.post(`${BASE}/resetAllClientTraffics/${id}`)).body.success);
    t.true((await old.post(`${BASE}/delDepletedClients/${id}`)).body.success);
    t.like((await old.call(`${BASE}/getClientTraffics/ann`)).body.obj, { up: 50 }, String(id));
  }
});

test('a value that would mean something else is refused', async (t) => {
  const { old, inbound } = t.context;
  const add = (client: object, inboundIds: unknown = [inbound]) =>
    old.post('/panel/api/clients/add', { client: { email: 'ann', ...client }, inboundIds });
  for (const client of [
    { totalGB: 0.5 },
    { totalGB: '0.5' },
    { limitIp: 0.9 },
    { limitIp: false },
    { expiryTime: -0.1 },
    { comment: 2 ** 60 },
  ])
    t.like((await add(client)).body, { success: false, code: 'KERNEL_INVALID' }, JSON.stringify(client));
  for (const ids of [[inbound + 0.9], [`${inbound}.9`], [true]])
    t.like((await add({}, ids)).body, { success: false, code: 'KERNEL_INVALID' }, JSON.stringify(ids));
  const port = { port: 24_450.9, protocol: 'http', settings: '{}' };
  t.like((await old.post(`${BASE}/add`, port)).body, { success: false, code: 'KERNEL_INVALID' });
  t.deepEqual(await emails(old), []);
  t.true(
    (await add({ totalGB: '7.9', limitIp: '2', enable: 'True', comment: 5 }, [String(inbound)])).body.success,
  );
});

test('a name that belongs to every object leads out of no body', (t) => {
  const accessor = Object.getOwnPropertyDescriptor(Object.prototype, '__proto__') as PropertyDescriptor;
  const issues = [{ path: '__proto__.__proto__', message: 'it must be a number' }];
  t.is(repaired({ a: 1 }, kernelErrors.INVALID('refused', { issues })), undefined);
  const isThere = Object.hasOwn(Object.prototype, '__proto__');
  Object.defineProperty(Object.prototype, '__proto__', accessor);
  t.true(isThere);
});

test('JSON text inside of a body has the limits of a body', async (t) => {
  const { old, inbound } = t.context;
  const deep = `{"clients":[{"email":"ann","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}`;
  const wide = `{"clients":[{"email":"ann"}],"x":[${'{},'.repeat(200_000)}{}]}`;
  for (const settings of [deep, wide]) {
    const add = { port: 24_451, protocol: 'vless', settings };
    for (const [path, body] of [
      [ADD, { id: inbound, settings }],
      [`${BASE}/add`, add],
      [`${BASE}/update/${inbound}`, { settings }],
      [`${BASE}/add`, { ...add, settings: '{}', streamSettings: settings }],
    ] as const) {
      const answer = await old.post(path, body);
      t.is(answer.status, 200, `${path} ${answer.text.slice(0, 200)}`);
      t.like(answer.body, { success: false, code: 'KERNEL_INVALID' });
    }
  }
  t.deepEqual(await emails(old), []);
  t.false(old.panel.log.some((line) => line.includes('plugin fault')));
});

test('addClient adds none of several clients if one is unfit or its email is taken', async (t) => {
  const { old, inbound } = t.context;
  t.true((await old.post(ADD, about(inbound, { email: 'ann', id: UUID }))).body.success);
  const others = [
    { email: 'Ann' },
    { email: 'bob' },
    { email: 'cat', totalGB: [] },
    { email: 'cat', id: UUID },
    { email: 'cat', password: 'of-bob' },
    {},
  ];
  for (const other of others) {
    const { body } = await old.post(ADD, about(inbound, { email: 'bob', password: 'of-bob' }, other));
    t.false(body.success, JSON.stringify(other));
    t.deepEqual(await emails(old), ['ann']);
  }
});

test('a repeated call with an Idempotency-Key is done once, whatever it consists of', async (t) => {
  const { old, inbound } = t.context;
  const twice = async (key: string, path: string, body: unknown = {}) => {
    const send = () => old.call(path, { body, headers: { 'idempotency-key': key } });
    const first = await send();
    const second = await send();
    t.true(first.body.success, first.text);
    t.is(second.text, first.text);
    t.is(second.headers.get('idempotency-replayed'), 'true');
  };
  await twice('one', ADD, about(inbound, { email: 'ann', id: UUID }, { email: 'bob' }));
  t.deepEqual(await emails(old), ['ann', 'bob']);
  await twice('two', `${BASE}/${inbound}/delClient/${UUID}`);
  t.deepEqual(await emails(old), ['bob']);
  const other = await old.call(ADD, {
    body: about(inbound, { email: 'cat' }),
    headers: { 'idempotency-key': 'one' },
  });
  t.like(other.body, { success: false, code: 'IDEMPOTENCY_OTHER_REQUEST' });
  await twice('three', `${BASE}/onlines`);
});

test('a UUID is found in any case, and no other UUID that is the same to the core', async (t) => {
  const { old, inbound } = t.context;
  const id = 'ABCDEFAB-2222-4333-8444-555555555555';
  await old.post(ADD, about(inbound, { email: 'ann', id }, { email: 'bob' }));
  t.deepEqual((await old.call<unknown[]>(`${BASE}/getClientTrafficsById/${id}`)).body.obj.length, 1);
  const same = id.replace('-4333-', '-4999-');
  t.deepEqual((await old.call(`${BASE}/getClientTrafficsById/${same}`)).body.obj, []);
  t.false((await old.post(`${BASE}/${inbound}/delClient/${same}`)).body.success);
  t.true((await old.post(`${BASE}/${inbound}/delClient/${id}`)).body.success);
  t.deepEqual(await emails(old), ['bob']);
});

test('a browser with an old cookie has the strict API', async (t) => {
  const { panel } = t.context.old;
  const wrong = { ...ADMIN, password: 'not this one' };
  for (const header of [{ origin: panel.url }, { 'sec-fetch-site': 'same-origin' }]) {
    const headers = { cookie: '3x-ui=of-another-panel', ...header };
    t.is((await panel.call('/login', { body: wrong, anonymous: true, headers })).status, 401);
    const asked = { ...header, cookie: t.context.old.cookie };
    const missing = await panel.call('/panel/api/clients/get/nobody', { anonymous: true, headers: asked });
    t.is(missing.status, 404);
  }
});

test('JSON under a media type that only begins as that of a form is JSON', async (t) => {
  const { old, inbound } = t.context;
  const answer = await old.panel.call(`${BASE}/setEnable/${inbound}`, {
    rawBody: '{"enable":"false"}',
    headers: { 'content-type': 'application/x-www-form-urlencoded+json' },
  });
  t.is(answer.status, 400, answer.text);
});

test('an older program that calls too often is told so by the status', async (t) => {
  const { LATER } = defineErrors('busy', { LATER: [429, 'not so fast'] });
  const busy = definePlugin({
    name: 'busy',
    version: '1.0.0',
    api: 1,
    about: 'Has no time.',
    routes: () => [
      route({
        method: 'GET',
        path: '/panel/api/busy',
        doc: 'Refuses.',
        reply: message(),
        errors: [LATER],
        handle: () => {
          throw LATER(undefined, { headers: { 'Retry-After': '7' } });
        },
      }),
    ],
  });
  await using old = await OldProgram.boot({ plugins: [busy] });
  const { status, headers } = await old.call('/panel/api/busy');
  t.deepEqual([status, headers.get('retry-after')], [429, '7']);
});
