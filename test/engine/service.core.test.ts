// The core stopped, restarted and looked at over the API.
import test from 'ava';
import { connect, engineOf, MIB, openPanel, openServer, usageOf } from './user.js';

test('the core is stopped and started over the API, with every byte counted', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const id = await panel.addInbound();
  const client = await panel.addClient('a', [id]);
  const user = await connect(t, panel, 'a', server);
  t.is(await user.download(MIB), MIB);
  await panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
  t.is((await engineOf(panel)).state, 'stop');
  t.true(
    (await usageOf(panel, 'a')).down >= MIB,
    'what moved since the last poll was counted before the stop',
  );
  t.false(await user.served());
  // Saved all the same; the core hears of it when it starts.
  await panel.addClient('b', [id]);

  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  const first = await panel.corePid();
  t.is((await engineOf(panel)).state, 'running');
  t.true(await user.served());
  t.true(await (await connect(t, panel, 'b', server)).served());
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  t.not(await panel.corePid(), first);
  t.true(await user.served());

  const config = await panel.get<{ inbounds: { tag: string; settings: { clients?: { id: string }[] } }[] }>(
    '/panel/api/server/getConfigJson',
  );
  const inbound = config.inbounds.find(({ settings }) => settings.clients);
  t.is(inbound?.settings.clients?.length, 2);
  t.true(inbound?.settings.clients?.some((shown) => shown.id === client.uuid));
});

test('without a core these say so', async (t) => {
  const panel = await openPanel(t, { env: { WEIR_ENGINE_BIN: '/nowhere/xray' } });
  for (const [path, method] of [
    ['restartEngineService', 'POST'],
    ['getConfigJson', 'GET'],
  ] as const) {
    const { status, body } = await panel.call(`/panel/api/server/${path}`, { method });
    t.deepEqual([status, body.code], [503, 'ENGINE_NO_CORE']);
    t.regex(body.msg, /nowhere\/xray/);
  }
});
