// Half a minute of the soak of nodes, all on loopback: docs/benchmarks.md has the half hour.
import test from 'ava';
import { engineBinary } from '../engine/user.js';
import { nodeSoak } from './node-soak.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);

test('panels are killed and ways break: all agree afterwards, each byte is counted once, nothing is back', async (t) => {
  t.timeout(300_000);
  const verdicts = await nodeSoak({
    binary: engineBinary(),
    seconds: 30,
    namespaces: false,
    seed: SEED,
    say: (text) => t.log(text),
  });
  t.deepEqual(
    verdicts.filter(({ isGood }) => !isGood),
    [],
  );
});
