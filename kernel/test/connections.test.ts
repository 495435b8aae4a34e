// What may happen to a connection while a request is under way.
import { connect } from 'node:net';
import { once } from 'node:events';
import test from 'ava';
import { definePlugin, kernelErrors, Listeners, message, raw, route, shape } from '../index.js';
import { Pipeline } from '../http/pipeline.js';
import { Listener } from '../http/server.js';
import { ReplyWriter } from '../../net/reply-writer.js';
import { SessionCookieNames } from '../auth/session-cookie.js';
import { Proxies } from '../../net/proxies.js';
import { HookRegistry } from '../hooks/registry.js';
import { createLog } from '../../panel/log.js';
import { bare, call, latch, until, World } from './world.js';
import { open, shop } from './shop.js';

const world = await open();
test.after.always(() => world[Symbol.asyncDispose]());

/** A pipeline without a kernel, for routes that everybody may call. */
const alone = (errors: 'envelope' | 'status' = 'envelope') =>
  new Pipeline({
    missing: () => kernelErrors.NOT_FOUND(),
    hooks: new HookRegistry(),
    sessions: undefined as never,
    proxies: new Proxies([]),
    log: createLog({ level: 'error', readable: false, write: () => undefined }),
    uploads: '/nowhere',
    checkReplies: false,
    errors,
    replies: new ReplyWriter({ proxies: new Proxies([]), headers: [] }),
    cookies: new SessionCookieNames(),
    basePath: () => '/',
  });

test('resets the connection if a handler fails after half of the reply', async (t) => {
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

test('returns 500 if a function before the routes fails, and the process survives', async (t) => {
  const side = definePlugin({
    name: 'side',
    version: '1.0.0',
    api: 1,
    about: 'Opens a listener.',
    uses: { listeners: Listeners },
    start: ({ listeners }) =>
      void listeners.declare('side', { host: '127.0.0.1', port: 0 }, () => {
        throw new Error('fast, but wrong');
      }),
  });
  await using beside = await World.boot([side]);
  const answer = await call(beside.kernel.listeners.port('side'), '/any');
  t.deepEqual([answer.status, answer.text], [500, '']);
  t.true(
    beside.log.some(
      ({ msg, error }) => msg === 'request failed' && (error as Error).message === 'fast, but wrong',
    ),
  );
});

test('a listener of a plugin has its own routes and returns only a status for failures', async (t) => {
  const side = definePlugin({
    name: 'side',
    version: '1.0.0',
    api: 1,
    about: 'Opens a listener.',
    uses: { listeners: Listeners },
    routes: () => [
      route({
        method: 'GET',
        path: '/side',
        auth: 'anyone',
        listener: 'side',
        doc: 'Beside.',
        reply: raw(),
        handle: () => 'beside',
      }),
    ],
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

test('returns 503 for a request that is idle for too long, and aborts its handler', async (t) => {
  const told = latch();
  const hanging = [
    route({
      method: 'GET',
      path: '/never',
      auth: 'anyone',
      doc: 'Hangs.',
      reply: message(),
      handle: ({ signal }) => new Promise<string>(() => signal.addEventListener('abort', told.open)),
    }),
    route({
      method: 'POST',
      path: '/slow-body',
      auth: 'anyone',
      doc: 'Waits for its body.',
      body: shape({}),
      reply: message(),
      handle: () => 'read',
    }),
  ];
  const listener = new Listener({ name: 'impatient', pipeline: alone(), silenceMs: 100 });
  const owner = { name: 'never', about: '', isOff: false, offReason: '', fault: () => undefined };
  listener.mount(hanging.map((declared) => ({ owner, route: declared, path: String(declared.path) })));
  const port = await listener.listen('127.0.0.1', 0);
  t.teardown(() => listener.close());
  const answer = await call(port, '/never');
  t.deepEqual(
    [answer.status, answer.body.code, answer.headers['connection']],
    [503, 'KERNEL_TIMEOUT', 'close'],
  );
  await told.opened;
  // A caller that announces a body and sends half of it.
  const socket = connect(port, '127.0.0.1');
  socket.write(
    'POST /slow-body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":',
  );
  const [words] = (await once(socket, 'data')) as [Buffer];
  t.regex(words.toString(), /^HTTP\/1\.1 503/);
  await once(socket, 'close');
});

test('waits for a handler that says that it makes progress, and no longer for one that stopped', async (t) => {
  const SILENCE_MS = 300;
  const working = (path: string, ticks: number) =>
    route({
      method: 'POST',
      path,
      auth: 'anyone',
      doc: 'Works for a long time.',
      reply: message(),
      handle: ({ reply }) =>
        new Promise<string>((resolve) => {
          let left = ticks;
          const timer = setInterval(() => {
            reply.progressed();
            if (--left > 0) return;
            clearInterval(timer);
            if (path === '/works') resolve('done');
          }, SILENCE_MS / 3);
        }),
    });
  const listener = new Listener({ name: 'patient', pipeline: alone(), silenceMs: SILENCE_MS });
  const owner = { name: 'works', about: '', isOff: false, offReason: '', fault: () => undefined };
  listener.mount(
    [working('/works', 12), working('/stops', 2)].map((declared) => ({
      owner,
      route: declared,
      path: String(declared.path),
    })),
  );
  const port = await listener.listen('127.0.0.1', 0);
  t.teardown(() => listener.close());
  const done = await call(port, '/works', { method: 'POST' });
  t.deepEqual([done.status, done.body.msg], [200, 'done']);
  const stopped = await call(port, '/stops', { method: 'POST' });
  t.deepEqual([stopped.status, stopped.body.code], [503, 'KERNEL_TIMEOUT']);
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

test('survives anything that a caller sends', async (t) => {
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

test("aborts the handler's signal if the caller disconnects", async (t) => {
  const begun = latch();
  const gone = latch();
  const waits = bare('waits', {
    routes: () => [
      route({
        method: 'GET',
        path: '/wait',
        auth: 'anyone',
        doc: 'Waits.',
        reply: message(),
        handle: async ({ signal }) => {
          begun.open();
          signal.addEventListener('abort', gone.open);
          await gone.opened;
          return 'nobody hears it';
        },
      }),
    ],
  });
  await using waiting = await World.boot([waits]);
  const socket = connect(waiting.port, '127.0.0.1');
  socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
  await begun.opened;
  socket.destroy();
  await gone.opened;
  t.deepEqual(waiting.faults(), []);
});

test('at a stop, answers requests under way but no new ones', async (t) => {
  const begun = latch();
  const finish = latch();
  const waits = bare('waits', {
    routes: () => [
      route({
        method: 'GET',
        path: '/wait',
        auth: 'anyone',
        doc: 'Waits.',
        reply: message(),
        handle: async () => (begun.open(), await finish.opened, 'in time'),
      }),
    ],
  });
  await using waiting = await World.boot([waits]);
  const { port } = waiting;
  const answer = call(port, '/wait');
  await begun.opened;
  const stopped = waiting.kernel.stop('test');
  await until(
    () =>
      call(port, '/wait').then(
        () => false,
        () => true,
      ),
    'the port is closed',
  );
  finish.open();
  t.is((await answer).body.msg, 'in time');
  await stopped;
});

test('at a stop, closes the connection of a request that never ends', async (t) => {
  const begun = latch();
  const never = () => (begun.open(), new Promise<string>(() => undefined));
  const hangs = bare('hangs', {
    routes: () => [
      route({ method: 'GET', path: '/hang', auth: 'anyone', doc: 'Hangs.', reply: message(), handle: never }),
    ],
  });
  await using hanging = await World.boot([hangs]);
  const answer = t.throwsAsync(call(hanging.port, '/hang'), { message: /socket hang up|ECONNRESET/ });
  await begun.opened;
  await hanging.kernel.stop('test');
  await answer;
});

/** What comes back for bytes that are no request, until the connection is closed. */
async function answerTo(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

test('answers an unreadable request with an envelope and closes the connection', async (t) => {
  const long = 'x'.repeat(20_000);
  for (const [status, code, bytes] of [
    [431, 'KERNEL_LONG_HEADERS', `GET /${long} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    [431, 'KERNEL_LONG_HEADERS', `GET /?q=${long} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    [431, 'KERNEL_LONG_HEADERS', `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${long}\r\n\r\n`],
    [400, 'KERNEL_BAD_REQUEST', 'nonsense\r\n\r\n'],
    [400, 'KERNEL_BAD_REQUEST', 'GET / HTTP/1.1\r\nHost: localhost\r\nBad Header\r\n\r\n'],
  ] as const) {
    const answer = await answerTo(world.port, bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    t.true(head.startsWith(`HTTP/1.1 ${status} `), answer);
    t.regex(head, /\r\nConnection: close\r\n/);
    const { success, code: given, requestId } = JSON.parse(body) as Record<string, unknown>;
    t.deepEqual([success, given, typeof requestId], [false, code, 'string']);
  }
  t.is((await world.call('/public')).status, 200);
});

test('answers a request with an unreadable body once; a listener of a plugin sends only a status', async (t) => {
  const cut = await answerTo(
    world.port,
    'POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  );
  t.is(cut.split('HTTP/1.1 ').length, 2, cut);
  t.true(cut.startsWith('HTTP/1.1 400 '), cut);
  const listener = new Listener({ name: 'bare', pipeline: alone('status') });
  const port = await listener.listen('127.0.0.1', 0);
  t.teardown(() => listener.close());
  const answer = await answerTo(port, 'nonsense\r\n\r\n');
  t.regex(answer, /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\n\r\n$/);
});
