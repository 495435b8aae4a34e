// Runs Galera and HAProxy.
// Three minutes of the proof of several panels: `npm run soak -- cluster` runs half an hour.
import { engineBinary } from '../engine/user.js';
import { testUnless } from '../harness/left-out.js';
import { whyNoNamespaces } from '../node-soak/places.js';
import { clusterProof } from './cluster-proof.js';
import { whyNoGalera } from './galera.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const SECONDS = Number(process.env['WEIR_TEST_CLUSTER_SECONDS'] ?? 180);

testUnless((await whyNoNamespaces()) || whyNoGalera())(
  'panels, database servers and balancers are killed, stopped and cut off: what was acknowledged is there, once',
  async (t) => {
    t.timeout(900_000 + SECONDS * 1000);
    const verdicts = await clusterProof({
      binary: engineBinary(),
      seconds: SECONDS,
      writers: 'one',
      seed: SEED,
      say: (text) => t.log(text),
    });
    t.deepEqual(
      verdicts.filter(({ isGood }) => !isGood),
      [],
    );
  },
);
