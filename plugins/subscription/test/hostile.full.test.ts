// 100,000 hostile requests to the subscription listener: no error, no stall, no growth of memory.
import test from 'ava';
import { PanelProcess } from '../../../test/harness/index.js';
import { sendHostile } from './hostile-run.js';

const COUNT = 100_000;
/** MiB of the process; garbage comes and goes. */
const GROWTH = 16;

test('100,000 hostile requests: no error, no stall, no growth of memory', async (t) => {
  t.timeout(600_000);
  const seed = Number(process.env['SEED'] ?? 1 + (Date.now() % 1_000_000));
  t.log(`SEED=${seed} sends the same again`);
  const panel = await PanelProcess.start({ env: { WEIR_ENGINE_BIN: '/nowhere/xray' } });
  t.teardown(() => panel.dispose());
  const { statuses, wrong, slow, errors, memory } = await sendHostile(panel, COUNT, seed);
  t.log(JSON.stringify([...statuses]), memory.map((mib) => mib.toFixed(0)).join(' '));
  t.deepEqual([wrong.slice(0, 3), slow.slice(0, 3), errors.slice(0, 3)], [[], [], []], `seed ${seed}`);
  const grown = Math.max(...memory.slice(-3)) - Math.max(...memory.slice(1, 4));
  t.true(grown < GROWTH, `${grown.toFixed(0)} MiB more; ${memory.map((mib) => mib.toFixed(0)).join(' ')}`);
});
