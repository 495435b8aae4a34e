// Runs on every database.
// Each byte of an outbound counts once, whatever becomes of the core, the panel and the database.
import test from 'ava';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { openWorld } from './world.js';

for (const [where, name] of [
  ['alone', ''],
  ['one of several', 'a'],
] as const) {
  test(`${where}: counts what moved since the last reading; a new core begins at zero`, async (t) => {
    const { engine, panel, poll, bytes, list } = await openWorld(undefined, undefined, name);
    await using _ = panel;
    t.deepEqual(await list(), []);
    engine.moveOut('direct', 1, 100);
    engine.moveOut('idle', 0, 0);
    await poll();
    engine.moveOut('direct', 2, 200);
    engine.moveOut('Direct', 7, 70);
    await poll();
    await poll();
    t.deepEqual(await bytes(), { direct: [3, 300], Direct: [7, 70] }, 'tags differ by case');
    const [first, other] = await list();
    t.not(first?.id, other?.id);
    t.like(first, { tag: 'direct', total: 303 });
    t.true(Number.isInteger(first?.id));

    engine.moveOut('direct', 4, 400);
    await engine.replace('second');
    t.deepEqual(await bytes(), { direct: [7, 700], Direct: [7, 70] }, 'the last reading of a planned stop');
    engine.moveOut('direct', 1, 5);
    await poll();
    engine.moveOut('direct', 100, 100);
    engine.restart('third');
    engine.moveOut('direct', 1, 1000);
    await poll();
    t.deepEqual((await bytes())['direct'], [9, 1705], 'a crash costs what moved since the last poll');
    engine.outbounds.set('direct', { up: 3, down: 10 });
    await poll();
    t.deepEqual((await bytes())['direct'], [12, 1715], 'counters that fell in the same core count whole');
    t.deepEqual(panel.faults, []);
  });

  test(`${where}: while the database fails, bytes of all cores wait and count once`, async (t) => {
    const { engine, panel, poll, fail, work, bytes, reset } = await openWorld(undefined, undefined, name);
    await using _ = panel;
    engine.moveOut('direct', 1, 100);
    await poll();
    fail();
    engine.moveOut('direct', 2, 200);
    engine.moveOut('new', 1, 1);
    await poll();
    engine.moveOut('direct', 4, 400);
    await engine.replace('second');
    engine.moveOut('direct', 8, 800);
    await poll();
    await poll();
    engine.restart('third');
    engine.moveOut('direct', 16, 1600);
    t.is((await reset('-alltags-')).status, 503, 'it would not reach the bytes that wait');
    t.deepEqual(await bytes(), { direct: [1, 100] });
    work();
    await poll();
    t.deepEqual(await bytes(), { direct: [31, 3100], new: [1, 1] });
    await poll();
    t.deepEqual(await bytes(), { direct: [31, 3100], new: [1, 1] });
    t.deepEqual(panel.faults, []);
  });

  test(`${where}: counts nothing twice when the database has the bytes and its answer was lost`, async (t) => {
    const { engine, panel, poll, loseAnswer, bytes } = await openWorld(undefined, undefined, name);
    await using _ = panel;
    engine.moveOut('direct', 1, 100);
    loseAnswer();
    await poll();
    engine.moveOut('direct', 2, 200);
    await poll();
    t.deepEqual(await bytes(), { direct: [3, 300] });
    engine.moveOut('direct', 4, 400);
    loseAnswer();
    await poll();
    engine.restart('second');
    await poll();
    t.deepEqual(await bytes(), { direct: [7, 700] });
  });
}

test('the next panel goes on from the stored reading', async (t) => {
  const first = await openWorld();
  t.teardown(() => first.panel.stop());
  first.engine.moveOut('direct', 1, 100);
  await first.poll();
  const [before] = await first.list();
  await first.panel.stop();
  first.engine.moveOut('direct', 2, 200);
  const second = await openWorld(first.engine, first.panel.dataDirectory);
  await using _ = second.panel;
  t.deepEqual(await second.list(), [before]);
  await second.poll();
  t.deepEqual(await second.bytes(), { direct: [3, 300] });
  await second.panel.stop();
  // A database from a backup, and the same core: what it counted since counts again with its reading, no more and no less.
  await editDatabase(first.panel.dataDirectory, [
    'UPDATE outbound_traffic SET up = 1, down = 100, read_up = 1, read_down = 100',
  ]);
  const third = await openWorld(first.engine, first.panel.dataDirectory);
  await using _third = third.panel;
  await third.poll();
  t.deepEqual(await third.bytes(), { direct: [3, 300] });
});

test('a core that does not answer is reported once, and loses nothing', async (t) => {
  const { engine, panel, poll, bytes } = await openWorld();
  await using _ = panel;
  engine.moveOut('direct', 1, 1);
  engine.running = false;
  await poll();
  t.deepEqual(await bytes(), {});
  engine.running = true;
  await poll();
  t.deepEqual(await bytes(), { direct: [1, 1] });
});
