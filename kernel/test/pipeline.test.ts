import test from 'ava';
import { open, seen } from './shop.js';

const world = await open();
test.after.always(() => world[Symbol.asyncDispose]());

test('returns 404 for an unknown path before any other check', async (t) => {
  const answer = await world.call('/no/such', {
    method: 'POST',
    raw: 'no json',
    headers: { 'content-type': 'application/json' },
  });
  t.is(answer.status, 404);
  t.is(answer.body.code, 'KERNEL_NOT_FOUND');
  t.deepEqual([answer.body.success, answer.body.obj], [false, null]);
});

test('checks the login first (401), then the CSRF token (403), then the body (400)', async (t) => {
  const bad = { raw: '{no json', headers: { 'content-type': 'application/json' } };
  t.is((await world.call('/orders', bad)).status, 401);
  const login = await world.login();
  const forged = await world.call('/orders', { ...bad, headers: { ...bad.headers, cookie: login.cookie } });
  t.deepEqual([forged.status, forged.body.code], [403, 'KERNEL_CSRF']);
  t.is(
    (
      await world.call('/orders', {
        ...bad,
        headers: { ...bad.headers, ...login, 'x-csrf-token': 'x'.repeat(43) },
      })
    ).status,
    403,
  );
  t.is((await world.call('/orders', { ...bad, headers: { ...bad.headers, ...login } })).status, 400);
  const done = await world.call('/orders', { body: { count: 2 }, headers: login });
  t.deepEqual([done.status, done.body.obj], [200, { count: 2, by: 'ada' } as never]);
});

test('a wrong Authorization header fails even with a valid cookie', async (t) => {
  const login = await world.login();
  t.is((await world.call('/me', { headers: login })).status, 200);
  t.is((await world.call('/me', { headers: { ...login, authorization: 'Bearer wrong' } })).status, 401);
  t.is(
    (
      await world.call('/orders', {
        body: { count: 1 },
        headers: { ...login, authorization: 'Bearer wrong' },
      })
    ).status,
    401,
  );
});

test('accepts the CSRF token from a form field too', async (t) => {
  const { cookie, 'x-csrf-token': token } = await world.login();
  const form = (fields: string) =>
    world.call('/logout', {
      raw: fields,
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    });
  t.is((await form('_csrf=wrong')).status, 403);
  t.is((await form('other=1')).status, 403);
  t.is((await form(`_csrf=${token}`)).status, 200);
  t.is((await form(`_csrf=${token}`)).status, 401);
});

test('returns 404 with an envelope for an unknown method, OPTIONS included', async (t) => {
  for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS', 'PROPFIND']) {
    const answer = await world.call('/public', { method });
    t.deepEqual(
      [answer.status, answer.body.code, answer.headers['allow']],
      [404, 'KERNEL_NOT_FOUND', undefined],
      method,
    );
  }
});

test('HEAD is GET without the body', async (t) => {
  for (const path of ['/public', '/raw', '/bare']) {
    const head = await world.call(path, { method: 'HEAD' });
    t.deepEqual([head.status, head.text], [200, '']);
    t.is(head.headers['content-type'], (await world.call(path)).headers['content-type']);
  }
});

test('literal segments take precedence over parameters, and parameters are typed', async (t) => {
  t.deepEqual((await world.call('/things/list')).body, { success: true, msg: 'two things', obj: ['a', 'b'] });
  t.deepEqual((await world.call('/things/7?loud=true')).body.obj, { id: 7, loud: true });
  const wrong = await world.call('/things/seven?loud=maybe');
  t.is(wrong.status, 400);
  t.deepEqual(wrong.body.obj, { issues: [{ path: 'id', message: 'id must be a number' }] });
  t.deepEqual((await world.call('/things/7?loud=maybe')).body.obj, {
    issues: [{ path: 'loud', message: 'loud must be a boolean' }],
  });
});

test('distinguishes paths by case and trailing slash', async (t) => {
  t.is((await world.call('/Public')).status, 404);
  t.is((await world.call('/public/')).status, 404);
});

test('decodes percent escapes in a path, and returns 404 for malformed ones', async (t) => {
  t.is((await world.call('/named/a%2Fb%20%C3%A4')).body.obj, 'a/b ä');
  for (const path of ['/named/%', '/named/%zz', '/named/%C3%28']) {
    const answer = await world.call(path);
    t.deepEqual([answer.status, answer.body.code], [404, 'KERNEL_NOT_FOUND'], path);
  }
  t.deepEqual(
    world.faults().filter((line) => line.includes('/named')),
    [],
  );
});

test('names every issue of a body by its path, and drops unknown keys', async (t) => {
  const answer = await world.call('/json', { body: { count: '1', note: 5, nested: [] } });
  t.is(answer.status, 400);
  t.deepEqual((answer.body.obj as { issues: { path: string }[] }).issues.map(({ path }) => path).sort(), [
    'count',
    'nested',
    'note',
  ]);
  t.deepEqual((await world.call('/json', { body: { count: 1, stranger: true } })).body.obj, { count: 1 });
  for (const body of [null, [], 'text', 5])
    t.is((await world.call('/json', { body })).status, 400, JSON.stringify(body));
});

test('returns 415 with the accepted types for a wrong body; without a body the fields are missing', async (t) => {
  const sent = (type: string) => world.call('/json', { raw: 'count=1', headers: { 'content-type': type } });
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
  ])
    t.is((await sent(type)).status, 415, type);
  t.is(
    (
      await world.call('/json', {
        raw: '{"count":1}',
        headers: { 'content-type': 'application/json; charset=nope' },
      })
    ).status,
    415,
  );
  t.is(
    (
      await world.call('/json', {
        raw: '{"count":1}',
        headers: { 'content-type': 'application/json', 'content-encoding': 'nope' },
      })
    ).status,
    415,
  );
  const empty = await world.call('/json', { method: 'POST' });
  t.deepEqual([empty.status, empty.body.msg], [400, 'count is required']);
});

test('accepts a form where it is declared and converts its numbers; JSON stays strict there', async (t) => {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  t.deepEqual((await world.call('/form', { raw: 'count=3&x=y', headers: type })).body.obj, { count: 3 });
  t.is((await world.call('/form', { raw: 'count=three', headers: type })).status, 400);
  t.is((await world.call('/form', { body: { count: '3' } })).status, 400);
  t.is(
    (
      await world.call('/form', {
        raw: Array.from({ length: 2000 }, (_, i) => `k${i}=1`).join('&'),
        headers: type,
      })
    ).status,
    400,
  );
});

test('ignores a body that the route does not declare', async (t) => {
  t.is(
    (await world.call('/nothing', { raw: 'what is this', headers: { 'content-type': 'text/plain' } })).status,
    200,
  );
  t.is((await world.call('/nothing', { body: { any: 1 } })).status, 200);
});

test('treats __proto__ and similar as plain keys: they add no field and change no object', async (t) => {
  const type = { 'content-type': 'application/json' };
  t.is((await world.call('/json', { raw: '{"__proto__":{"count":1}}', headers: type })).status, 400);
  const before = seen.length;
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    for (const body of [
      `{"count":1,"${key}":{"polluted":true}}`,
      `{"count":1,"nested":{"${key}":{"polluted":true}}}`,
      `{"count":1,"inner":"{\\"${key}\\":{\\"polluted\\":true}}"}`,
    ]) {
      const answer = await world.call('/json', { raw: body, headers: type });
      t.is(answer.status, 200, body);
    }
  }
  t.is(({} as { polluted?: boolean }).polluted, undefined);
  for (const body of seen.slice(before) as {
    polluted?: boolean;
    nested?: { polluted?: boolean };
    inner?: { polluted?: boolean };
  }[]) {
    t.deepEqual(
      [body.polluted, body.nested?.polluted, body.inner?.polluted],
      [undefined, undefined, undefined],
    );
  }
  t.deepEqual(
    (
      await world.call('/form', {
        raw: '__proto__=1&count=2&constructor=3',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    ).body.obj,
    { count: 2 },
  );
  t.is((await world.call('/things/1?__proto__=1&constructor=2')).status, 200);
});

test('reads cookies as text, whatever they contain', async (t) => {
  const sent = (cookie: string) => world.call('/cookies', { headers: { cookie } });
  t.deepEqual((await sent('a=1; b=%7B; __proto__=x; c=j:{"x":1}; d=%zz')).body.obj, {
    a: '1',
    b: '{',
    d: '%zz',
  });
  for (const cookie of [
    'weir_session=j:{"a":1}',
    'weir_session=j:[1]',
    'weir_session=j:null',
    'weir_session=',
    'weir_session=%00',
  ]) {
    t.is((await world.call('/me', { headers: { cookie } })).status, 401, cookie);
    t.is((await world.call('/logout', { method: 'POST', headers: { cookie } })).status, 401, cookie);
  }
  t.deepEqual(
    world.faults().filter((line) => line.includes('/me') || line.includes('/logout')),
    [],
  );
});

test("a handler's cookies have the base path, SameSite, and HttpOnly unless it says otherwise", async (t) => {
  const { headers } = await world.call('/cookies');
  const [kept, open_, gone] = headers['set-cookie'] as string[];
  t.regex(kept ?? '', /^seen=1; Max-Age=5; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
  t.is(open_, 'open=2; Path=/; SameSite=Lax');
  t.regex(gone ?? '', /^old=; Path=\/; Expires=Thu, 01 Jan 1970/);
});

test('sends the status and headers of a handler', async (t) => {
  const moved = await world.call('/moved');
  t.deepEqual([moved.status, moved.headers['location'], moved.text], [302, '/public', '']);
  t.is((await world.call('/raw')).text, 'plain text');
  t.deepEqual((await world.call('/bare')).body as unknown, { n: 1 });
});

test("sends JSON with no-store and helmet's headers, without the name Express", async (t) => {
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

test('errors of a catalogue send their status, code, issues and headers', async (t) => {
  const sold = await world.call('/sold-out');
  t.is(sold.status, 409);
  const { requestId, ...rest } = sold.body;
  t.deepEqual(rest, {
    success: false,
    msg: 'no apples',
    obj: { issues: [{ path: 'apples', message: 'no apples' }] },
    code: 'SHOP_SOLD_OUT',
  });
  t.regex(requestId ?? '', /^[0-9a-f-]{36}$/);
  const later = await world.call('/later');
  t.deepEqual([later.status, later.headers['retry-after'], later.body.msg], [429, '7', 'not so fast']);
});

test('a bug returns 500 without its text; the log has it with the request id; the plugin gets the fault', async (t) => {
  const answer = await world.call('/bug');
  t.deepEqual([answer.status, answer.body.code], [500, 'KERNEL_INTERNAL']);
  t.false(answer.text.includes('secret of the house'));
  const line = world.log.find(({ requestId }) => requestId === answer.body.requestId);
  t.is((line?.['error'] as Error | undefined)?.message, 'secret of the house');
  t.is(line?.['path'], '/bug');
  t.true(world.faults().includes('GET /bug: secret of the house'));
});

test('in tests, rejects a reply that does not fit its declaration', async (t) => {
  t.is((await world.call('/wrong-reply')).status, 500);
  t.true(
    world
      .faults()
      .some((line) => /the reply of GET \/wrong-reply does not fit its declaration: .*extra/.test(line)),
    world.faults().join('\n'),
  );
});

test('serves everything below the base path and nothing outside of it', async (t) => {
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
