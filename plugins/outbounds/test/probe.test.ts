// A fetch through a stand-in for the core, from servers that serve, lie, hang or never end.
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { selfSigned } from '../../../test/harness/index.js';
import { probe, type Target } from '../probe.js';
import { listen, openCore as core, raw } from './core-stand-in.js';

async function fetched(
  t: ExecutionContext,
  url: string,
  { reply, ...more }: Partial<Target> & { reply?: string } = {},
) {
  const { socket, open } = await core(t, reply);
  const target = { socket, login: 'u0:x', url: new URL(url), warm: true, limit: 1500, ...more };
  const result = await probe(target, new AbortController().signal);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.is(open.size, 0, 'no connection is left open');
  return result;
}

test('warm: two requests on one connection; real: one', async (t) => {
  const ports = new Set<unknown>();
  let count = 0;
  const server = createHttpServer(({ socket }, reply) => {
    ports.add(socket.remotePort);
    count += 1;
    reply.writeHead(503).end('busy');
  });
  const url = `http://127.0.0.1:${await listen(t, server)}/x?y`;
  t.like(await fetched(t, url), { success: true, httpStatus: 503 });
  t.deepEqual([ports.size, count], [1, 2]);
  t.like(await fetched(t, url, { warm: false }), { success: true, httpStatus: 503 });
  t.is(count, 3);
});

test('TLS: a trusted server is measured, another one is refused with the reason', async (t) => {
  const { cert, key } = await selfSigned('localhost');
  const port = await listen(
    t,
    createHttpsServer({ cert, key }, (_, reply) => void reply.writeHead(204).end()),
  );
  const good = await fetched(t, `https://localhost:${port}/`, { ca: cert });
  t.like(good, { success: true, httpStatus: 204 }, JSON.stringify(good));
  t.is(typeof good.tlsMs, 'number');
  const bad = await fetched(t, `https://localhost:${port}/`);
  t.false(bad.success);
  t.regex(bad.error ?? '', /TLS to the server of the test failed: .*self.signed/);
  const plain = await fetched(t, `https://localhost:${await raw(t, (socket) => socket.end('hello'))}/`);
  t.regex(plain.error ?? '', /TLS to the server of the test failed/);
});

test('servers that hang, lie or never end', async (t) => {
  const block = 'x'.repeat(64 * 1024);
  const pour = (socket: Socket): void => {
    const more = (): void => {
      while (socket.writable && socket.write(block));
    };
    socket.on('drain', more);
    more();
  };
  for (const [answer, expected] of [
    [() => undefined, { success: false, error: /no reply of 127\.0\.0\.1:\d+ within 1\.5 s/ }],
    [(socket) => socket.destroy(), { success: false, error: /closed before a reply/ }],
    [(socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), { success: false, error: /Parse Error/ }],
    [
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ');
        pour(socket);
      },
      { success: false, error: /Header overflow/i },
    ],
    [
      (socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 10);
        socket.on('close', () => clearInterval(timer));
      },
      { success: false, error: /no reply/ },
    ],
    [
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        pour(socket);
      },
      { success: true, isQuick: true },
    ],
    [(socket) => socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'), { success: true }],
    [(socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'), { success: true }],
  ] as readonly [(socket: Socket) => void, { success: boolean; error?: RegExp; isQuick?: true }][]) {
    const port = await raw(t, answer);
    const start = performance.now();
    const result = await fetched(t, `http://127.0.0.1:${port}/`);
    if (expected.isQuick) t.true(performance.now() - start < 1000, 'an endless body is not read');
    t.is(result.success, expected.success, JSON.stringify(result));
    if (expected.error) t.regex(result.error ?? '', expected.error);
    t.true(Number.isInteger(result.delay));
  }
});

test('a core that refuses the login, answers nothing of use, or is not there', async (t) => {
  const url = 'http://127.0.0.1:9/';
  t.regex(
    (await fetched(t, url, { reply: 'HTTP/1.1 407 No\r\n\r\n' })).error ?? '',
    /answered HTTP\/1\.1 407/,
  );
  t.regex((await fetched(t, url, { reply: 'x'.repeat(20_000) })).error ?? '', /no reply/);
  t.regex((await fetched(t, url)).error ?? '', /closed/);
  const gone = await probe(
    { socket: '/nonexistent/s', login: '', url: new URL(url), warm: true },
    new AbortController().signal,
  );
  t.regex(gone.error ?? '', /ENOENT/);
  const { socket } = await core(t);
  const hung = `http://127.0.0.1:${await raw(t, () => undefined)}/`;
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 100);
  const stopped = await probe({ socket, login: '', url: new URL(hung), warm: true }, stop.signal);
  t.is(stopped.error, 'the test was stopped');
});
