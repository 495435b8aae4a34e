// Runs on every database.
// Readings of each panel's core are its own: none is counted twice when others count, or when a panel joins or leaves them.
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { FakeEngine } from '../../../test/harness/index.js';
import { openWorld } from './world.js';

/** What has been counted once the panel of this name, beside this core, has polled twice. */
async function bytesAt(dataDirectory: string, engine: FakeEngine, name: string) {
  const world = await openWorld(engine, dataDirectory, name);
  await world.poll();
  await world.poll();
  const bytes = await world.bytes();
  await world.panel.stop();
  return bytes;
}

test('panels that follow one another on a database count each core from where it was', async (t) => {
  const [first, second] = [new FakeEngine(), new FakeEngine()];
  first.restart('core of a');
  second.restart('core of b');
  const alone = await openWorld(first);
  t.teardown(() => alone.panel.stop());
  const { dataDirectory } = alone.panel;
  first.moveOut('direct', 1, 100);
  await alone.poll();
  await alone.panel.stop();

  const counts = async (engine: FakeEngine, name: string) =>
    (await bytesAt(dataDirectory, engine, name))['direct'];
  first.moveOut('direct', 2, 200);
  t.deepEqual(await counts(first, 'a'), [3, 300], 'it is one of several now');
  second.moveOut('direct', 10, 1000);
  t.deepEqual(await counts(second, 'b'), [13, 1300], 'another core');
  first.moveOut('direct', 4, 400);
  t.deepEqual(await counts(first, 'a'), [17, 1700]);
  first.moveOut('direct', 8, 800);
  t.deepEqual(await counts(first, ''), [25, 2500], 'alone again');
  first.moveOut('direct', 16, 1600);
  t.deepEqual(await counts(first, 'a'), [41, 4100], 'and one of several again');
  second.moveOut('direct', 20, 2000);
  t.deepEqual(await counts(second, 'b'), [61, 6100]);
  first.restart('next core of a');
  first.moveOut('direct', 100, 1);
  t.deepEqual(await counts(first, 'a'), [161, 6101]);

  const last = await openWorld(first, dataDirectory, 'a');
  await using _ = last.panel;
  await last.reset('direct');
  t.deepEqual(await last.bytes(), { direct: [0, 0] });
  await last.panel.stop();
  t.deepEqual(await counts(second, 'b'), [0, 0], 'a reset of one panel holds for the readings of all');
});

test('an outbound that is pruned in one of several panels does not come back with what was counted', async (t) => {
  const [first, second] = [new FakeEngine(), new FakeEngine()];
  first.restart('core of a');
  second.restart('core of b');
  const a = await openWorld(first, undefined, 'a');
  t.teardown(() => a.panel.stop());
  first.outboundTags = second.outboundTags = [];
  first.moveOut('old', 1, 100);
  await a.poll();
  await a.panel.stop();
  const b = await openWorld(second, a.panel.dataDirectory, 'b');
  t.teardown(() => b.panel.stop());
  second.moveOut('old', 2, 200);
  t.deepEqual(await b.prune(), ['old']);
  await b.poll();
  t.deepEqual(await b.bytes(), {});
  second.moveOut('old', 1, 1);
  await b.poll();
  t.deepEqual(await b.bytes(), { old: [1, 1] }, 'what moves after it is shown');
  await b.panel.stop();
  await using again = (await openWorld(first, a.panel.dataDirectory, 'a')).panel;
  t.like((await again.get<object[]>('/panel/api/engine/getOutboundsTraffic'))[0], { up: 1, down: 1 });
});

test('one that a panel alone has pruned keeps its reading until that panel has counted its core again', async (t) => {
  const [first, second] = [new FakeEngine(), new FakeEngine()];
  first.restart('core of a');
  second.restart('core of b');
  first.outboundTags = second.outboundTags = [];
  const alone = await openWorld(first);
  t.teardown(() => alone.panel.stop());
  const { dataDirectory } = alone.panel;
  first.moveOut('old', 1, 100);
  await alone.poll();
  t.deepEqual(await alone.prune(), ['old']);
  await alone.panel.stop();
  t.deepEqual(await bytesAt(dataDirectory, second, 'b'), {});
  t.deepEqual(await bytesAt(dataDirectory, first, 'a'), {}, 'what was counted before does not come back');
  first.moveOut('old', 2, 20);
  t.deepEqual(await bytesAt(dataDirectory, first, 'a'), { old: [2, 20] });
});

test('a core that was counted by a panel alone is counted on, also when another panel has counted first', async (t) => {
  const [first, second] = [new FakeEngine(), new FakeEngine()];
  first.restart('core of a');
  second.restart('core of b');
  const alone = await openWorld(first);
  t.teardown(() => alone.panel.stop());
  first.moveOut('direct', 1, 100);
  await alone.poll();
  await alone.panel.stop();
  const b = await openWorld(second, alone.panel.dataDirectory, 'b');
  t.teardown(() => b.panel.stop());
  second.moveOut('direct', 2, 200);
  await b.poll();
  await b.panel.stop();
  const a = await openWorld(first, alone.panel.dataDirectory, 'a');
  await using _ = a.panel;
  first.moveOut('direct', 4, 400);
  await a.poll();
  t.deepEqual(await a.bytes(), { direct: [7, 700] });
});

test('readings of a core that is over go, also those of outbounds that the next one does not have', async (t) => {
  const engine = new FakeEngine();
  engine.restart('one');
  const world = await openWorld(engine, undefined, 'a');
  await using _ = world.panel;
  for (const tag of ['direct', 'old']) engine.moveOut(tag, 1, 100);
  await world.poll();
  engine.restart('two');
  engine.moveOut('direct', 1, 10);
  await world.poll();
  const rows = await withDatabase(world.panel.dataDirectory, (database) =>
    database.query('SELECT tag, epoch FROM outbound_readings', { type: QueryTypes.SELECT }),
  );
  t.deepEqual(rows, [{ tag: 'direct', epoch: 'two' }]);
  t.deepEqual(await world.bytes(), { direct: [2, 110], old: [1, 100] });
});
