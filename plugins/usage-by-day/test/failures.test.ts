// Failures of the database between the steps, by triggers of SQLite.
import test from 'ava';
import { definePlugin, kernelErrors, stage, tap } from '../../../kernel/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { duringTrafficCount } from '../../traffic/contract.js';
import { openWorld, used } from './world.js';

const HOUR = 3_600_000;

test('bytes that could not be stored come with the next poll, once; a failing journal does not keep them', async (t) => {
  const { engine, panel, poll, minute, inboundId, days } = await openWorld();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  const total = async () => (await panel.get<{ down: number }>('/panel/api/clients/traffic/ann')).down;
  await editDatabase(panel.dataDirectory, [
    `CREATE TRIGGER broken BEFORE INSERT ON traffic_readings BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  engine.move(inboundId, id, 0, 5);
  await poll();
  await minute();
  t.deepEqual([await total(), used(await days('ann'))], [0, []]);
  await editDatabase(panel.dataDirectory, [
    'DROP TRIGGER broken',
    `CREATE TRIGGER broken BEFORE INSERT ON usage_by_day_journal BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  await poll();
  t.is(await total(), 0, 'both or neither');
  await editDatabase(panel.dataDirectory, ['DROP TRIGGER broken']);
  await minute();
  await minute();
  t.is(await total(), 5);
  t.deepEqual(used(await days('ann')), [{ day: '2026-01-15', up: 0, down: 5 }]);
});

test('a move that stops halfway goes on where it stopped, and two at once add nothing twice', async (t) => {
  const { engine, panel, minute, settle, inboundId, days, clock } = await openWorld();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  engine.move(inboundId, id, 0, 100);
  await editDatabase(panel.dataDirectory, [
    `CREATE TRIGGER broken BEFORE INSERT ON usage_by_day BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ]);
  await minute();
  engine.move(inboundId, id, 0, 11);
  await minute();
  t.deepEqual(used(await days('ann')), []);
  await editDatabase(panel.dataDirectory, ['DROP TRIGGER broken']);
  await minute();
  t.deepEqual(used(await days('ann')), [{ day: '2026-01-15', up: 0, down: 111 }]);
  // The hourly job moves too, in the same moment as that of the minute.
  clock.jump(HOUR - (clock.now() % HOUR) - 10_000);
  for (let i = 0; i < 6; i++) {
    engine.move(inboundId, id, 0, 1);
    await settle(600_000);
  }
  t.is(used(await days('ann'))[0]?.down, 117);
});

test('a database that is away for minutes: each byte counts once, on the day of the poll that is stored', async (t) => {
  let isAway = false;
  const away = definePlugin({
    name: 'away',
    version: '0.0.0',
    api: 1,
    about: 'Fails the write of a poll after all others, as a full disk does.',
    taps: () => [
      tap(
        duringTrafficCount,
        () => {
          if (isAway) throw kernelErrors.STORAGE();
        },
        { stage: stage.LAST },
      ),
    ],
  });
  const { engine, panel, poll, minute, inboundId, days, clock } = await openWorld({ plugins: [away] });
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  engine.move(inboundId, id, 1, 0);
  await poll();
  isAway = true;
  clock.jump(Date.UTC(2026, 0, 16) - clock.now() - 30_000);
  for (let i = 0; i < 24; i++) {
    engine.move(inboundId, id, 10, 0);
    await poll();
  }
  isAway = false;
  await minute();
  await minute();
  t.deepEqual(
    used(await days('ann')).map(({ day, up }) => [day, up]),
    [
      ['2026-01-15', 1],
      ['2026-01-16', 240],
    ],
  );
  t.is((await panel.get<{ up: number }>('/panel/api/clients/traffic/ann')).up, 241);
  t.deepEqual(panel.faults, []);
});
