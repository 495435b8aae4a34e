// Failures of the database between the steps, by triggers of SQLite.
import test from 'ava';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { client, openManaged } from './world.js';

test('a poll that is rolled back tells nothing, and the next one all', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  await editDatabase(world.dataDirectory, [
    `CREATE TRIGGER broken BEFORE INSERT ON node_agent_journal BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  await world.move(1, 0, 100);
  t.deepEqual((await world.usage())[0]?.users, []);
  t.is((await world.client('c1')).traffic.down, 0, 'both or neither');
  await editDatabase(world.dataDirectory, ['DROP TRIGGER broken']);
  await world.move(1, 0, 5);
  t.deepEqual(
    (await world.usage())[0]?.users.map(({ down }) => down),
    [105],
  );
});

test('a move that stops halfway goes on where it stopped, and adds nothing twice', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  await world.move(1, 0, 100);
  await editDatabase(world.dataDirectory, [
    `CREATE TRIGGER broken BEFORE INSERT ON node_agent_usage BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  await t.throwsAsync(world.usage());
  await world.move(1, 0, 11);
  await t.throwsAsync(world.usage());
  await editDatabase(world.dataDirectory, ['DROP TRIGGER broken']);
  t.deepEqual(
    (await world.usage())[0]?.users.map(({ down }) => down),
    [111],
  );
});

test('a client and its record are stored together or not at all', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  await editDatabase(world.dataDirectory, [
    `CREATE TRIGGER broken BEFORE INSERT ON node_agent_records WHEN NEW.id > 10 BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  await t.throwsAsync(world.apply(client(11, 1)));
  t.deepEqual(await world.emails(), ['c1', 'c2']);
  await editDatabase(world.dataDirectory, ['DROP TRIGGER broken']);
  t.true((await world.apply(client(11, 1)))[0]?.ok);
  t.deepEqual(await world.emails(), ['c1', 'c11', 'c2']);
});
