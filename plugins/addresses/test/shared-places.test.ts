// Runs on every database.
// Several panels with a core each: what the others know of addresses takes places of a limit, and costs a write only when a
// use begins or ends.
import test, { type ExecutionContext } from 'ava';
import { type Database, type Plugin, provide } from '../../../kernel/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { Panels } from '../../cluster/contract.js';
import cluster from '../../cluster/index.js';
import addresses from '../index.js';
import type { SharedPlaces } from '../shared-places.js';
import { World } from './world.js';

/** A panel that takes itself for one of several, without a lease and turns. */
const oneOfSeveral = (name: string, others: readonly string[]): Plugin => ({
  ...cluster,
  provides: () => [
    provide(Panels, { name, others, leads: true, count: 2, number: 1, hasOwnCore: true, startsAgain: false }),
  ],
});

interface Inside {
  readonly db: Database;
  readonly shared: SharedPlaces;
}
async function open(t: ExecutionContext, name: string, others: readonly string[], of?: World) {
  const inside = servicesOf<Inside>(addresses);
  const world = await World.boot({
    ...(of && { dataDirectory: of.panel.dataDirectory, clock: of.clock }),
    plugins: [inside.plugin, oneOfSeveral(name, others)],
  });
  t.teardown(() => world.panel[Symbol.asyncDispose]());
  return { world, inside: inside.services };
}
const rows = ({ db }: World) =>
  db.query<{ panel: string; network: string }>('SELECT panel, network FROM addresses_live ORDER BY network');
/** Statements that change what is shared, from now on. */
function changesOf({ db }: Inside): { count: number } {
  const changes = { count: 0 };
  const write = db.write.bind(db);
  db.write = ((work: Parameters<typeof write>[0]) =>
    write((tx) =>
      work({
        ...tx,
        run: async (statement, values) => {
          if (statement.includes('addresses_live')) changes.count += 1;
          await tx.run(statement, values);
        },
      }),
    )) as typeof db.write;
  return changes;
}

test('a use is written when it begins, and deleted when it ends; between them nothing is written', async (t) => {
  const { world, inside } = await open(t, 'a', ['b']);
  const [user, free] = [await world.client('one', { limitIp: 2 }), await world.client('free')];
  const changes = changesOf(inside);
  await world.connect(free, '198.51.100.9');
  await world.pass(5_000);
  t.deepEqual([changes.count, await rows(world)], [0, []], 'without a limit nobody asks');
  await world.connect(user, '198.51.100.1');
  await world.connect(user, '2001:db8::1');
  await world.pass(5_000);
  t.is(changes.count, 1, 'both in one statement');
  t.deepEqual(
    (await rows(world)).map(({ panel, network }) => `${panel} ${network}`),
    ['a 198.51.100.1', 'a 2001:db8:0:0::/64'],
  );
  for (let n = 0; n < 10; n++) {
    await world.connect(user, '198.51.100.1');
    await world.connect(user, '2001:db8::2');
    await world.pass(20_000);
  }
  t.is(changes.count, 1, 'it is the same use');
  world.leave('2001:db8::1');
  world.leave('2001:db8::2');
  for (let n = 0; n < 5; n++) {
    await world.connect(user, '198.51.100.1');
    await world.pass(30_000);
  }
  t.deepEqual(
    [changes.count, (await rows(world)).map(({ network }) => network)],
    [2, ['198.51.100.1']],
    'one has ended',
  );
  await world.panel.get('/panel/api/clients/update/one', { body: { limitIp: 0 } });
  await world.pass(5_000);
  t.deepEqual([changes.count, await rows(world)], [3, []], 'there is no limit any more');
});

test('a panel alone, or without a core of its own, shares nothing and has no job for it', async (t) => {
  for (const world of [
    (await open(t, 'a', [])).world,
    await World.boot().then((alone) => {
      t.teardown(() => alone.panel[Symbol.asyncDispose]());
      return alone;
    }),
  ]) {
    const user = await world.client('one', { limitIp: 2 });
    await world.connect(user, '198.51.100.1');
    await world.pass(60_000);
    t.deepEqual(await rows(world), []);
  }
  const plain = await World.boot();
  t.teardown(() => plain.panel[Symbol.asyncDispose]());
  const jobs = await plain.panel.get<{ plugin: string; job: string }[]>('/panel/api/system/jobs');
  t.deepEqual(
    jobs.filter(({ plugin }) => plugin === 'addresses').map(({ job }) => job),
    ['online', 'write', 'tidy', 'prune'],
  );
});

test('a place at another panel counts while that panel lives, and its first address is kept', async (t) => {
  const { world: b } = await open(t, 'b', ['a']);
  const user = await b.client('one', { limitIp: 1 });
  const other = await b.client('two', { limitIp: 1 });
  await b.connect(user, '198.51.100.1');
  await b.connect(other, '198.51.100.1');
  await b.pass(5_000);
  await b.panel.stop();
  // What a panel has seen is in a table of all of them; here only the uses are to count.
  await editDatabase(b.panel.dataDirectory, ['DELETE FROM addresses_seen']);

  const { world: a, inside } = await open(t, 'a', ['b'], b);
  await a.connect(user, '198.51.100.2');
  t.deepEqual(
    a.closed.map(({ address }) => address),
    ['198.51.100.2'],
  );
  t.like(a.exceeded[0], { email: 'one', kept: ['198.51.100.1'] });
  await a.pass(1_000);
  await a.connect(user, '198.51.100.1');
  t.is(a.closed.length, 1, 'the same address at both is one place, since its beginning at the other one');
  await a.settings({ ipLimitAllowlist: '198.51.100.1' });
  await a.connect(other, '198.51.100.3');
  t.is(a.closed.length, 1, 'an address of the allowlist takes no place');
  await a.settings({ ipLimitAllowlist: '' });
  await a.panel.stop();

  const { world: again } = await open(t, 'a', ['c'], b);
  await again.connect(other, '198.51.100.3');
  t.deepEqual(again.closed, [], 'b does not live');
  await again.pass(60_000);
  t.deepEqual(
    (await rows(again)).filter(({ panel }) => panel === 'b'),
    [],
    'and is forgotten, or it would count until it tells its own when it comes back',
  );
  t.true(inside.shared.isOn);
});

test('of two places since the same second, each panel keeps the same one', async (t) => {
  const { world: b } = await open(t, 'b', ['a']);
  const [one, two] = [await b.client('one', { limitIp: 1 }), await b.client('two', { limitIp: 1 })];
  for (const user of [one, two]) await b.connect(user, '198.51.100.5');
  await b.pass(5_000);
  await b.panel.stop();
  await editDatabase(b.panel.dataDirectory, [
    'DELETE FROM addresses_seen',
    `UPDATE addresses_live SET since = ${b.clock.now()}`,
  ]);
  const { world: a } = await open(t, 'a', ['b'], b);
  await a.connect(one, '198.51.100.9');
  await a.connect(two, '198.51.100.3');
  t.deepEqual(
    a.closed.map(({ address }) => address),
    ['198.51.100.9'],
  );
});

test('what ends while no other panel lives is not told to one that comes later', async (t) => {
  const others = ['b'];
  const { world, inside } = await open(t, 'a', others);
  const user = await world.client('one', { limitIp: 3 });
  for (const address of ['198.51.100.1', '198.51.100.2']) await world.connect(user, address);
  await world.pass(5_000);
  t.is((await rows(world)).length, 2);
  others.length = 0;
  world.leave('198.51.100.1');
  await world.connect(user, '198.51.100.3');
  for (let n = 0; n < 5; n++) {
    await world.connect(user, '198.51.100.2');
    await world.pass(30_000);
  }
  const told = async () => (await rows(world)).map(({ network }) => network);
  t.deepEqual(await told(), ['198.51.100.2'], 'nobody is told what begins');
  const changes = changesOf(inside);
  await world.connect(user, '198.51.100.3');
  await world.pass(10_000);
  t.is(changes.count, 0);
  others.push('c');
  await world.pass(5_000);
  t.deepEqual(await told(), ['198.51.100.2', '198.51.100.3'], 'who comes is told what there is');
});

test('what another panel has seen is not told by one that starts, and a use keeps its beginning', async (t) => {
  const { world: b } = await open(t, 'b', ['a']);
  const user = await b.client('one', { limitIp: 3 });
  const places = async (world: World) =>
    (
      await world.db.query<{ panel: string; network: string; since: number }>(
        'SELECT panel, network, since FROM addresses_live ORDER BY panel, network',
      )
    ).map(({ panel, network, since }) => [panel, network, Number(since)]);
  const first = b.clock.now();
  await b.connect(user, '198.51.100.1');
  await b.connect(user, '198.51.100.2');
  await b.pass(20_000);
  const told = [
    ['b', '198.51.100.1', first],
    ['b', '198.51.100.2', first],
  ];
  t.deepEqual(await places(b), told);
  await b.panel.stop();

  const { world: a } = await open(t, 'a', ['b'], b);
  const start = a.clock.now();
  await a.pass(5_000);
  t.deepEqual(await places(a), told, 'it has seen nothing');
  await a.pass(30_000);
  await a.connect(user, '198.51.100.1');
  await a.pass(5_000);
  t.deepEqual(await places(a), [['a', '198.51.100.1', start], ...told], 'its use is no older than the panel');
  await a.panel.stop();

  const { world: again } = await open(t, 'b', ['a'], b);
  await again.connect(user, '198.51.100.2');
  await again.pass(5_000);
  t.deepEqual((await places(again)).slice(1), told, 'its own uses go on');
});

test('a client that is deleted takes its places along', async (t) => {
  const { world } = await open(t, 'a', ['b']);
  const user = await world.client('one', { limitIp: 2 });
  await world.connect(user, '198.51.100.1');
  await world.pass(5_000);
  t.is((await rows(world)).length, 1);
  await world.panel.get('/panel/api/clients/del/one', { body: {} });
  await world.pass(5_000);
  t.deepEqual(await rows(world), []);
  t.deepEqual(world.panel.faults, []);
});
