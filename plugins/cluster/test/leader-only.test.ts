// Runs on every database in test:full.
// What one panel does for all: the bot, notifications, nodes and jobs. Nothing is sent or asked twice, and nothing that was
// acknowledged is lost when another panel takes over.
import test from 'ava';
import { freePort } from '../../../test/harness/api.js';
import { onSqlite } from '../../../test/harness/database.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { BotServer } from '../../msg-bot/test/bot-server.js';
import { ADMIN_ID, botSettings } from '../../msg-bot/test/bot-world.js';
import { addNode } from '../../node-sync/test/world.js';
import { CountingProxy } from './counting-proxy.js';
import { leads, Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;

const fail = (panel: PanelProcess, username: string) =>
  panel.call('/login', { body: { username, password: 'wrong wrong' }, anonymous: true });

onServer('one panel talks to the Bot API and sends what happens in all of them, once', async (t) => {
  await using panels = await Panels.open();
  const server = await BotServer.start(t);
  server.chats.add(ADMIN_ID);
  const env = { WEIR_OUTGOING_ALLOW: 'msg-bot=127.0.0.1' };
  const [a, b] = [await panels.start('a', env), await panels.start('b', env)];
  const messagesAbout = (name: string) => server.texts(ADMIN_ID).filter((text) => text.includes(name)).length;
  // Saved in the panel that does not run it.
  await b.get('/panel/api/setting/update', {
    body: botSettings(server, { msgBotEnabledEvents: 'loginFailed' }),
  });
  await a.until(() => server.count('getUpdates') > 0, 'the bot asks for updates');
  const status = (panel: PanelProcess) =>
    panel.get<{ state: string; problem: string }>('/panel/api/x/msg-bot/status');
  t.is((await status(a)).state, 'running');
  t.like(await status(b), { state: 'off', problem: 'another panel of this database runs the bot' });
  await fail(a, 'guess-at-a');
  await fail(b, 'guess-at-b');
  await b.until(() => messagesAbout('guess-at-a') + messagesAbout('guess-at-b') >= 2, 'both are reported');
  server.say(ADMIN_ID, '/id');
  await a.until(() => messagesAbout(String(ADMIN_ID)) > 0, 'the bot answers');

  await a.kill('SIGTERM');
  await b.until(() => leads(b), 'the other panel leads');
  await b.until(async () => (await status(b)).state === 'running', 'and runs the bot');
  await fail(b, 'guess-after');
  await b.until(() => messagesAbout('guess-after') > 0, 'it sends');
  t.deepEqual(['guess-at-a', 'guess-at-b', 'guess-after', String(ADMIN_ID)].map(messagesAbout), [1, 1, 1, 1]);
  // One connection for each panel that led, and never two at once.
  t.is(server.count('getMe'), 2);
  t.deepEqual([a.said('the bot does not work'), b.said('the bot does not work')], [undefined, undefined]);
  // The last one is noted a moment after it has come.
  await b.until(async () => {
    const stored = await panels.query<{ state: string }>('SELECT state FROM notification_deliveries');
    return stored.length > 0 && stored.every(({ state }) => state === 'delivered');
  }, 'all are noted as delivered');
  t.deepEqual([...a.faults, ...b.faults], []);
});

onServer('what waits for a channel when the leader is killed is sent by the next one', async (t) => {
  await using panels = await Panels.open();
  const server = await BotServer.start(t);
  server.chats.add(ADMIN_ID);
  // The Bot API does not take messages for a while.
  let isDown = true;
  server.fault = ({ method }, response) => {
    if (!isDown || method !== 'sendMessage') return false;
    response.writeHead(502).end();
    return true;
  };
  const env = { WEIR_OUTGOING_ALLOW: 'msg-bot=127.0.0.1' };
  const [a, b] = [await panels.start('a', env), await panels.start('b', env)];
  await a.get('/panel/api/setting/update', {
    body: botSettings(server, { msgBotEnabledEvents: 'loginFailed' }),
  });
  await a.until(() => server.count('getUpdates') > 0, 'the bot runs');
  await fail(a, 'kept-at-a');
  await fail(b, 'kept-at-b');
  await a.until(
    async () => (await panels.query('SELECT id FROM notification_deliveries')).length === 2,
    'both are stored',
  );
  await a.kill('SIGKILL');
  isDown = false;
  const told = (name: string) => server.texts(ADMIN_ID).filter((text) => text.includes(name)).length;
  await b.until(() => told('kept-at-a') > 0 && told('kept-at-b') > 0, 'both are sent', 60_000);
  t.deepEqual([told('kept-at-a'), told('kept-at-b')], [1, 1]);
});

onServer('one panel sends to nodes what all of them edit, and the next one goes on', async (t) => {
  await using panels = await Panels.open();
  const node = await PanelProcess.start({
    env: { WEIR_ENGINE_INSTALL: 'off', WEIR_ENGINE_BIN: '/nonexistent/xray' },
  });
  t.teardown(() => node.dispose());
  const proxy = await CountingProxy.before(node.url);
  t.teardown(() => proxy.close());
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  const nodeId = await addNode(a, 'fra', { panel: node, port: proxy.port });
  const isOnline = async (panel: PanelProcess) =>
    // The other panel knows of the node within a second.
    (await panel.call<{ status?: string }>(`/panel/api/nodes/get/${nodeId}`)).body.obj.status === 'online';
  await a.until(() => isOnline(a), 'the node is online at the leader');
  await b.until(() => isOnline(b), 'and at the other panel, which does not ask it');
  const there = async () =>
    (await node.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email).sort();
  const added = await b.call<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'vless', listen: '127.0.0.1', port: await freePort(), remark: 'far', nodeId },
  });
  t.is(added.status, 200, added.text);
  t.regex(added.body.msg, /another panel of this database sends it/);
  const { id } = added.body.obj;
  await b.addClient('ann', [id]);
  await a.addClient('bob', [id]);
  await b.until(async () => (await there()).join() === 'ann,bob', 'the node has the clients of both');
  const refused = await b.call(`/panel/api/x/node-sync/${nodeId}/reconcile`, { method: 'POST' });
  t.like(refused, { status: 503, body: { code: 'CLUSTER_NOT_LEADING' } });

  await a.kill('SIGKILL');
  await b.addClient('cyd', [id]);
  await b.get('/panel/api/clients/del/ann', { body: {} });
  await b.until(async () => (await there()).join() === 'bob,cyd', 'the next leader sends', 60_000);
  // Each version of a record once; what was under way when the first one died would come again.
  t.deepEqual(proxy.records, [...new Set(proxy.records)]);
  const asked = proxy.calls.length;
  t.true(asked > 0);
  t.deepEqual([...b.faults], []);
});

onServer('a job that one panel takes is done by the panel that leads, each client once', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  const inbound = await a.addInbound({ remark: 'shared' });
  for (const email of ['ann', 'bob', 'cyd']) await a.addClient(email, [inbound], { totalGB: 1_000 });
  const { id } = await b.get<{ id: number }>('/panel/api/x/jobs', {
    body: { action: 'adjust', params: { addBytes: 500 }, filter: {} },
  });
  const job = () => b.get<{ state: string; changed: number }>(`/panel/api/x/jobs/${id}`);
  await b.until(async () => (await job()).state === 'done', 'the job is done');
  t.is((await job()).changed, 3);
  for (const email of ['ann', 'bob', 'cyd'])
    t.is((await b.get<{ totalGB: number }>(`/panel/api/clients/get/${email}`)).totalGB, 1_500);
});
