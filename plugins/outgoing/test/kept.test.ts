// Connections that stay open between calls.
import type { Socket } from 'node:net';
import test from 'ava';
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
