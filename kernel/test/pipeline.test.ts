import { connect } from 'node:net';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { anything, bare as bareReply, bool, defineErrors, definePlugin, int, jsonObject, list, Listeners, message, openObject, optional, payload, type Plugin, raw, route, type Route, said, shape, text, word } from '../index.js';
import { Pipeline } from '../http/pipeline.js';
import { Listener } from '../http/server.js';
import { Proxies } from '../http/address.js';
import { HookRegistry } from '../hooks/registry.js';
import { createLog } from '../log/log.js';
import { bare, call, latch, people, until, World } from './world.js';

const errors = defineErrors('shop', { SOLD_OUT: [409, 'nothing is left'], LATER: [429, 'not so fast'] });
const seen: unknown[] = [];
const keep = <T>(value: T): T => (seen.push(value), value);

const routes = (): Route[] => [
  route({ method: 'GET', path: '/public', auth: 'anyone', doc: 'Public.', reply: message(), handle: () => 'hello' }),
  route({ method: 'GET', path: '/things/{id}', auth: 'anyone', doc: 'One thing.', params: shape({ id: int() }), query: shape({ loud: optional(bool()) }), reply: payload(anything()), handle: ({ params, query }) => ({ ...params, ...query }) }),
  route({ method: 'GET', path: '/things/list', auth: 'anyone', doc: 'All things.', reply: payload(list(text())), handle: () => said('two things', ['a', 'b']) }),
  route({ method: 'GET', path: '/named/{name}', auth: 'anyone', doc: 'By name.', params: shape({ name: word() }), reply: payload(text()), handle: ({ params }) => params.name }),
  route({ method: 'POST', path: '/orders', doc: 'For admins.', body: shape({ count: int().min(1), note: optional(text()) }), reply: payload(anything()), handle: ({ body, who }) => ({ ...body, by: who?.name }) }),
  route({ method: 'POST', path: '/json', auth: 'anyone', doc: 'JSON.', body: shape({ count: int(), note: optional(text()), nested: optional(openObject()), inner: optional(jsonObject()) }), reply: payload(anything()), handle: ({ body }) => keep(body) }),
  route({ method: 'POST', path: '/form', auth: 'anyone', form: true, doc: 'JSON or form.', body: shape({ count: int() }), reply: payload(anything()), handle: ({ body }) => body }),
  route({ method: 'POST', path: '/nothing', auth: 'anyone', doc: 'Takes nothing.', reply: message(), handle: () => undefined }),
  route({ method: 'GET', path: '/bare', auth: 'anyone', doc: 'No envelope.', reply: bareReply(shape({ n: int() })), handle: () => ({ n: 1 }) }),
  route({ method: 'GET', path: '/raw', auth: 'anyone', doc: 'Text.', reply: raw(), handle: ({ reply }) => (reply.header('Content-Type', 'text/plain'), 'plain text') }),
  route({ method: 'GET', path: '/wrong-reply', auth: 'anyone', doc: 'Lies.', reply: payload(shape({ n: int() })), handle: () => ({ n: 1, extra: 2 }) as { n: number } }),
  route({ method: 'GET', path: '/bug', auth: 'anyone', doc: 'Fails.', reply: message(), handle: () => { throw new Error('secret of the house'); } }),
  route({ method: 'GET', path: '/sold-out', auth: 'anyone', doc: 'Fails for a reason.', reply: message(), errors: [errors.SOLD_OUT], handle: () => { throw errors.SOLD_OUT('no apples', { path: 'apples' }); } }),
  route({ method: 'GET', path: '/later', auth: 'anyone', doc: 'Fails with a header.', reply: message(), errors: [errors.LATER], handle: () => { throw errors.LATER(undefined, { headers: { 'Retry-After': '7' } }); } }),
  route({ method: 'GET', path: '/cookies', auth: 'anyone', doc: 'Cookies both ways.', reply: payload(anything()), handle: ({ cookies, reply }) => { reply.cookie('seen', '1', { maxAge: 5000 }); reply.cookie('open', '2', { httpOnly: false }); reply.clearCookie('old'); return cookies; } }),
  route({ method: 'GET', path: '/moved', auth: 'anyone', doc: 'Elsewhere.', reply: raw(), handle: ({ reply }) => (reply.status(302), reply.header('Location', '/public'), '') }),
  route({ method: 'GET', path: '/asked', auth: 'anyone', doc: 'What was asked.', reply: payload(anything()), handle: ({ url, method, host, ip, secure }) => ({ url, method, host, ip, secure }) }),
];
const shop: Plugin = bare('shop', { routes, essential: true });
const open = (env: Record<string, string> = {}) => World.boot([shop, people], { env });
const world = await open();
test.after.always(() => world[Symbol.asyncDispose]());

test('an unknown path is 404 before anything else is looked at', async (t) => {
  const answer = await world.call('/no/such', { method: 'POST', raw: 'no json', headers: { 'content-type': 'application/json' } });
  t.is(answer.status, 404);
  t.is(answer.body.code, 'KERNEL_NOT_FOUND');
  t.deepEqual([answer.body.success, answer.body.obj], [false, null]);
});

test('a known path asks who comes first (401), then for the token (403), then reads the body (400)', async (t) => {
  const bad = { raw: '{no json', headers: { 'content-type': 'application/json' } };
  t.is((await world.call('/orders', bad)).status, 401);
  const login = await world.login();
  const forged = await world.call('/orders', { ...bad, headers: { ...bad.headers, cookie: login.cookie } });
  t.deepEqual([forged.status, forged.body.code], [403, 'KERNEL_CSRF']);
  t.is((await world.call('/orders', { ...bad, headers: { ...bad.headers, ...login, 'x-csrf-token': 'x'.repeat(43) } })).status, 403);
  t.is((await world.call('/orders', { ...bad, headers: { ...bad.headers, ...login } })).status, 400);
  const done = await world.call('/orders', { body: { count: 2 }, headers: login });
  t.deepEqual([done.status, done.body.obj], [200, { count: 2, by: 'ada' } as never]);
});

test('an Authorization header is never made good by a cookie', async (t) => {
  const login = await world.login();
  t.is((await world.call('/me', { headers: login })).status, 200);
  t.is((await world.call('/me', { headers: { ...login, authorization: 'Bearer wrong' } })).status, 401);
  t.is((await world.call('/orders', { body: { count: 1 }, headers: { ...login, authorization: 'Bearer wrong' } })).status, 401);
});

test('unsafe calls take the token from a form field too', async (t) => {
  const { cookie, 'x-csrf-token': token } = await world.login();
  const form = (fields: string) => world.call('/logout', { raw: fields, headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' } });
  t.is((await form('_csrf=wrong')).status, 403);
  t.is((await form('other=1')).status, 403);
  t.is((await form(`_csrf=${token}`)).status, 200);
  t.is((await form(`_csrf=${token}`)).status, 401);
});

test('an unknown method on a known path is 404 with an envelope, OPTIONS included', async (t) => {
  for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS', 'PROPFIND']) {
    const answer = await world.call('/public', { method });
    t.deepEqual([answer.status, answer.body.code, answer.headers['allow']], [404, 'KERNEL_NOT_FOUND', undefined], method);
  }
});

test('HEAD is GET without the body', async (t) => {
  for (const path of ['/public', '/raw', '/bare']) {
    const head = await world.call(path, { method: 'HEAD' });
    t.deepEqual([head.status, head.text], [200, '']);
    t.is(head.headers['content-type'], (await world.call(path)).headers['content-type']);
  }
});

test('literal segments win over parameters, and parameters are typed', async (t) => {
  t.deepEqual((await world.call('/things/list')).body, { success: true, msg: 'two things', obj: ['a', 'b'] });
  t.deepEqual((await world.call('/things/7?loud=true')).body.obj, { id: 7, loud: true });
  const wrong = await world.call('/things/seven?loud=maybe');
  t.is(wrong.status, 400);
  t.deepEqual(wrong.body.obj, { issues: [{ path: 'id', message: 'id must be a number' }] });
  t.deepEqual((await world.call('/things/7?loud=maybe')).body.obj, { issues: [{ path: 'loud', message: 'loud must be a boolean' }] });
});

test('paths are told apart by case and by a slash at their end', async (t) => {
  t.is((await world.call('/Public')).status, 404);
  t.is((await world.call('/public/')).status, 404);
});

test('percent escapes in a path are decoded, malformed ones are 400', async (t) => {
  t.is((await world.call('/named/a%2Fb%20%C3%A4')).body.obj, 'a/b ä');
  for (const path of ['/named/%', '/named/%zz', '/named/%C3%28']) {
    const answer = await world.call(path);
    t.deepEqual([answer.status, answer.body.code], [400, 'KERNEL_INVALID'], path);
  }
  t.deepEqual(world.faults().filter((line) => line.includes('/named')), []);
});

test('every issue of a body is named by its path; unknown keys are dropped', async (t) => {
  const answer = await world.call('/json', { body: { count: '1', note: 5, nested: [] } });
  t.is(answer.status, 400);
  t.deepEqual((answer.body.obj as { issues: { path: string }[] }).issues.map(({ path }) => path).sort(), ['count', 'nested', 'note']);
  t.deepEqual((await world.call('/json', { body: { count: 1, stranger: true } })).body.obj, { count: 1 });
  for (const body of [null, [], 'text', 5]) t.is((await world.call('/json', { body })).status, 400, JSON.stringify(body));
});

test('a body of the wrong kind is 415 and says what is taken; without any the fields are missing', async (t) => {
  const sent = (type: string) => world.call('/json', { raw: 'count=1', headers: { 'content-type': type } });
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'nonsense']) t.is((await sent(type)).status, 415, type);
  t.is((await world.call('/json', { raw: '{"count":1}', headers: { 'content-type': 'application/json; charset=nope' } })).status, 415);
  t.is((await world.call('/json', { raw: '{"count":1}', headers: { 'content-type': 'application/json', 'content-encoding': 'nope' } })).status, 415);
  const empty = await world.call('/json', { method: 'POST' });
  t.deepEqual([empty.status, empty.body.msg], [400, 'count is required']);
});

test('a form is taken where it is declared, and its text becomes numbers; JSON there stays strict', async (t) => {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  t.deepEqual((await world.call('/form', { raw: 'count=3&x=y', headers: type })).body.obj, { count: 3 });
  t.is((await world.call('/form', { raw: 'count=three', headers: type })).status, 400);
  t.is((await world.call('/form', { body: { count: '3' } })).status, 400);
  t.is((await world.call('/form', { raw: Array.from({ length: 2000 }, (_, i) => `k${i}=1`).join('&'), headers: type })).status, 400);
});

test('a route that takes no body does not care for one', async (t) => {
  t.is((await world.call('/nothing', { raw: 'what is this', headers: { 'content-type': 'text/plain' } })).status, 200);
  t.is((await world.call('/nothing', { body: { any: 1 } })).status, 200);
});

test('a body larger than 10 MiB is 413, compressed or not, and the panel goes on', async (t) => {
  const large = JSON.stringify({ count: 1, note: 'x'.repeat(10 * 1024 * 1024) });
  const type = { 'content-type': 'application/json' };
  const answer = await world.call('/json', { raw: large, headers: type });
  t.deepEqual([answer.status, answer.body.code], [413, 'KERNEL_TOO_LARGE']);
  t.is((await world.call('/json', { raw: gzipSync(large), headers: { ...type, 'content-encoding': 'gzip' } })).status, 413);
  t.is((await world.call('/json', { raw: gzipSync('{"count":1}'), headers: { ...type, 'content-encoding': 'gzip' } })).status, 200);
});

test('a body that is not what its headers say is the caller\'s fault: 400, and no fault of the plugin', async (t) => {
  const type = { 'content-type': 'application/json' };
  for (const headers of [{ ...type, 'content-encoding': 'gzip' }, { ...type, 'content-encoding': 'deflate' }, { ...type, 'content-encoding': 'br' }]) {
    const answer = await world.call('/json', { raw: 'not compressed', headers });
    t.deepEqual([answer.status, answer.body.code], [400, 'KERNEL_BAD_BODY'], headers['content-encoding']);
  }
  const broken = await world.call('/json', { raw: '{"count":', headers: type });
  t.deepEqual([broken.status, broken.body.code], [400, 'KERNEL_BAD_BODY']);
  t.deepEqual(world.faults().filter((line) => line.includes('/json')), []);
});

test('nesting without end is refused wherever it hides, and the panel lives', async (t) => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const type = { 'content-type': 'application/json' };
  for (const body of ['['.repeat(200_000), deep(200_000), `{"count":1,"nested":{"a":${deep(200_000)}}}`, `{"count":1,"stranger":${deep(200_000)}}`, `{"count":1,"inner":${JSON.stringify(`{"a":${deep(200_000)}}`)}}`, `{"count":1,"nested":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}`]) {
    t.is((await world.call('/json', { raw: body, headers: type })).status, 400, body.slice(0, 40));
  }
  t.is((await world.call('/json', { raw: `{"count":1,"nested":{"a":${deep(50)}}}`, headers: type })).status, 200);
  t.deepEqual(world.faults().filter((line) => line.includes('/json')), []);
});

test('__proto__ and its kin are keys like others: they lend no field and change no object', async (t) => {
  const type = { 'content-type': 'application/json' };
  t.is((await world.call('/json', { raw: '{"__proto__":{"count":1}}', headers: type })).status, 400);
  const before = seen.length;
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    for (const body of [`{"count":1,"${key}":{"polluted":true}}`, `{"count":1,"nested":{"${key}":{"polluted":true}}}`, `{"count":1,"inner":"{\\"${key}\\":{\\"polluted\\":true}}"}`]) {
      const answer = await world.call('/json', { raw: body, headers: type });
      t.is(answer.status, 200, body);
    }
  }
  t.is(({} as { polluted?: boolean }).polluted, undefined);
  for (const body of seen.slice(before) as { polluted?: boolean; nested?: { polluted?: boolean }; inner?: { polluted?: boolean } }[]) {
    t.deepEqual([body.polluted, body.nested?.polluted, body.inner?.polluted], [undefined, undefined, undefined]);
  }
  t.deepEqual((await world.call('/form', { raw: '__proto__=1&count=2&constructor=3', headers: { 'content-type': 'application/x-www-form-urlencoded' } })).body.obj, { count: 2 });
  t.is((await world.call('/things/1?__proto__=1&constructor=2')).status, 200);
});

test('cookies are text, whatever the caller writes into them', async (t) => {
  const sent = (cookie: string) => world.call('/cookies', { headers: { cookie } });
  t.deepEqual((await sent('a=1; b=%7B; __proto__=x; c=j:{"x":1}; d=%zz')).body.obj, { a: '1', b: '{', d: '%zz' });
  for (const cookie of ['weir_session=j:{"a":1}', 'weir_session=j:[1]', 'weir_session=j:null', 'weir_session=', 'weir_session=%00']) {
    t.is((await world.call('/me', { headers: { cookie } })).status, 401, cookie);
    t.is((await world.call('/logout', { method: 'POST', headers: { cookie } })).status, 401, cookie);
  }
  t.deepEqual(world.faults().filter((line) => line.includes('/me') || line.includes('/logout')), []);
});

test('cookies of a handler are bound to the base path, SameSite, and HttpOnly unless it says otherwise', async (t) => {
  const { headers } = await world.call('/cookies');
  const [kept, open_, gone] = headers['set-cookie'] as string[];
  t.regex(kept ?? '', /^seen=1; Max-Age=5; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
  t.is(open_, 'open=2; Path=/; SameSite=Lax');
  t.regex(gone ?? '', /^old=; Path=\/; Expires=Thu, 01 Jan 1970/);
});

test('status and headers of a handler arrive', async (t) => {
  const moved = await world.call('/moved');
  t.deepEqual([moved.status, moved.headers['location'], moved.text], [302, '/public', '']);
  t.is((await world.call('/raw')).text, 'plain text');
  t.deepEqual((await world.call('/bare')).body as unknown, { n: 1 });
});

test('replies are JSON that nobody stores, with helmet\'s headers and without Express\' name', async (t) => {
  const { headers } = await world.call('/public');
  t.is(headers['content-type'], 'application/json; charset=utf-8');
  t.is(headers['cache-control'], 'no-store');
  t.is(headers['x-content-type-options'], 'nosniff');
  t.is(headers['x-frame-options'], 'SAMEORIGIN');
  t.is(headers['referrer-policy'], 'no-referrer');
  t.regex(String(headers['content-security-policy']), /default-src 'self'/);
  t.is(headers['x-powered-by'], undefined);
  t.is(headers['etag'], undefined);
  t.is((await world.call('/no/such')).headers['x-content-type-options'], 'nosniff');
});

test('errors of a catalogue answer their status, code, issues and headers', async (t) => {
  const sold = await world.call('/sold-out');
  t.is(sold.status, 409);
  const { requestId, ...rest } = sold.body;
  t.deepEqual(rest, { success: false, msg: 'no apples', obj: { issues: [{ path: 'apples', message: 'no apples' }] }, code: 'SHOP_SOLD_OUT' });
  t.regex(requestId ?? '', /^[0-9a-f-]{36}$/);
  const later = await world.call('/later');
  t.deepEqual([later.status, later.headers['retry-after'], later.body.msg], [429, '7', 'not so fast']);
});

test('a bug answers 500 without its text; the log has it under the request id, and the plugin has the fault', async (t) => {
  const answer = await world.call('/bug');
  t.deepEqual([answer.status, answer.body.code], [500, 'KERNEL_INTERNAL']);
  t.false(answer.text.includes('secret of the house'));
  const line = world.log.find(({ requestId }) => requestId === answer.body.requestId);
  t.is((line?.['error'] as Error | undefined)?.message, 'secret of the house');
  t.is(line?.['path'], '/bug');
  t.true(world.faults().includes('GET /bug: secret of the house'));
});

test('a reply that does not fit its declaration is found out in tests', async (t) => {
  t.is((await world.call('/wrong-reply')).status, 500);
  t.true(world.faults().some((line) => /the reply of GET \/wrong-reply does not fit its declaration: .*extra/.test(line)), world.faults().join('\n'));
});

test('everything lies below the base path, and nothing beside it', async (t) => {
  await using below = await open();
  below.kernel.listeners.panel.mountAt('/secret/');
  t.is((await below.call('/secret/public')).body.msg, 'hello');
  t.is(((await below.call('/secret/asked?x=1')).body.obj as { url: string }).url, '/asked?x=1');
  for (const path of ['/public', '/secretpublic', '/secret', '/other/public', '/']) {
    const answer = await below.call(path);
    t.deepEqual([answer.status, answer.body.code], [404, 'KERNEL_NOT_FOUND'], path);
  }
  t.regex(String((await below.call('/secret/cookies')).headers['set-cookie']?.[0]), /Path=\/secret\/;/);
  t.true(below.kernel.listeners.panelUrl.endsWith('/secret/'));
});

/** A pipeline without a kernel, for routes that everybody may call. */
const alone = () => new Pipeline({ hooks: new HookRegistry(), sessions: undefined as never, proxies: new Proxies([]), log: createLog({ level: 'error', readable: false, write: () => undefined }), checkReplies: false, errors: 'envelope', headers: [], basePath: () => '/' });

test('a handler that fails when half of the reply is sent breaks the connection', async (t) => {
  const pipeline = alone();
  const listener = new Listener({ name: 'test', pipeline });
  listener.intercept = (request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('half of it');
    pipeline.fail(new Error('too late'), request as never, response as never, () => undefined);
    return true;
  };
  const port = await listener.listen('127.0.0.1', 0);
  t.teardown(() => listener.close());
  await t.throwsAsync(call(port, '/'), { message: /aborted|hang up|reset/i });
});

test('what answers before the routes may fail: 500, and the process lives', async (t) => {
  const side = definePlugin({
    name: 'side', version: '1.0.0', api: 1, about: 'Opens a listener.', uses: { listeners: Listeners },
    start: ({ listeners }) => void listeners.declare('side', { host: '127.0.0.1', port: 0 }, () => { throw new Error('fast, but wrong'); }),
  });
  await using beside = await World.boot([side]);
  const answer = await call(beside.kernel.listeners.port('side'), '/any');
  t.deepEqual([answer.status, answer.text], [500, '']);
  t.true(beside.log.some(({ msg, error }) => msg === 'request failed' && (error as Error).message === 'fast, but wrong'));
});

test('a listener of a plugin has its own routes and answers failures with nothing but a status', async (t) => {
  const side = definePlugin({
    name: 'side', version: '1.0.0', api: 1, about: 'Opens a listener.', uses: { listeners: Listeners },
    routes: () => [route({ method: 'GET', path: '/side', auth: 'anyone', listener: 'side', doc: 'Beside.', reply: raw(), handle: () => 'beside' })],
    start: ({ listeners }) => void listeners.declare('side', { host: '127.0.0.1', port: 0 }),
  });
  await using beside = await World.boot([side, shop]);
  const port = beside.kernel.listeners.port('side');
  t.is((await call(port, '/side')).text, 'beside');
  const missing = await call(port, '/public');
  t.deepEqual([missing.status, missing.text], [404, '']);
  t.is(missing.headers['content-security-policy'], undefined);
  t.is((await beside.call('/side')).status, 404);
});

test('a request that does nothing for too long is given up with 503, and its handler is told', async (t) => {
  const told = latch();
  const hanging = [
    route({ method: 'GET', path: '/never', auth: 'anyone', doc: 'Hangs.', reply: message(), handle: ({ signal }) => new Promise<string>(() => signal.addEventListener('abort', told.open)) }),
    route({ method: 'POST', path: '/slow-body', auth: 'anyone', doc: 'Waits for its body.', body: shape({}), reply: message(), handle: () => 'read' }),
  ];
  const listener = new Listener({ name: 'impatient', pipeline: alone(), silenceMs: 100 });
  const owner = { name: 'never', about: '', faulty: false, fault: () => undefined };
  listener.mount(hanging.map((declared) => ({ mounted: { plugin: 'never', route: declared, path: String(declared.path) }, owner })));
  const port = await listener.listen('127.0.0.1', 0);
  t.teardown(() => listener.close());
  const answer = await call(port, '/never');
  t.deepEqual([answer.status, answer.body.code, answer.headers['connection']], [503, 'KERNEL_TIMEOUT', 'close']);
  await told.opened;
  // A caller that announces a body and sends half of it.
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /slow-body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":');
  const [words] = (await once(socket, 'data')) as [Buffer];
  t.regex(words.toString(), /^HTTP\/1\.1 503/);
  await once(socket, 'close');
});

/** Sends bytes as they are; resolves with what came back until the other end closed. */
async function bytes(port: number, sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  socket.on('error', () => undefined);
  socket.end(sent);
  await new Promise((resolve) => socket.once('close', resolve));
  return heard;
}

test('nothing that a caller sends takes the panel down', async (t) => {
  const hostile = [
    'nonsense\r\n\r\n',
    `GET /public HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(100_000)}\r\n\r\n`,
    `GET /${'a'.repeat(10_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    `GET /named/${'%41'.repeat(3000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    'GET http://[::1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET //[::1#/../x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET /public#x HTTP/1.1\r\nHost: [::\r\nConnection: close\r\n\r\n',
    'GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /public HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"half":',
    'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
    'POST /json HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: -5\r\n\r\n',
    'GET /public HTTP/1.1\r\nConnection: close\r\nCookie: \x01=\x02\r\n\r\n',
  ];
  for (const sent of hostile) {
    const heard = await bytes(world.port, sent);
    t.notRegex(heard, /^HTTP\/1\.1 500/, sent.slice(0, 60));
  }
  const long = await world.call(`/${'a'.repeat(10_000)}`);
  t.deepEqual([long.status, long.body.code], [404, 'KERNEL_NOT_FOUND']);
  t.is((await world.call('/public')).body.msg, 'hello');
});

test('a caller that goes away is noticed by the handler', async (t) => {
  const begun = latch();
  const gone = latch();
  const waits = bare('waits', { routes: () => [route({ method: 'GET', path: '/wait', auth: 'anyone', doc: 'Waits.', reply: message(), handle: async ({ signal }) => { begun.open(); signal.addEventListener('abort', gone.open); await gone.opened; return 'nobody hears it'; } })] });
  await using waiting = await World.boot([waits]);
  const socket = connect(waiting.port, '127.0.0.1');
  socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
  await begun.opened;
  socket.destroy();
  await gone.opened;
  t.deepEqual(waiting.faults(), []);
});

test('requests under way at a stop get their answer; new ones do not', async (t) => {
  const begun = latch();
  const finish = latch();
  const waits = bare('waits', { routes: () => [route({ method: 'GET', path: '/wait', auth: 'anyone', doc: 'Waits.', reply: message(), handle: async () => (begun.open(), await finish.opened, 'in time') })] });
  await using waiting = await World.boot([waits]);
  const { port } = waiting;
  const answer = call(port, '/wait');
  await begun.opened;
  const stopped = waiting.kernel.stop('test');
  await until(() => call(port, '/wait').then(() => false, () => true), 'the port is closed');
  finish.open();
  t.is((await answer).body.msg, 'in time');
  await stopped;
});
