import test, { type ExecutionContext } from 'ava';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import {
  contribute,
  kernelErrors,
  SESSION_COOKIE,
  SessionCookies,
  Sessions,
  type SessionsApi,
  type Upgraded,
  Upgrades,
} from '../index.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { selfSigned, writePair } from '../../test/harness/self-signed.js';
import { bare, people, until, World } from './world.js';

/** Sends a request for a WebSocket as it is written, and keeps what comes back. */
class Caller {
  readonly socket: Socket;
  text = '';
  closed = false;

  /** `ca`: over TLS */
  constructor(port: number, path: string, headers: Readonly<Record<string, string>> = {}, ca?: string) {
    const lines = Object.entries({
      host: 'panel.test',
      connection: 'upgrade',
      upgrade: 'websocket',
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    const write = () => this.socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    this.socket =
      ca === undefined
        ? connect(port, '127.0.0.1', write)
        : connectSecurely({ port, host: '127.0.0.1', ca }, write);
    this.socket.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.closed = true));
  }
  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.text)?.[1] ?? 0);
  }
}

/** A plugin that answers 101 and then echoes. */
async function boot(t: ExecutionContext, open: (connection: Upgraded) => void = () => undefined) {
  const connections: Upgraded[] = [];
  const echo = bare('echo', {
    contributes: () => [
      contribute(SessionCookies, 'other'),
      contribute(Upgrades, {
        path: '/echo',
        open: (connection: Upgraded) => {
          open(connection);
          connections.push(connection);
          connection.socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
          connection.socket.on('data', (chunk: Buffer) => connection.socket.write(`>${chunk.toString()}`));
        },
      }),
    ],
  });
  const clock = new FakeClock();
  const world = await World.boot([people, echo], { clock });
  t.teardown(() => world[Symbol.asyncDispose]());
  const { cookie: other, 'x-csrf-token': token } = await world.login();
  const cookie = other.replace('other=', `${SESSION_COOKIE}=`);
  const call = (path: string, headers: Record<string, string> = {}): Caller => {
    const caller = new Caller(world.port, path, headers);
    t.teardown(() => caller.socket.destroy());
    return caller;
  };
  return { world, clock, cookie, token, connections, call };
}
const isClosed = (caller: Caller): Promise<void> => until(() => caller.closed, 'the connection is closed');

test('a further name of the session cookie opens a connection', async (t) => {
  const { cookie, call } = await boot(t);
  const caller = call('/echo', { cookie: cookie.replace(SESSION_COOKIE, 'other') });
  await until(() => caller.status === 101, 'the reply');
  t.is(caller.status, 101);
});

test('a plugin takes over the connection', async (t) => {
  const { cookie, connections, call } = await boot(t);
  const caller = call('/echo?x=1', { cookie });
  await until(() => caller.status === 101, 'the reply');
  caller.socket.write('hello');
  await until(() => caller.text.endsWith('>hello'), 'the echo');
  t.like(connections[0]?.who, { name: 'ada', kind: 'session' });
});

test('refuses an unknown path, a missing session and a page of another site with a reply', async (t) => {
  const { cookie, connections, call } = await boot(t);
  const refused = async (path: string, headers: Record<string, string>, status: number, code: string) => {
    const caller = call(path, headers);
    await isClosed(caller);
    t.is(caller.status, status, caller.text);
    t.is((JSON.parse(caller.text.split('\r\n\r\n')[1] ?? '') as { code: string }).code, code);
  };
  await refused('/nothing', { cookie }, 404, 'KERNEL_NOT_FOUND');
  await refused('/echo/more', { cookie }, 404, 'KERNEL_NOT_FOUND');
  await refused('/echo', {}, 401, 'KERNEL_UNAUTHORIZED');
  await refused('/echo', { authorization: 'Bearer x' }, 401, 'KERNEL_UNAUTHORIZED');
  await refused('/echo', { cookie: 'weir_session=made-up' }, 401, 'KERNEL_UNAUTHORIZED');
  await refused('/echo', { cookie, origin: 'https://elsewhere.test' }, 403, 'KERNEL_ORIGIN');
  await refused('/echo', { cookie, 'sec-fetch-site': 'cross-site' }, 403, 'KERNEL_ORIGIN');
  await refused('/echo', { cookie, origin: 'no origin' }, 403, 'KERNEL_ORIGIN');
  t.is(connections.length, 0);
  const own = call('/echo', { cookie, origin: 'http://panel.test' });
  await until(() => own.status === 101, 'the own page is let in');
});

test('requires the base path', async (t) => {
  const { world, cookie, call } = await boot(t);
  world.kernel.listeners.panel.mountAt('/base/');
  const outside = call('/echo', { cookie });
  await isClosed(outside);
  t.is(outside.status, 404);
  const inside = call('/base/echo/', { cookie });
  await until(() => inside.status === 101, 'the reply');
  t.pass();
});

test('closes the connection with the session, at log-out and expiry', async (t) => {
  const { world, clock, cookie, token, connections, call } = await boot(t);
  const first = call('/echo', { cookie });
  const other = call('/echo', { cookie: (await world.login()).cookie });
  await until(() => connections.length === 2, 'both');
  await world.call('/logout', { method: 'POST', headers: { cookie, 'x-csrf-token': token } });
  await isClosed(first);
  t.false(other.closed, 'that of another session goes on');
  const [ended, lives] = connections.map(({ signal }) => signal);
  t.like(ended?.reason, { status: 401, message: 'the session has ended' });
  t.false(lives?.aborted);
  clock.tick(7 * 3_600_000);
  await isClosed(other);
  t.true(lives?.aborted);
});

test('errors of a plugin and of the network affect no other connection', async (t) => {
  let fail: () => void = () => {
    throw new Error('a bug');
  };
  const { world, cookie, connections, call } = await boot(t, () => fail());
  await isClosed(call('/echo', { cookie }));
  t.deepEqual(world.faults(), ['connection at /echo: a bug']);
  fail = () => {
    throw kernelErrors.TOO_LARGE('too many');
  };
  const refused = call('/echo', { cookie });
  await isClosed(refused);
  t.is(refused.status, 413);
  fail = () => undefined;
  const broken = call('/echo', { cookie });
  await until(() => connections.length === 1, 'the connection');
  broken.socket.resetAndDestroy();
  await until(() => connections[0]?.socket.destroyed === true, 'the end at our side');
  t.is((await world.call('/me', { headers: { cookie } })).status, 200);
});

test('a closed plugin takes over no connection', async (t) => {
  const { cookie, connections, call } = await boot(t, () => {
    throw new Error('a bug');
  });
  for (let i = 0; i < 20; i++) await isClosed(call('/echo', { cookie }));
  const late = call('/echo', { cookie });
  await isClosed(late);
  t.is(late.status, 503);
  t.regex(late.text, /the plugin echo is switched off after repeated faults/);
  t.is(connections.length, 0);
});

test('a stop closes open connections', async (t) => {
  const { world, cookie, connections, call } = await boot(t);
  const caller = call('/echo', { cookie });
  await until(() => caller.status === 101, 'the reply');
  await world.kernel.stop('a test');
  await isClosed(caller);
  t.like(connections[0]?.signal.reason, { status: 503, message: 'the panel is stopping' });
});

test('ignores an upgrade to another protocol, and answers the request with its body', async (t) => {
  const { world, cookie, token } = await boot(t);
  const offer = {
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
  };
  const me = await world.call('/me', { headers: { cookie, ...offer } });
  t.is(me.status, 200);
  t.is(me.body.msg, 'ada');
  t.is((await world.call('/login', { body: { name: 'x'.repeat(15_000) }, headers: offer })).status, 200);
  t.is(
    (await world.call('/logout', { method: 'POST', headers: { cookie, 'x-csrf-token': token, ...offer } }))
      .status,
    200,
  );
});

test('rejects two plugins on one path', async (t) => {
  const one = (name: string) =>
    bare(name, { contributes: () => [contribute(Upgrades, { path: '/echo', open: () => undefined })] });
  await t.throwsAsync(World.boot([people, one('first'), one('second')]), {
    message: /first and second both serve connections at \/echo/,
  });
});

test('works the same over TLS', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tls-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const pair = selfSigned();
  const { certFile, keyFile } = await writePair(folder, pair);
  let cookie = '';
  const opener = bare('opener', {
    uses: { sessions: Sessions },
    start: async ({ sessions }: { sessions: SessionsApi }) =>
      void (cookie = `${SESSION_COOKIE}=${(await sessions.open('ada')).id}`),
    contributes: () => [
      contribute(Upgrades, {
        path: '/hello',
        open: ({ socket }: Upgraded) => void socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
      }),
    ],
  } as never);
  await using world = await World.boot([people, opener], {
    env: { WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: keyFile },
  });
  for (const [path, headers, status] of [
    ['/hello', { cookie }, 101],
    ['/hello', {}, 401],
    ['/me', { cookie, upgrade: 'h2c' }, 200],
  ] as const) {
    const caller = new Caller(world.port, path, headers as Record<string, string>, pair.cert);
    await until(() => caller.status !== 0, 'the reply');
    caller.socket.destroy();
    t.is(caller.status, status, caller.text);
  }
});

test('a refused connection has the id under which a trusted proxy knows it', async (t) => {
  await using world = await World.boot([people], { env: { WEIR_TRUSTED_PROXIES: '127.0.0.1' } });
  const caller = new Caller(world.port, '/nowhere', { 'x-request-id': 'from-the-proxy-1' });
  t.teardown(() => caller.socket.destroy());
  await isClosed(caller);
  t.is(caller.status, 404);
  t.regex(caller.text, /"requestId":"from-the-proxy-1"/);
});
