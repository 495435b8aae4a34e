// Runs sidecar programs.
// Changes of a client while bytes flow through its tunnel, on the real amneziawg-go: its counters begin at zero, and no byte
// is lost or counted twice over it.
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
  SERVER_BLOCK,
  untilRunning,
  usageOf,
} from './tunnel-panel.js';
import { PUBLIC, World } from './world.js';

const testTunnel = testUnless(await whyNoTunnels());
const WEB = 8080;
const CHANGES = 3;

testTunnel('a peer that changes again and again while it moves bytes', async (t) => {
  const world = await World.make(t);
  await world.end('net', ['serve', WEB]);
  const panel = await world.panel();
  const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
  await panel.addClient('ann', [id]);
  await untilRunning(panel, id);
  const ann = await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
  t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, MIB])).bytes, MIB);
  await poll(panel);
  for (let i = 1; i <= CHANGES; i++) {
    const { child } = await world.end('c1', ['flow', PUBLIC, WEB, 500 * MIB, 30_000]);
    await sleep(700 + i * 130);
    await panel.get('/panel/api/clients/update/ann', { body: { keepAlive: i } });
    t.true((await deviceUsage(panel, 'ann')).down < MIB, 'its counter in the device began at zero');
    child.kill('SIGKILL');
    // Its end notices within seconds that its session is over.
    await panel.until(
      async () => (await world.ask<Got>('c1', ['get', PUBLIC, WEB, 1, 3000])).bytes === 1,
      'it is back',
      40_000,
    );
  }
  await sleep(1000);
  const [far] = [await ann.counters()];
  await poll(panel);
  const counted = await usageOf(panel, 'ann');
  t.log(counted, far, counted.down - far.down, far.up - counted.up);
  t.true(counted.down >= far.down, `${far.down - counted.down} bytes were received and not counted`);
  t.true(counted.down < far.down * 1.05 + MIB, 'none twice');
  t.true(counted.up <= far.up + 2000);
});
