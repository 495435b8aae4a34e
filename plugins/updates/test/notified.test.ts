import test from 'ava';
import { until } from '../../../test/harness/until.js';
import { heardBy } from '../../notifications/test/channels.js';
import { foundUpdate } from '../notified.js';
import { ranged, releaseOf } from './release-server.js';
import { UpdateWorld } from './update-panel.js';

const bytes = Buffer.alloc(300_000, 'package');

test('admins are notified of an update that is done, and of one that failed also where the next panel finds it', async (t) => {
  const { plugin, heard } = heardBy();
  const of = () => heard.filter(({ event }) => event === 'updateEnded');
  const world = await UpdateWorld.open(t, { outside: [plugin], without: ['alarms'] });
  world.server.publish([releaseOf('0.2.0', bytes)]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  await world.update();
  const { runId } = await world.asked();
  await world.answer({ runId });
  await world.ended();
  await until(() => of().length === 1, 'the end');
  t.like(of()[0], { severity: 'info', text: 'The panel was updated from 0.1.0 to 0.2.0.' });

  world.server.reply('/package.tar.gz', (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 50_000));
  });
  await world.update();
  await world.restart();
  await until(() => of().length === 2, 'the failure, from the start of the next panel');
  t.is(of()[1]?.severity, 'critical');
  t.regex(
    of()[1]?.text ?? '',
    /^The update of the panel from 0\.1\.0 to 0\.2\.0 failed: the panel stopped before root was asked/,
  );
  t.deepEqual(world.panel.faults, []);
});

test('a release that was found is told without its notes', (t) => {
  const found = { version: '0.2.0', current: '0.1.0', channel: 'stable', notes: 'n'.repeat(60_000) } as const;
  const [told] = foundUpdate.describe(found as never);
  t.deepEqual(told?.args, { version: '0.2.0', current: '0.1.0', channel: 'stable' });
  t.deepEqual(told?.data, told?.args);
});
