// Runs sidecar programs.
// Panel and program are killed while bytes flow: sessions go on where they can, and every byte is counted once.
import { setTimeout as sleep } from 'node:timers/promises';
import { testUnless } from '../../../test/harness/left-out.js';
import { FarEnd, linkOf } from './far-end.js';
import { whyNoTunnels } from './needs.js';
import {
  addTunnel,
  deviceUsage,
  type Got,
  MIB,
  poll,
  reportOf,
  SERVER_BLOCK,
  untilCounted,
  untilRunning,
  usageOf,
} from './tunnel-panel.js';
import { PUBLIC, World } from './world.js';

const testTunnel = testUnless(await whyNoTunnels());
const WEB = 8080;

interface Status {
  readonly pid: number;
  readonly state: string;
}

testTunnel(
  'kill -9 of the panel: the tunnel goes on, is adopted, and nothing is counted twice',
  async (t) => {
    const world = await World.make(t);
    await world.end('net', ['serve', WEB]);
    const first = await world.panel();
    const { id } = await addTunnel(first, { settings: { server: SERVER_BLOCK } });
    await first.addClient('ann', [id]);
    await first.addClient('bob', [id]);
    await untilRunning(first, id);
    const [{ pid = 0 } = {}] = await first.get<Status[]>('/panel/api/x/sidecars');
    await FarEnd.start(world, await world.addClient(1), await linkOf(first, 'ann'));
    t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, 2 * MIB])).bytes, 2 * MIB);
    await untilCounted(first, 'ann', ({ down }) => down >= 2 * MIB);
    const before = await deviceUsage(first, 'ann');

    const { result } = await world.watch('c1', ['pulse', PUBLIC, WEB, 200]);
    await first.kill('SIGKILL');
    t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, MIB])).bytes, MIB, 'it goes on without a panel');
    const second = await world.panel({}, first.dataDirectory);
    await untilRunning(second, id);
    const [{ pid: after = 0 } = {}] = await second.get<Status[]>('/panel/api/x/sidecars');
    t.is(after, pid, 'the process was adopted');
    const { failed } = JSON.parse(await result) as { failed: number };
    t.is(failed, 0, 'no connection of another client failed');
    const { peers } = await reportOf(second);
    t.deepEqual(peers.map(({ email }) => email).sort(), ['ann', 'bob']);

    const device = await deviceUsage(second, 'ann');
    t.true(device.down >= before.down + MIB, 'the device was not set again');
    await untilCounted(second, 'ann', ({ up, down }) => up >= device.up && down >= device.down);
    await sleep(6_000);
    await poll(second);
    const [counted, moved] = [await usageOf(second, 'ann'), await deviceUsage(second, 'ann')];
    // A keepalive may come in between.
    for (const way of ['up', 'down'] as const)
      t.true(Math.abs(counted[way] - moved[way]) < 1000, `each byte once: ${counted[way]} of ${moved[way]}`);
    await second.addClient('cid', [id]);
    t.is((await reportOf(second)).peers.length, 3, 'and it takes changes');
  },
);

testTunnel(
  'kill -9 of the program: it starts again, clients come back, and bytes are counted once',
  async (t) => {
    const world = await World.make(t);
    await world.end('net', ['serve', WEB]);
    const panel = await world.panel();
    const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
    await panel.addClient('ann', [id]);
    await untilRunning(panel, id);
    await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
    t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, 2 * MIB])).bytes, 2 * MIB);
    const before = await untilCounted(panel, 'ann', ({ down }) => down >= 2 * MIB);

    const [{ pid = 0 } = {}] = await panel.get<Status[]>('/panel/api/x/sidecars');
    process.kill(pid, 'SIGKILL');
    await panel.until(async () => {
      const [status] = await panel.get<Status[]>('/panel/api/x/sidecars');
      return status?.state === 'running' && status.pid !== pid;
    }, 'another process runs');
    const got = await world.ask<Got>('c1', ['get', PUBLIC, WEB, MIB, 60_000]);
    t.is(got.bytes, MIB, got.error);
    const device = await deviceUsage(panel, 'ann');
    const whole = await untilCounted(panel, 'ann', ({ down }) => down >= before.down + device.down);
    await sleep(6_000);
    await poll(panel);
    // Keepalives and handshakes may come in between.
    t.true((await usageOf(panel, 'ann')).down - whole.down < 1000, 'once');
    t.true(whole.down < before.down + 1.2 * MIB);
  },
);

testTunnel('a planned stop counts the last bytes, and leaves no rules behind', async (t) => {
  const world = await World.make(t);
  await world.end('net', ['serve', WEB]);
  const panel = await world.panel();
  const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
  await panel.addClient('ann', [id]);
  await untilRunning(panel, id);
  await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
  t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, 2 * MIB])).bytes, 2 * MIB);
  const device = await deviceUsage(panel, 'ann');
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
  t.is(await world.exec('server', 'nft', ['list', 'tables']), '');
  t.notRegex(await world.exec('server', 'ip', ['-o', 'link']), /awg\d/);
  const again = await world.panel({}, panel.dataDirectory);
  const usage = await usageOf(again, 'ann');
  t.true(usage.down >= device.down && usage.up >= device.up, JSON.stringify([usage, device]));
  t.true(usage.down < 2.2 * MIB);
});
