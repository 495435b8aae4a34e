// Replies of kind `stream`, over real connections: slow readers, callers that leave, streams that fail.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import test from 'ava';
import { int, route, shape, stream } from '../index.js';
import { bare, call, latch, until, World } from './world.js';

const left = { generator: latch(), readable: latch(), waiting: latch() };
let produced = 0;
let opened = 0;

async function* lines(from: number, to: number): AsyncGenerator<string> {
  for (let i = from; i < to; i++) yield `line ${i}\n`;
}
async function* endless(): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      produced++;
      yield Buffer.alloc(64 * 1024, 'x');
    }
  } finally {
    left.generator.open();
  }
}
async function* failing(after: number): AsyncGenerator<string> {
  yield* lines(0, after);
  throw new Error('the disk is gone');
}
async function* of(...pieces: unknown[]): AsyncGenerator<never> {
  for (const piece of pieces) yield piece as never;
}

const at = (
  path: string,
  handle: (input: { readonly signal: AbortSignal }) => {
    readonly body: AsyncIterable<string | Uint8Array> | (() => AsyncIterable<string | Uint8Array>);
    readonly fileName?: string;
    readonly length?: number;
    readonly etag?: string;
    readonly lastModified?: Date;
  },
) => route({ method: 'GET', path, auth: 'anyone', doc: 'Streams.', reply: stream('text/plain'), handle });

const world = await World.boot([
  bare('streams', {
    routes: () => [
      at('/lines', () => ({ body: lines(0, 3) })),
      at('/empty', () => ({ body: lines(0, 0) })),
      at('/readable', () => ({ body: Readable.from(['a', 'b']) })),
      at('/many', () => ({ body: Readable.from([Buffer.alloc(3_000_000, 'y')]), length: 3_000_000 })),
      at('/named', () => ({ body: lines(0, 1), fileName: 'Überblick "7"\r\nX-Bad: 1/..\\x.txt' })),
      at('/cached', () => ({
        body: () => {
          opened++;
          return lines(0, 1);
        },
        length: 7,
        etag: 'v1',
        lastModified: new Date(Date.UTC(2026, 0, 1)),
      })),
      at('/endless', () => ({ body: endless() })),
      at('/waits', ({ signal }) => ({
        body: (async function* () {
          yield 'begun';
          await once(signal, 'abort');
          left.waiting.open();
        })(),
      })),
      at('/stuck', () => ({
        body: new Readable({
          read() {
            if (produced >= 0) this.push('begun');
            this._read = () => undefined;
          },
          destroy(_error, done) {
            left.readable.open();
            done(null);
          },
        }),
      })),
      route({
        method: 'POST',
        path: '/answers',
        auth: 'anyone',
        doc: 'Answers before it has all of the body.',
        reply: stream('text/plain'),
        handle: ({ signal }) => ({
          body: (async function* () {
            yield 'begun';
            await once(signal, 'abort');
          })(),
        }),
      }),
      at('/fails/first', () => ({ body: failing(0), fileName: 'x.txt', etag: 'v1' })),
      at('/fails/late', () => ({ body: failing(3) })),
      at('/fails/short', () => ({ body: lines(0, 1), length: 100 })),
      at('/fails/long', () => ({ body: lines(0, 3), length: 10 })),
      at('/fails/objects', () => ({ body: of('text', { no: 'text' }) })),
      at('/fails/readable', () => ({ body: Readable.from(['text', 5 as never]) })),
      at('/fails/nothing', () => ({ body: undefined as never })),
      at('/fails/etag', () => ({ body: lines(0, 1), etag: 'a\r\nb' })),
      route({
        method: 'GET',
        path: '/counted',
        auth: 'anyone',
        doc: 'Has a header of its own.',
        reply: stream('text/csv; charset=utf-8', { headers: shape({ 'x-rows': int() }) }),
        handle: () => ({ body: lines(0, 2), headers: { 'x-rows': 2 } }),
      }),
      route({
        method: 'GET',
        path: '/miscounted',
        auth: 'anyone',
        doc: 'Has a wrong header.',
        reply: stream('text/csv', { headers: shape({ 'x-rows': int() }) }),
        handle: () => ({ body: lines(0, 2), headers: { 'x-rows': 'two' as never } }),
      }),
    ],
  }),
]);
test.after.always(() => world[Symbol.asyncDispose]());

async function ask(path: string): Promise<Socket> {
  const socket = connect(world.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}

test('sends a stream as it is produced, with the usual headers and no-store', async (t) => {
  const answer = await world.call('/lines');
  t.deepEqual([answer.status, answer.text], [200, 'line 0\nline 1\nline 2\n']);
  t.is(answer.headers['content-type'], 'text/plain');
  t.is(answer.headers['cache-control'], 'no-store');
  t.is(answer.headers['x-content-type-options'], 'nosniff');
  t.is((await world.call('/readable')).text, 'ab');
  const empty = await world.call('/empty');
  t.deepEqual([empty.status, empty.text, empty.headers['content-type']], [200, '', 'text/plain']);
  const many = await world.call('/many');
  t.deepEqual([many.text.length, many.headers['content-length']], [3_000_000, '3000000']);
});

test('writes any file name as RFC 6266 says', async (t) => {
  const { headers } = await world.call('/named');
  const disposition = String(headers['content-disposition']);
  t.true(
    disposition.startsWith('attachment; filename="?berblick \\"7\\"__X-Bad: 1_.._x.txt"; '),
    disposition,
  );
  t.regex(disposition, /filename\*=UTF-8''%C3%9Cberblick%20%227%22__X-Bad%3A%201_\.\._x\.txt$/);
  t.is(headers['x-bad'], undefined);
  t.is(headers['content-type'], 'text/plain');
});

test('checks additional headers against their declaration', async (t) => {
  const { headers, text } = await world.call('/counted');
  t.deepEqual(
    [headers['x-rows'], headers['content-type'], text],
    ['2', 'text/csv; charset=utf-8', 'line 0\nline 1\n'],
  );
  t.is((await world.call('/miscounted')).status, 500);
  t.true(
    world.faults().some((line) => /the reply of GET \/miscounted does not fit its declaration/.test(line)),
  );
});

test('answers 304 for a known ETag and HEAD without a body; neither opens the stream', async (t) => {
  const whole = await world.call('/cached');
  t.deepEqual(
    [whole.status, whole.text, whole.headers['etag'], whole.headers['cache-control'], opened],
    [200, 'line 0\n', '"v1"', 'private, no-cache', 1],
  );
  t.is(whole.headers['last-modified'], 'Thu, 01 Jan 2026 00:00:00 GMT');
  const fresh = await world.call('/cached', { headers: { 'if-none-match': '"v1"' } });
  t.deepEqual([fresh.status, fresh.text, fresh.headers['etag']], [304, '', '"v1"']);
  const since = await world.call('/cached', {
    headers: { 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' },
  });
  t.is(since.status, 304);
  const head = await world.call('/cached', { method: 'HEAD' });
  t.deepEqual([head.status, head.headers['content-length'], head.headers['etag']], [200, '7', '"v1"']);
  t.is(opened, 1);
  t.is((await world.call('/cached', { headers: { 'if-none-match': '"v2"' } })).status, 200);
  t.is((await world.call('/lines', { method: 'HEAD' })).status, 200);
});

test('waits for a slow reader, and stops when the reader disconnects', async (t) => {
  const socket = await ask('/endless');
  await once(socket, 'data');
  socket.pause();
  let before = -1;
  // What is in the buffers of both ends is bounded, so it stands still at some time.
  await until(async () => {
    const stood = before === produced;
    before = produced;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return stood && before === produced;
  }, 'the stream stands still');
  t.true(produced < 2000, `${produced} pieces were made for one that nobody reads`);
  socket.destroy();
  await left.generator.opened;
  t.pass();
});

test("a caller that disconnects aborts the stream's wait, without a fault", async (t) => {
  for (const [path, gone] of [
    ['/waits', left.waiting],
    ['/stuck', left.readable],
  ] as const) {
    const socket = await ask(path);
    await once(socket, 'data');
    socket.destroy();
    await gone.opened;
  }
  t.deepEqual(
    world.faults().filter((line) => /waits|stuck|endless/.test(line)),
    [],
  );
});

test('answers a stream that fails at once with an error, without headers of the file', async (t) => {
  for (const path of ['/fails/first', '/fails/nothing', '/fails/etag']) {
    const answer = await world.call(path);
    t.deepEqual([answer.status, answer.body.code], [500, 'KERNEL_INTERNAL'], path);
    t.is(answer.headers['content-disposition'], undefined);
    t.is(answer.headers['etag'], undefined);
    t.is(answer.headers['content-type'], 'application/json; charset=utf-8');
    t.true(
      world.faults().some((line) => line.startsWith(`GET ${path}: `)),
      path,
    );
  }
});

test('resets the connection if a stream fails later, is invalid or has a wrong length; never sends a short body', async (t) => {
  for (const [path, why] of [
    ['/fails/late', 'the disk is gone'],
    ['/fails/short', 'the stream ended after 7 of the 100 bytes that it announced'],
    ['/fails/long', 'the stream has more than the 10 bytes that it announced'],
    ['/fails/objects', 'a stream must yield texts or bytes, not a value of type object'],
    ['/fails/readable', 'a stream must yield texts or bytes, not a value of type number'],
  ] as const) {
    await t.throwsAsync(call(world.port, path), { message: /aborted|hang up|reset/i }, path);
    await until(
      () => world.faults().includes(`GET ${path}: ${why}`),
      `${path} is a fault: ${world.faults().join('\n')}`,
    );
  }
  t.is((await world.call('/lines')).status, 200);
});

test('sends no second reply if a request becomes invalid during the reply', async (t) => {
  const socket = connect(world.port, '127.0.0.1');
  let text = '';
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.write('POST /answers HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  await until(() => text.includes('begun'), 'the reply has begun');
  socket.write('no chunk\r\n');
  await once(socket, 'close');
  t.is(text.split('HTTP/1.1 ').length, 2, text);
});
