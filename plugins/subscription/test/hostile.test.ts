// What strangers send to the subscription listener is answered, quickly and without an error. The long form is hostile.full.test.ts.
import test from 'ava';
import { PanelProcess } from '../../../test/harness/index.js';
import { sendHostile } from './hostile-run.js';

const COUNT = 5000;

test('5,000 hostile requests: no error, no stall', async (t) => {
  const seed = 1 + (Date.now() % 1_000_000);
  t.log(`seed ${seed}`);
  const panel = await PanelProcess.start({ env: { WEIR_ENGINE_BIN: '/nowhere/xray' } });
  t.teardown(() => panel.dispose());
  const { statuses, wrong, slow, errors } = await sendHostile(panel, COUNT, seed);
  t.log(JSON.stringify([...statuses]));
  t.deepEqual([wrong.slice(0, 3), slow.slice(0, 3), errors.slice(0, 3)], [[], [], []], `seed ${seed}`);
  for (const status of [200, 304, 400, 404]) t.true((statuses.get(status) ?? 0) > 0, `no ${status}`);
});
