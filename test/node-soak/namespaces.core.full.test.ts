// Three minutes of the soak of nodes, each panel in a network namespace of its own: `npm run soak -- nodes` runs half an hour.
import { engineBinary } from '../engine/user.js';
import { testUnless } from '../harness/left-out.js';
import { nodeSoak } from './node-soak.js';
import { whyNoNamespaces } from './places.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const SECONDS = 180;

testUnless(await whyNoNamespaces())(
  'panels in network namespaces are killed, cut off and lose packets: all agree afterwards, each byte is counted once',
  async (t) => {
    t.timeout(900_000);
    const verdicts = await nodeSoak({
      binary: engineBinary(),
      seconds: SECONDS,
      namespaces: true,
      seed: SEED,
      say: (text) => t.log(text),
    });
    t.deepEqual(
      verdicts.filter(({ isGood }) => !isGood),
      [],
    );
  },
);
