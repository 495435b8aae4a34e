import test, { type ExecutionContext } from 'ava';
import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { definePlugin, contribute } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { type LiveOutput, LiveTypes } from '../contract.js';
import { MOST_CONNECTIONS } from '../connections.js';
import { Listener } from './listener.js';

const ENDPOINTS = [
  { endpoint: 'plain', listen: Listener.plain, ended: 4401, stopped: 1012 },
  { endpoint: 'socket.io', listen: Listener.io, ended: 'io server disconnect', stopped: 'transport close' },
] as const;

async function boot(t: ExecutionContext, env: Readonly<Record<string, string>> = {}) {
  const clock = new FakeClock();
  let out: LiveOutput | undefined;
  const loud = definePlugin({
    name: 'loud',
    version: '0.0.0',
    api: 1,
    about: 'Says what a test wants said.',
    contributes: () => [contribute(LiveTypes, { type: 'loud', start: (given) => (out = given) })],
  });
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, loud], clock, env });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return { clock, panel, send: (payload: unknown) => out?.send(payload) };
}

for (const { endpoint, listen, ended, stopped } of ENDPOINTS) {
  test(`${endpoint}: refused without a session, with a token, and to pages of other sites`, async (t) => {
    const { panel } = await boot(t);
    const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
      body: { name: 'bot' },
    });
    const refused = async (headers: Record<string, string>, status: number) => {
      const listener = listen(panel, headers);
      await until(() => listener.refused !== '' || listener.messages.length > 0, 'an answer');
      t.regex(listener.refused, new RegExp(`response: ${status}`));
      t.deepEqual(listener.messages, []);
    };
    await refused({}, 401);
    await refused({ cookie: 'weir_session=made-up' }, 401);
    await refused({ authorization: `Bearer ${token}` }, 401);
    await refused({ cookie: panel.cookie, origin: 'https://elsewhere.test' }, 403);
    await refused({ cookie: panel.cookie, 'sec-fetch-site': 'cross-site' }, 403);
    const own = listen(panel, { cookie: panel.cookie, origin: panel.url });
    await own.first('snapshot');
    t.is(own.refused, '');
  });

  test(`${endpoint}: logging out closes the connections of that session and no other`, async (t) => {
    const { clock, panel } = await boot(t);
    const mine = listen(panel);
    const alsoMine = listen(panel);
    await Promise.all([mine.first('snapshot'), alsoMine.first('snapshot')]);
    const { cookie, csrf } = panel;
    await panel.login();
    const other = listen(panel);
    await other.first('snapshot');
    t.is(
      (await panel.call('/logout', { method: 'POST', headers: { cookie, 'x-csrf-token': csrf } })).status,
      200,
    );
    t.is(await mine.end(), ended);
    t.is(await alsoMine.end(), ended);
    clock.tick(2000);
    await other.first('status');
    t.deepEqual([mine.of('status'), other.ended], [[], undefined]);
    clock.tick(24 * 3_600_000);
    t.is(await other.end(), ended, 'a session that nobody used for a day');
  });

  test(`${endpoint}: a stop of the panel closes the connection and does not wait for it`, async (t) => {
    const { panel } = await boot(t);
    const listener = listen(panel);
    await listener.first('snapshot');
    await panel.stop();
    t.is(await listener.end(), stopped);
  });

  test(`${endpoint}: it lies below the base path`, async (t) => {
    const { panel } = await boot(t);
    panel.kernel.listeners.panel.mountAt('/secret/');
    const path = endpoint === 'plain' ? '/ws' : '/socket.io';
    const outside = listen(panel, { cookie: panel.cookie }, path);
    await until(() => outside.refused !== '', 'the refusal');
    t.regex(outside.refused, /response: 404/);
    await listen(panel, { cookie: panel.cookie }, `/secret${path}`).first('snapshot');
  });

  test(`${endpoint}: who talks is told once that nobody reads it, and closed for too much`, async (t) => {
    const { panel, send } = await boot(t);
    const listener = listen(panel);
    await listener.first('snapshot');
    for (let i = 0; i < 5; i++) listener.say('hello');
    await listener.first('error');
    // Whatever the others were answered would come before this.
    send('after');
    await listener.first('loud');
    t.is(listener.of('error').length, 1);
    listener.say('x'.repeat(5000));
    await listener.end();
    t.is((await panel.call('/panel/api/server/status')).status, 200);
  });
}

/** Speaks the protocol just so far that it is a reader, and then reads no more. */
async function deafReader(t: ExecutionContext, panel: TestPanel, path: string, hello: string) {
  const socket = connect(Number(new URL(panel.url).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')));
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nCookie: ${panel.cookie}\r\n\r\n`,
  );
  await until(() => heard.includes('\r\n\r\n'), 'the handshake');
  // A masked text, with a mask of zeros.
  if (hello !== '')
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | hello.length, 0, 0, 0, 0]), Buffer.from(hello)]));
  await until(() => heard.includes('snapshot'), 'the snapshot');
  socket.pause();
  return socket;
}

for (const [endpoint, path, hello] of [
  ['plain', '/ws', ''],
  ['socket.io', '/socket.io/?EIO=4&transport=websocket', '40'],
] as const) {
  test(`${endpoint}: who does not read gets the newest state and is disconnected after half a minute; the others go on`, async (t) => {
    const { panel, send, clock } = await boot(t);
    const listener = Listener.plain(panel);
    await listener.first('snapshot');
    const deaf = await deafReader(t, panel, path, hello);
    const cut = () =>
      panel.log
        .filter((line) => line.includes('that was too slow'))
        .map((line) => JSON.parse(line) as { backlog: number });
    const text = 'x'.repeat(2 ** 20);
    for (let sent = 1; sent <= 60; sent++) {
      send(text);
      // The one that reads must not fall behind because of the other.
      await until(() => listener.of('loud').length === sent, 'the message at the one who reads');
    }
    t.deepEqual(cut(), [], 'it has time');
    for (let check = 0; check < 8 && cut().length === 0; check++) {
      clock.tick(5000);
      await panel.kernel.settled();
    }
    t.is(cut().length, 1);
    t.true((cut()[0]?.backlog ?? 0) < 4 * 2 ** 20, 'what waits in its socket is bounded');
    const closed = once(deaf, 'close');
    deaf.resume();
    await closed;
    send('still here');
    await until(() => listener.of('loud').length === 61, 'one more');
    t.is(listener.ended, undefined);
  });
}

test('who does not answer a ping is taken for dead, who does is not', async (t) => {
  const { clock, panel } = await boot(t);
  const alive = Listener.plain(panel);
  const dead = new WebSocket(`${panel.url.replace('http', 'ws')}/ws`, {
    headers: { cookie: panel.cookie },
    autoPong: false,
  });
  let pings = 0;
  let closed = false;
  dead
    .on('ping', () => pings++)
    .on('close', () => (closed = true))
    .on('error', () => undefined);
  await Promise.all([alive.first('snapshot'), once(dead, 'message')]);
  clock.tick(30_000);
  await until(() => pings === 1, 'the ping');
  // A pong is read before what the same connection asks for later.
  clock.tick(2000);
  await until(() => alive.of('status').length > 0, 'the status');
  alive.say('are you there?');
  await alive.first('error');
  t.false(closed);
  clock.tick(28_000);
  await until(() => closed, 'the end of the dead one');
  clock.tick(2000);
  t.is(alive.ended, undefined);
});

test('only so many may listen', async (t) => {
  const { panel } = await boot(t);
  const listeners: Listener[] = [];
  t.teardown(() => {
    for (const { close } of listeners) close();
  });
  // The system queues only some hundred new connections at once.
  while (listeners.length < MOST_CONNECTIONS) {
    const some = Array.from({ length: 100 }, () => Listener.plain(panel));
    listeners.push(...some);
    await Promise.all(some.map((listener) => listener.first('snapshot')));
  }
  const late = Listener.plain(panel);
  await until(() => late.refused !== '', 'the refusal');
  t.regex(late.refused, /response: 503/);
  listeners[0]?.close();
  await until(async () => {
    const again = Listener.plain(panel);
    await until(() => again.refused !== '' || again.messages.length > 0, 'an answer');
    return again.messages.length > 0;
  }, 'room for another');
});

test('a call without an upgrade is told what this is', async (t) => {
  const { panel } = await boot(t);
  const answer = await panel.call('/ws');
  t.is(answer.status, 426);
  t.is(answer.headers.get('upgrade'), 'websocket');
  t.is((await panel.call('/ws', { anonymous: true })).status, 401);
});

test('without the plugin the rest works, and without server-status the stream does', async (t) => {
  const plugins = [new FakeEngine().plugin];
  const without = await TestPanel.boot({ plugins, without: ['realtime'] });
  t.teardown(() => without[Symbol.asyncDispose]());
  t.is((await without.call('/ws')).status, 404);
  const refused = Listener.plain(without);
  await until(() => refused.refused !== '', 'the refusal');
  t.regex(refused.refused, /response: 404/);
  t.deepEqual(await without.get('/panel/api/clients/onlines', { method: 'POST' }), []);
  await without.addInbound();

  const blind = await TestPanel.boot({ plugins, without: ['server-status'] });
  t.teardown(() => blind[Symbol.asyncDispose]());
  const { payload } = await Listener.plain(blind).first('snapshot');
  t.deepEqual(Object.keys(payload).sort(), [
    'client_jobs',
    'client_stats',
    'engine_install',
    'engine_state',
    'nodes',
    'outbounds',
    'traffic',
  ]);
});
