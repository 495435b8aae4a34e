// Connections that stay open between calls.
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import test from 'ava';
import { selfSigned } from '../../../test/harness/self-signed.js';
import { until } from '../../../test/harness/until.js';
import { callsOf, failure, serve } from './world.js';

test('calls with the same text share a connection, others do not', async (t) => {
  const sockets = new Set<Socket>();
  const { url } = await serve(t, (request, response) => {
    sockets.add(request.socket);
    response.end('here');
  });
  const { calls, access } = callsOf();
  t.teardown(() => calls.close());
  const fetch = calls.for(access);
  const call = async (keepAlive?: string, more: object = {}) =>
    (await fetch(url, { ...(keepAlive !== undefined && { keepAlive }), ...more })).text();
  for (let i = 0; i < 3; i++) t.is(await call('a'), 'here');
  t.is(sockets.size, 1);
  await call('b');
  t.is(sockets.size, 2);
  // What was permitted for one call is not for another.
  await call('a', { allowPrivate: true });
  t.is(sockets.size, 3);
  await call();
  await call();
  t.is(sockets.size, 5);
  await call('a');
  t.is(sockets.size, 5);
  calls.close();
  await until(() => [...sockets].every(({ destroyed }) => destroyed), 'all are closed');
});

test('a connection serves only calls that trust its server for the same reason', async (t) => {
  const pair = selfSigned();
  const server = createServer(pair, (_request, response) => response.end('here')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { calls, access } = callsOf();
  t.teardown(() => calls.close());
  const call = (trust: object) => calls.for(access)(url, { keepAlive: 'a', ...trust });
  const digest = Buffer.from(new X509Certificate(pair.cert).fingerprint256.replaceAll(':', ''), 'hex');
  for (const trust of [{ pinnedSha256: digest }, { allowInsecure: true }, { authorities: pair.cert }])
    t.is(await (await call(trust)).text(), 'here');
  t.is((await failure(call({ pinnedSha256: randomBytes(32) }))).code, 'certificate');
  t.regex((await failure(call({}))).message, /self[- ]signed certificate/);
});

test('a connection that the server has just closed is no failure of a GET, and a POST is sent once', async (t) => {
  const asked: string[] = [];
  let first: Socket | undefined;
  const { url } = await serve(t, (request, response) => {
    asked.push(String(request.method));
    if (first === request.socket) return void request.socket.resetAndDestroy();
    first = request.socket;
    response.end('here');
  });
  const { calls, access } = callsOf();
  t.teardown(() => calls.close());
  const fetch = calls.for(access);
  await (await fetch(url, { keepAlive: '' })).text();
  t.is(await (await fetch(url, { keepAlive: '' })).text(), 'here');
  t.deepEqual(asked, ['GET', 'GET', 'GET']);
  const failed = await failure(fetch(url, { keepAlive: '', method: 'POST', body: 'x' }));
  t.is(failed.code, 'network');
  t.deepEqual(asked.slice(3), ['POST']);
});

test('only a built-in plugin may declare a larger quota, and within bounds', async (t) => {
  const { accessProblem } = await import('../access-problem.js');
  const quota = { atOnce: 64, perMinute: 12_000 };
  t.is(accessProblem({ hosts: [], quota }, {}), undefined);
  t.regex(accessProblem({ hosts: [], quota }, { outside: true }) ?? '', /third-party/);
  t.regex(accessProblem({ hosts: [], quota: { ...quota, atOnce: 257 } }, {}) ?? '', /quota\.atOnce/);
  t.regex(accessProblem({ hosts: [], quota: { atOnce: 1 } }, {}) ?? '', /quota\.perMinute/);
});
