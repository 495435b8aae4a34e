// Runs on every database in test:full.
// A core for each panel: all serve the same clients, and every byte counts once, whoever leads and whichever panel dies.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { connect, MIB, openServer, usageOf } from '../../../test/engine/user.js';
import { connected, countedBy, downloads, inARow, opened, own, SEVERAL_POLLS_MS } from './own-cores.js';
import { leads, Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;

/** Bytes that each panel's core has counted. */
const perCore = (panels: Panels) =>
  panels.query<{ stream: string; down: number }>(
    'SELECT stream, SUM(down) AS down FROM traffic_streams GROUP BY stream ORDER BY stream',
  );

onServer('two cores serve a client, each byte counts once, and its quota cuts it in both', async (t) => {
  await using panels = await Panels.open();
  const { a, b, server } = await opened(t, panels);
  const inbound = await b.addInbound();
  await a.addClient('ann', [inbound]);
  const user = await connected(t, a, 'ann', server);
  const came = await downloads(user, 16, MIB);
  t.is(came, 16 * MIB);
  for (const panel of [a, b]) {
    const down = await countedBy(panel, 'ann', came);
    t.true(down <= came * 1.02, `${down} bytes are counted of ${came}`);
  }
  const streams = await perCore(panels);
  t.deepEqual(
    streams.map(({ stream }) => stream),
    ['core/a', 'core/b'],
    'both have served',
  );
  for (const panel of [a, b])
    await panel.until(async () => {
      const online = await panel.get<string[]>('/panel/api/clients/onlines', { method: 'POST' });
      return online.includes('ann');
    }, 'the client is online in both');

  await b.get('/panel/api/clients/update/ann', { body: { totalGB: 20 * MIB } });
  await downloads(user, 6, MIB).catch(() => 0);
  await a.until(async () => !(await usageOf(a, 'ann')).enable, 'the quota is over', SEVERAL_POLLS_MS);
  await inARow(a, 'no core serves the client', async () => !(await user.served()));
  await b.get('/panel/api/clients/update/ann', { body: { expiryTime: Date.now() + 1000, reset: 30 } });
  await inARow(a, 'its renewal lets it into both again', () => user.served());
  t.pass();
});

onServer(
  'a panel is killed, another leads, and the core that it left goes on without a byte counted twice',
  async (t) => {
    await using panels = await Panels.open();
    const { a, b, server } = await opened(t, panels);
    const inbound = await a.addInbound();
    await a.addClient('ann', [inbound]);
    const user = await connected(t, a, 'ann', server);
    let came = await downloads(user, 12, MIB);
    await countedBy(a, 'ann', came);
    t.true(leads(a));
    const core = await a.corePid();
    await a.kill('SIGKILL');
    came += await downloads(user, 12, MIB);
    await b.until(() => leads(b), 'the other panel leads', 60_000);
    const again = await panels.start('a', own('standard'), { dataDirectory: a.dataDirectory });
    t.is(await again.corePid(), core, 'the panel has adopted its core');
    came += await downloads(user, 12, MIB);
    const down = await countedBy(again, 'ann', came);
    t.true(down <= came * 1.02, `${down} bytes are counted of ${came}`);
    await b.kill('SIGTERM');
    await again.until(() => leads(again), 'the first panel leads again', 60_000);
    const after = await downloads(user, 4, MIB);
    const all = await countedBy(again, 'ann', came + after);
    t.true(all <= (came + after) * 1.02, `${all} bytes are counted of ${came + after}`);
  },
);

onServer(
  'the core that a killed leader has left stops when another panel leads, and its bytes are counted',
  async (t) => {
    await using panels = await Panels.open();
    const ofLeader = { ...own('standard'), WEIR_CLUSTER_CORE: 'leader' };
    const [a, b] = [await panels.start('a', ofLeader), await panels.start('b', ofLeader)];
    await a.until(async () => (await a.corePid()) !== undefined, 'the leader has a core');
    const server = await openServer(t);
    await a.addClient('ann', [await a.addInbound()]);
    const user = await connect(t, a, 'ann', server);
    await a.kill('SIGKILL');
    const came = await downloads(user, 4, MIB);
    await b.until(() => leads(b), 'the other panel leads', 60_000);
    const again = await panels.start('a', ofLeader, { dataDirectory: a.dataDirectory });
    t.is(await again.corePid(), undefined);
    const down = await countedBy(b, 'ann', came);
    t.true(down <= came * 1.02, `${down} bytes are counted of ${came}`);
  },
);

onServer(
  'a client that an undo brings back in one panel counts nothing again in the other core',
  async (t) => {
    await using panels = await Panels.open();
    const { a, b, server } = await opened(t, panels);
    const inbound = await a.addInbound();
    await a.addClient('ann', [inbound]);
    const user = await connected(t, a, 'ann', server);
    const came = await downloads(user, 16, MIB);
    await countedBy(b, 'ann', came);
    t.deepEqual((await perCore(panels)).length, 2, 'both have served');
    await a.get('/panel/api/clients/del/ann', { body: {} });
    const [deletion] = await a.get<{ entry: number }[]>('/panel/api/x/audit/changes?area=client&limit=1');
    await a.get(`/panel/api/x/audit/${deletion?.entry}/undo`, { method: 'POST' });
    const back = await usageOf(a, 'ann');
    await inARow(b, 'each core serves the client again', () => user.served().catch(() => false));
    // One byte more through each core: a poll of each has read the counters of before.
    const more = await downloads(user, 8, 1000);
    const down = await countedBy(b, 'ann', back.down + more);
    t.true(down <= (back.down + more) * 1.02, `${down} bytes are counted, ${back.down} before`);
  },
);

onServer('a panel that cannot follow the others starts again, and its own core goes on', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a', own('minimal')), await panels.start('b', own('minimal'))];
  for (const panel of [a, b])
    await panel.until(async () => (await panel.corePid()) !== undefined, 'each panel has a core');
  const core = await b.corePid();
  b.signal('SIGSTOP');
  await a.addInbound({ remark: 'first' });
  await panels.query('DELETE FROM cluster_changes');
  b.signal('SIGCONT');
  await b.until(() => b.starts === 2, 'it starts again', 60_000);
  t.is(await b.corePid(), core, 'nobody had to connect again');
  await b.kill('SIGTERM');
  t.is(await b.corePid(), undefined, 'a stop ends the core');
});

onServer(
  'a panel that was alone, one of several and alone again counts the bytes of its core once',
  async (t) => {
    await using panels = await Panels.open();
    const alone = { ...own('standard'), WEIR_CLUSTER: '', WEIR_CLUSTER_CORE: '' };
    let panel = await panels.start('a', alone);
    await panel.until(async () => (await panel.corePid()) !== undefined, 'the panel has a core');
    const core = await panel.corePid();
    const server = await openServer(t);
    await panel.addClient('ann', [await panel.addInbound()]);
    const user = await connect(t, panel, 'ann', server);
    let came = 0;
    for (const env of [undefined, own('standard'), alone, own('standard')]) {
      if (env) {
        await panel.kill('SIGKILL');
        panel = await panels.start('a', env, { dataDirectory: panel.dataDirectory });
      }
      t.is(await panel.corePid(), core, 'the core goes on');
      came += await downloads(user, 3, MIB);
      const down = await countedBy(panel, 'ann', came);
      t.true(down <= came * 1.02, `${down} bytes are counted of ${came}`);
    }
  },
);
