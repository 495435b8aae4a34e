// How much of a body is read, and what one may cost.
import { once } from 'node:events';
import { connect } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { message, route } from '../index.js';
import { open } from './shop.js';

const world = await open();
test.after.always(() => world[Symbol.asyncDispose]());

const JSON_TYPE = { 'content-type': 'application/json' };
interface Issues {
  readonly issues: readonly { readonly path: string; readonly message: string }[];
}

/** As an admin, to the route that takes most. */
async function large(raw: string | Buffer, headers: Readonly<Record<string, string>> = {}) {
  const login = await world.login();
  return world.call('/large', { raw, headers: { ...JSON_TYPE, ...login, ...headers } });
}

/** The reply to a head that promises a body, of which no more than `sent` comes. */
async function replyToHead(path: string, headers: readonly string[], sent = ''): Promise<string> {
  const socket = connect(world.port, '127.0.0.1');
  socket.write(`POST ${path} HTTP/1.1\r\nHost: weir\r\n${headers.join('\r\n')}\r\n\r\n${sent}`);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return reply.toString();
}

test("refuses a body above the route's limit with 413, compressed or not, and keeps running", async (t) => {
  const text = JSON.stringify({ count: 1, note: 'x'.repeat(10 * 1024 * 1024) });
  for (const [body, headers] of [
    [text, {}],
    [gzipSync(text), { 'content-encoding': 'gzip' }],
    [gzipSync(`{"note":"${'x'.repeat(100 * 1024 * 1024)}`), { 'content-encoding': 'gzip' }],
  ] as const) {
    const answer = await large(body, headers);
    t.deepEqual([answer.status, answer.body.code], [413, 'KERNEL_TOO_LARGE']);
    t.is(answer.body.msg, 'the body is larger than the 10 MiB that this endpoint takes');
  }
  const small = '{"count":1}';
  t.is((await large(gzipSync(small), { 'content-encoding': 'gzip' })).status, 200);
  t.is((await large(deflateSync(small), { 'content-encoding': 'Deflate' })).status, 200);
  t.is((await large(small, { 'content-encoding': 'gzip, gzip' })).status, 415);
  const login = await world.login();
  const usual = await world.call('/orders', {
    body: { count: 1, note: 'x'.repeat(1024 * 1024) },
    headers: login,
  });
  t.regex(usual.body.msg, /larger than the 1 MiB/);
});

test('limits a route without login to 16 KiB, uncompressed, and replies before the body is sent', async (t) => {
  const whole = (size: number) => `{"count":1,"note":"${'x'.repeat(size - 21)}"}`;
  t.is((await world.call('/json', { raw: whole(16 * 1024), headers: JSON_TYPE })).status, 200);
  const larger = await world.call('/json', { raw: whole(16 * 1024 + 1), headers: JSON_TYPE });
  t.deepEqual(
    [larger.status, larger.body.msg],
    [413, 'the body is larger than the 16 KiB that this endpoint takes'],
  );
  for (const encoding of ['gzip', 'deflate', 'br']) {
    const packed = await world.call('/json', {
      raw: gzipSync('{"count":1}'),
      headers: { ...JSON_TYPE, 'content-encoding': encoding },
    });
    t.deepEqual([packed.status, packed.body.code], [415, 'KERNEL_UNSUPPORTED_BODY']);
  }
  const type = 'Content-Type: application/json';
  t.regex(await replyToHead('/json', [type, 'Content-Length: 20000']), /^HTTP\/1.1 413 /);
  const chunk = `4e20\r\n${' '.repeat(20_000)}\r\n`;
  t.regex(await replyToHead('/json', [type, 'Transfer-Encoding: chunked'], chunk), /^HTTP\/1.1 413 /);
  t.regex(
    await replyToHead('/json', [type, 'Content-Length: 20', 'Content-Encoding: gzip']),
    /^HTTP\/1.1 415 /,
  );
  t.throws(
    () =>
      route({
        method: 'POST',
        path: '/wide',
        auth: 'anyone',
        doc: 'Too wide.',
        bodyLimit: 16 * 1024 + 1,
        reply: message(),
        handle: () => undefined,
      }),
    { message: /POST \/wide: .* at most 16 KiB/ },
  );
});

test('counts compressed bytes that decompress to nothing towards the limit', async (t) => {
  const login = await world.login();
  const socket = connect(world.port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => socket.destroy());
  const reply = once(socket, 'data');
  const head = Object.entries({ ...JSON_TYPE, ...login, 'Content-Encoding': 'gzip' });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST /orders HTTP/1.1\r\nHost: weir\r\nTransfer-Encoding: chunked\r\n${lines}\r\n`);
  const empty = gzipSync('');
  const piece = Buffer.concat(Array<Buffer>(60_000).fill(empty));
  socket.write(`${piece.length.toString(16)}\r\n`);
  socket.write(piece);
  socket.write('\r\n0\r\n\r\n');
  const [bytes] = (await reply) as [Buffer];
  t.regex(bytes.toString(), /^HTTP\/1.1 413 .*larger than the 1 MiB/s);
});

test('rejects a form with more than a thousand fields', async (t) => {
  const form = (fields: number) =>
    world.call('/form', {
      raw: `count=1${'&a'.repeat(fields - 1)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  t.is((await form(1000)).status, 200);
  const refused = await form(1001);
  t.deepEqual([refused.status, refused.body.msg], [400, 'the form has more than 1000 fields']);
});

test('a route can refuse a request before its body is read', async (t) => {
  const reply = await replyToHead('/asks-first', [
    'Content-Type: application/json',
    'Content-Length: 11',
    'X-Stranger: yes',
  ]);
  t.regex(reply, /^HTTP\/1.1 429 /);
  t.is((await world.call('/asks-first', { body: { count: 1 } })).status, 200);
});

test('returns 400 for a body that does not match its headers, without a fault of the plugin', async (t) => {
  for (const encoding of ['gzip', 'deflate', 'br']) {
    const answer = await large('not compressed', { 'content-encoding': encoding });
    t.deepEqual([answer.status, answer.body.code], [400, 'KERNEL_BAD_BODY'], encoding);
  }
  const cut = gzipSync('{"count":1}').subarray(0, -4);
  t.is((await large(cut, { 'content-encoding': 'gzip' })).status, 400);
  for (const body of [
    '{"count":',
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    Buffer.from('{"count":1}', 'utf16le'),
    Buffer.concat([Buffer.from('{"count":1}'), Buffer.from([0xe2, 0x82])]),
  ]) {
    const broken = await large(body);
    t.deepEqual([broken.status, broken.body.code], [400, 'KERNEL_BAD_BODY']);
  }
  t.is((await large('{"count":1}', { 'content-type': 'application/json; charset=utf-16' })).status, 415);
  t.is(
    (await large('\uFEFF{"count":1}', { 'content-type': 'application/json; charset="UTF-8"' })).status,
    200,
  );
  t.deepEqual(
    world.faults().filter((line) => line.includes('/large')),
    [],
  );
});

test('rejects endless nesting everywhere, and the panel survives', async (t) => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  for (const body of [
    '['.repeat(150_000),
    deep(150_000),
    `{"count":1,"nested":{"a":${deep(150_000)}}}`,
    `{"count":1,"stranger":${deep(150_000)}}`,
    `{"count":1,"inner":${JSON.stringify(`{"a":${deep(150_000)}}`)}}`,
    `{"count":1,"nested":${'{"a":'.repeat(90_000)}1${'}'.repeat(90_000)}}`,
  ]) {
    const answer = await large(body);
    t.deepEqual([answer.status, /nests deeper/.test(answer.body.msg)], [400, true], body.slice(0, 40));
  }
  t.is((await large(`{"count":1,"nested":{"a":${deep(50)}}}`)).status, 200);
  t.deepEqual(
    world.faults().filter((line) => line.includes('/large')),
    [],
  );
});

test('counts separators before it parses JSON, also in texts that contain JSON', async (t) => {
  const items = (count: number) => `[${'1,'.repeat(count)}1]`;
  const refused = await large(`{"count":1,"nested":{"a":${items(200_000)}}}`);
  t.deepEqual([refused.status, refused.body.code], [413, 'KERNEL_TOO_LARGE']);
  t.regex(refused.body.msg, /more than 200000 separators/);
  // A body that is not valid JSON is not parsed either.
  t.is((await large(','.repeat(200_001))).status, 413);
  t.is((await large(`{"count":1,"note":"${',:[{'.repeat(100_000)}"}`)).status, 200);
  t.is((await large(`{"count":1,"nested":{"a":${items(199_000)}}}`)).status, 200);
  const inner = await large(JSON.stringify({ count: 1, inner: `{"a":${items(200_000)}}` }));
  t.deepEqual([inner.status, (inner.body.obj as Issues).issues[0]?.path], [400, 'inner']);
  const login = await world.login();
  const usual = await world.call('/orders', {
    raw: `{"count":1,"stranger":${items(20_000)}}`,
    headers: { ...JSON_TYPE, ...login },
  });
  t.regex(usual.body.msg, /more than 20000 separators/);
});

test('accepts 5,000 different keys in a body and in JSON text; counts a key again after other keys', async (t) => {
  const object = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join()}}`;
  const refused = await large(`{"count":1,"nested":{"a":${object(6000)}}}`);
  t.deepEqual([refused.status, refused.body.code], [413, 'KERNEL_TOO_LARGE']);
  t.regex(refused.body.msg, /more than 5000 different keys/);
  t.is((await large(`{"count":1,"nested":{"a":[${`${object(4500)},`.repeat(9)}1]}}`)).status, 200);
  const inner = await large(JSON.stringify({ count: 1, inner: object(6000) }));
  t.deepEqual([inner.status, (inner.body.obj as Issues).issues[0]?.path], [400, 'inner']);
  t.is((await large(JSON.stringify({ count: 1, inner: object(4500) }))).status, 200);
  // Objects of three out of a hundred keys: each looks like no other.
  const triples = Array.from({ length: 28_000 }, (_, i) => [i % 100, (i * 7 + 1) % 99, i % 97]);
  const objects = triples.map((keys) => Object.fromEntries(keys.map((key) => [`k${key}`, 1])));
  t.is((await large(JSON.stringify({ count: 1, nested: { a: objects } }))).status, 413);
});

test('checks the length of a list first, and reports at most 50 issues', async (t) => {
  const tooLong = await large(JSON.stringify({ count: 1, names: Array(150_000).fill(1) }));
  t.deepEqual((tooLong.body.obj as Issues).issues, [
    { path: 'names', message: 'names must contain less than or equal to 100000 items' },
  ]);
  const wrong = await large(JSON.stringify({ count: 'x', names: ['a', ...Array(80).fill(1)] }));
  t.is((wrong.body.obj as Issues).issues.length, 50);
  t.regex(wrong.body.msg, /^count must be a number; names\[1\] must be a string; .*; and 31 more$/);
  const flood = await large(JSON.stringify({ count: 1, names: ['a', ...Array(90_000).fill(1)] }));
  const { issues } = flood.body.obj as Issues;
  t.is(issues.length, 50);
  t.deepEqual(issues[0], { path: 'names.1', message: 'names[1] must be a string' });
  t.regex(flood.body.msg, /; and at least \d+ more$/);
});
