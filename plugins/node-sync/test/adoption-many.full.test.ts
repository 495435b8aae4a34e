// Very many clients of a node become clients of this panel in portions: other calls go in between.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { adoption, addSite, move } from './adoption-world.js';
import { client, downOf, SyncWorld } from './world.js';

const COUNT = Number(process.env['WEIR_TEST_CLIENTS'] ?? 10_000);
const AT_ONCE = 5_000;

test('thousands of clients are adopted while an admin edits', async (t) => {
  t.timeout(1_200_000);
  const world = await SyncWorld.start(t);
  const site = await world.site();
  const { panel } = world.central;
  const own = await panel.addInbound();
  const inbound = await site.panel.addInbound({ tag: 'big' });
  const names = Array.from({ length: COUNT }, (_, i) => `c${String(i).padStart(6, '0')}`);
  for (let from = 0; from < COUNT; from += AT_ONCE)
    await site.panel.get('/panel/api/clients/bulkCreate', {
      body: names
        .slice(from, from + AT_ONCE)
        .map((email) => ({ client: { email, totalGB: 1e12 }, inboundIds: [inbound] })),
    });
  const last = names.at(-1) ?? '';
  await move(site, 'big', last, 7_000);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const id = await addSite(panel, 'fra', site);
  let slowest = 0;
  let asked = 0;
  const tell = (what: string): void => {
    const { user, system } = process.cpuUsage(cpu);
    t.log(
      `${COUNT} clients, ${what}: ${Math.round(performance.now() - began)} ms, ${Math.round((user + system) / 1000)} ms of CPU of both panels, longest stall ${Math.round(delay.max / 1e6)} ms, slowest of ${asked} edits ${Math.round(slowest)} ms`,
    );
  };
  // Longer than `until` waits.
  const wait = async (done: () => Promise<boolean>): Promise<void> => {
    for (let isDone = false; !isDone; await sleep(50)) {
      const at = performance.now();
      await panel.get('/panel/api/clients/add', {
        body: { client: { email: `own${asked++}` }, inboundIds: [own] },
      });
      slowest = Math.max(slowest, performance.now() - at);
      isDone = await done();
    }
  };
  await wait(async () => (await adoption(panel, id)).adopted[0]?.isDone === true);
  tell('adopted');
  await wait(async () => (await world.pending(id)) === 0);
  tell('known to the node');
  delay.disable();
  t.is(await downOf(panel, last), 7_000);
  t.is((await client(panel, names[0] ?? '')).totalGB, 1e12);
  t.deepEqual((await adoption(panel, id)).left, []);
  t.deepEqual([...panel.faults, ...site.panel.faults], []);
});
