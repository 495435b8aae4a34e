// A look at a change: what it would do, and how often the core is asked for that.
import test from 'ava';
import { CoreUnreachable } from '../driver.js';
import { World } from './world.js';

async function boot() {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.driver.news();
  const look = (...parts: Parameters<typeof world.supervisor.preview>[1]) =>
    world.supervisor.preview('other', parts);
  return { world, look };
}

test('an inbound alone is a change while the core runs', async (t) => {
  const { world } = await boot();
  t.like(await world.supervisor.pending(), { change: 'none' });
  world.inbound(2);
  t.like(await world.supervisor.pending(), { change: 'hot', inbounds: { put: ['in-2'], remove: [] } });
});

test('what cannot run is not tested, and a test that takes too long is not repeated', async (t) => {
  const { world, look } = await boot();
  t.is((await look({ rule: { outboundTag: 'gone' } })).problems.length, 1);
  t.deepEqual(world.driver.news(), []);
  world.driver.refusesOutboundsLike = 'slow';
  const parts = ['a', 'b', 'slow'].map((tag) => ({ outbound: { tag, protocol: 'freedom' } }));
  const { problems } = await look(...parts);
  t.is(problems.length, 1);
  t.regex(problems[0]?.reason ?? '', /no result within/);
  t.deepEqual(world.driver.news(), ['test']);
});

test('a restart ends the connections of all users; a core that does not answer is no reason to say nothing', async (t) => {
  const { world, look } = await boot();
  const section = { section: 'policy', value: { levels: {} } } as const;
  let fails: Error | undefined;
  Object.assign(world.driver, {
    online: async (pick: (names: readonly string[]) => readonly string[]) => {
      if (fails) throw fails;
      pick(['i1.c1', 'i9.c2']);
      return [];
    },
  });
  t.like(await look(section), { change: 'restart', connections: { end: 'all', users: 2 } });
  fails = new CoreUnreachable('no core is running');
  t.like(await look(section), { change: 'restart', connections: { end: 'all', users: 0 }, tested: true });
  fails = new Error('broken');
  await t.throwsAsync(look(section), { message: 'broken' });
});
