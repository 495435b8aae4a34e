// The core stops, restarts and crashes while the panel runs.
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'ava';
import { freePort } from '../harness/api.js';
import { agrees } from './agrees.js';
import { connect, counted, engineOf, MIB, openPanel, openServer, poll, usageOf, within } from './user.js';

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
  // The core gets this client when it starts.
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

test('a core that is killed is started again; counters continue and never go back', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  await panel.addClient('a', [await panel.addInbound()]);
  const user = await connect(t, panel, 'a', server);
  const core = await panel.corePid();
  await user.download(4 * MIB);
  const before = await counted(panel, 'a', 4 * MIB);

  process.kill(core ?? 0, 'SIGKILL');
  let most = before;
  const backwards: number[] = [];
  const look = async (): Promise<void> => {
    const { down } = await usageOf(panel, 'a');
    if (down < most) backwards.push(down);
    most = Math.max(most, down);
  };
  const STOPPED = 'the core exited; bytes since the last poll are not counted';
  await panel.until(async () => {
    await look();
    return panel.said(STOPPED) !== undefined;
  }, 'the panel notices');
  t.regex(String(panel.said(STOPPED)?.['reason']), /SIGKILL/);
  await panel.until(async () => {
    await look();
    return (await engineOf(panel)).state === 'running';
  }, 'a new core runs');
  t.not(await panel.corePid(), core);

  // More bytes than the old core had counted: taken for the old core's, they would count as the difference alone.
  const more = 6 * MIB;
  await user.download(more);
  await panel.until(async () => {
    await poll(panel);
    await look();
    return most >= before + more;
  }, 'the new core is counted on top');
  t.deepEqual(backwards, []);
  t.true(within(most - before, more), `${most - before} of ${more}`);
  await agrees(t, panel);
});

test('a port that another program took while no panel ran affects no other inbound, and heals', async (t) => {
  const server = await openServer(t);
  const first = await openPanel(t);
  const port = await freePort();
  const inboundIds = [await first.addInbound(), await first.addInbound({ port }), await first.addInbound()];
  await first.addClient('a', inboundIds);
  const users = await Promise.all([0, 1, 2].map((position) => connect(t, first, 'a', server, position)));
  await first.stop();
  const holder = createServer((socket) => socket.destroy()).listen({
    port,
    host: '127.0.0.1',
    exclusive: true,
  });
  t.teardown(() => holder.close());
  await once(holder, 'listening');

  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  t.is(second.ready.engine, 'running');
  t.deepEqual(await Promise.all(users.map((user) => user.served())), [true, false, true]);
  const { state, errorMsg } = await engineOf(second);
  t.is(state, 'running');
  t.regex(errorMsg, new RegExp(`in-${port}-tcp: .*address already in use`));
  const core = await second.corePid();

  holder.close();
  await second.until(
    async () => (await users[1]?.served()) ?? false,
    'the inbound is put once the port is free',
  );
  t.is((await engineOf(second)).errorMsg, '');
  t.is(await second.corePid(), core);
});
