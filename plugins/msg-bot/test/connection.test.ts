// How the bot meets a Bot API that fails, lies, hangs or is not there.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { poll } from '../life/poller.js';
import { freePort } from '../../../test/harness/api.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { BotServer, refusal, TOKEN } from './bot-server.js';
import { ADMIN_ID, bootBot, botSettings, connected } from './bot-world.js';

const json = { 'content-type': 'application/json' };

test.serial('each update is handled once, also over a restart', async (t) => {
  const dataDirectory = await folderFor(t);
  const world = await bootBot(t, {}, { dataDirectory });
  await connected(world);
  const { server } = world;
  t.regex(await world.say(ADMIN_ID, '/restart'), /Restart/);
  await world.press(ADMIN_ID, 'restartNow');
  await world.until(() => world.engine.restarts.length === 1, 'the core restarts');
  const last = server.lastUpdate;
  await world.panel.stop();

  // A Bot API that has lost the confirmation delivers them again.
  let offset: unknown;
  server.fault = ({ method, body }, response) => {
    if (method !== 'getUpdates' || offset !== undefined) return false;
    offset = body['offset'];
    const pressed = {
      id: 'q',
      from: { id: ADMIN_ID, is_bot: false },
      data: 'restartNow',
      message: { message_id: 1, chat: { id: ADMIN_ID, type: 'private' } },
    };
    response
      .writeHead(200, json)
      .end(JSON.stringify({ ok: true, result: [{ update_id: last, callback_query: pressed }] }));
    return true;
  };
  const engine = new FakeEngine();
  await using next = await TestPanel.boot({
    dataDirectory,
    plugins: [engine.plugin],
    env: { WEIR_OUTGOING_ALLOW: 'msg-bot=127.0.0.1' },
  });
  world.panel = next;
  await connected(world);
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
  t.is(offset, last + 1, 'the offset is kept');
  t.deepEqual(engine.restarts, []);
});

test.serial('another Bot API server numbers updates in its own way', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  t.regex(await world.say(ADMIN_ID, '/status'), /works/);
  const own = await BotServer.start(t);
  own.chats.add(ADMIN_ID);
  own.firstUpdate = 7;
  await world.set({ msgBotApiServer: own.url });
  await world.until(() => own.count('getUpdates') > 0, 'it fetches there');
  own.say(ADMIN_ID, '/status');
  await world.until(() => /works/.test(own.last(ADMIN_ID)?.text ?? ''), 'the answer');
});

test.serial('a question survives a restart, and one that is too old ends with a sentence', async (t) => {
  const dataDirectory = await folderFor(t);
  const world = await bootBot(t, {}, { dataDirectory });
  await connected(world);
  await world.panel.addInbound();
  await world.say(ADMIN_ID, '/start');
  await world.press(ADMIN_ID, 'add');
  await world.press(ADMIN_ID, 'draft:email');
  await world.panel.stop();
  const clock = new FakeClock(Date.now());
  await using next = await TestPanel.boot({
    dataDirectory,
    clock,
    plugins: [new FakeEngine().plugin],
    env: { WEIR_OUTGOING_ALLOW: 'msg-bot=127.0.0.1' },
  });
  world.panel = next;
  await connected(world);
  t.regex(await world.say(ADMIN_ID, 'hopper'), /Email: hopper/);
  await world.press(ADMIN_ID, 'draft:email');
  clock.jump(2 * 60 * 60_000);
  t.regex(await world.say(ADMIN_ID, 'lovelace'), /no longer open/);
  t.regex(await world.say(ADMIN_ID, 'lovelace'), /no open question/);
});

test.serial('a changed token restarts only the bot, and a revoked one is said', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const { server } = world;
  server.tokens.delete(TOKEN);
  server.say(ADMIN_ID, '/status');
  await world.until(async () => (await world.status()).state === 'failing', 'the token is refused');
  t.regex((await world.status()).problem, /does not accept the token .*Unauthorized/);
  const other = `987654321:${'B'.repeat(35)}`;
  server.tokens.add(other);
  await world.set({ msgBotToken: other });
  await connected(world);
  t.true(server.calls.some(({ token, method }) => token === other && method === 'getMe'));
  await world.set({ msgBotEnable: false });
  t.is((await world.status()).state, 'off');
  const polls = server.count('getUpdates');
  await sleep(300);
  t.is(server.count('getUpdates'), polls);
  const log = world.panel.log.join('\n');
  t.false(log.includes(TOKEN) || log.includes(other), 'no token is in the log');
});

test.serial(
  'two programs that fetch for one bot: the panel waits, says so, and goes on when the other stops',
  async (t) => {
    await using world = await bootBot(t);
    await connected(world);
    const { server } = world;
    let isOther = true;
    server.fault = ({ method }, response) => {
      if (method !== 'getUpdates' || !isOther) return false;
      const { status, body } = refusal(409, 'Conflict: terminated by other getUpdates request');
      response.writeHead(status, json).end(JSON.stringify(body));
      return true;
    };
    server.say(ADMIN_ID, '/id');
    await world.until(
      async () => /another program/.test((await world.status()).problem),
      'the conflict is said',
    );
    const polls = server.count('getUpdates');
    await sleep(1_000);
    t.true(server.count('getUpdates') - polls <= 1, 'it does not fight');
    isOther = false;
    t.regex(await world.say(ADMIN_ID, '/status'), /works|11/);
    await connected(world);
  },
);

test.serial('429 is waited for as long as the Bot API says', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const { server } = world;
  let refusedAt = 0;
  let sentAt = 0;
  server.fault = ({ method }, response) => {
    if (method !== 'sendMessage') return false;
    if (refusedAt !== 0) {
      sentAt = Date.now();
      return false;
    }
    refusedAt = Date.now();
    const { status, body } = refusal(429, 'Too Many Requests: retry after 2', { retry_after: 2 });
    response.writeHead(status, json).end(JSON.stringify(body));
    return true;
  };
  server.say(ADMIN_ID, '/status');
  await world.until(() => server.sent.length === 1, 'it is sent');
  t.true(sentAt - refusedAt >= 1_900, `${sentAt - refusedAt} ms`);
});

const FAULTS: Readonly<Record<string, (response: import('node:http').ServerResponse) => void>> = {
  'no JSON': (response) => void response.writeHead(200).end('<html>hello</html>'),
  'JSON that is no reply': (response) => void response.writeHead(200, json).end('[1,2,3]'),
  'a result that is no list': (response) =>
    void response.writeHead(200, json).end('{"ok":true,"result":{"a":1}}'),
  'updates without ids': (response) =>
    void response.writeHead(200, json).end('{"ok":true,"result":[{"message":{}}]}'),
  '10 MiB': (response) =>
    void response.writeHead(200, json).end(`{"ok":true,"result":[],"x":"${'x'.repeat(10 * 1024 * 1024)}"}`),
  'a broken connection': (response) => void response.destroy(),
  '502 of a proxy': (response) => void response.writeHead(502).end('Bad Gateway'),
  'a redirect': (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'deep JSON': (response) => void response.writeHead(200, json).end('['.repeat(100_000)),
};
for (const [name, answer] of Object.entries(FAULTS))
  test.serial(`the bot goes on after a reply that is ${name}`, async (t) => {
    await using world = await bootBot(t);
    await connected(world);
    const { server } = world;
    let faults = 0;
    server.fault = ({ method }, response) => {
      if (method !== 'getUpdates' || faults > 0) return false;
      faults++;
      answer(response);
      return true;
    };
    // The call that waits ends, and the next one meets the fault.
    t.truthy(await world.say(ADMIN_ID, '/id'));
    await world.until(() => faults === 1, 'the fault happens');
    t.regex(await world.say(ADMIN_ID, '/status'), /works/);
    t.deepEqual(world.panel.faults, []);
  });

test.serial('a dead Bot API delays neither start nor stop', async (t) => {
  const dataDirectory = await folderFor(t);
  const silent = await BotServer.start(t);
  silent.fault = () => true;
  const world = await bootBot(
    t,
    { msgBotApiServer: `http://127.0.0.1:${await freePort()}` },
    { dataDirectory },
  );
  await world.until(async () => (await world.status()).state === 'failing', 'nobody listens there');
  await world.set(botSettings(silent));
  await world.until(() => silent.calls.length > 0, 'it calls the silent server');
  const stopping = Date.now();
  await world.panel.stop();
  t.true(Date.now() - stopping < 3_000, `${Date.now() - stopping} ms to stop`);
  const starting = Date.now();
  await using next = await TestPanel.boot({
    dataDirectory,
    plugins: [new FakeEngine().plugin],
    env: { WEIR_OUTGOING_ALLOW: 'msg-bot=127.0.0.1' },
  });
  t.log(`${Date.now() - starting} ms to start`);
  t.is((await next.get<{ state: string }>('/panel/api/x/msg-bot/status')).state, 'connecting');
});

test.serial('slow bytes of an answer end at a limit, and others go on meanwhile', async (t) => {
  await using world = await bootBot(t);
  await connected(world);
  const { server } = world;
  server.fault = ({ method }, response) => {
    if (method !== 'sendMessage') return false;
    response.writeHead(200, json);
    const timer = setInterval(() => response.write(' '), 200);
    response.once('close', () => clearInterval(timer));
    return true;
  };
  server.say(ADMIN_ID, '/status');
  await world.until(() => server.count('sendMessage') > 0, 'it is sent');
  server.fault = undefined;
  server.chats.add(12);
  await world.set({ msgBotChatId: `${ADMIN_ID}, 12` });
  t.regex(await world.say(12, '/status'), /works/);
});

test.serial('a database that fails is not called a failure of the Bot API', async (t) => {
  const stop = new AbortController();
  const reasons: string[] = [];
  const run = poll({
    api: { updates: async () => [] } as never,
    signal: stop.signal,
    offset: () => Promise.reject(new Error('the database is locked')),
    take: async () => 0,
    report: (failure) => {
      reasons.push(failure?.message ?? '');
      stop.abort(new Error('enough'));
    },
  });
  await t.throwsAsync(run);
  t.deepEqual(reasons, ['the panel cannot take updates: the database is locked']);
});
