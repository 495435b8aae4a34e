// Runs Galera and HAProxy.
// Runs Redis
// Three minutes of the proof of several panels, with a core for each and with one: `npm run soak -- cluster` runs half an hour.
import anyTest from 'ava';
import { engineBinary } from '../engine/user.js';
import { testUnless } from '../harness/left-out.js';
import { whyNoNamespaces } from '../node-soak/places.js';
import { clusterProof } from './cluster-proof.js';
import { whyNoGalera } from './galera.js';
import { whyNoRedis } from './messages.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const SECONDS = Number(process.env['WEIR_TEST_CLUSTER_SECONDS'] ?? 180);
const test = testUnless((await whyNoNamespaces()) || whyNoGalera() || whyNoRedis(), anyTest.serial);

for (const [cores, who] of [
  ['own', 'each panel has a core'],
  ['leader', 'the panel that leads has a core'],
] as const)
  test(`everything is killed, stopped and cut off, ${who}: what was acknowledged is there, once`, async (t) => {
    t.timeout(900_000 + SECONDS * 1000);
    const verdicts = await clusterProof({
      binary: engineBinary(),
      seconds: SECONDS,
      writers: 'one',
      cores,
      seed: SEED,
      say: (text) => t.log(text),
    });
    t.deepEqual(
      verdicts.filter(({ isGood }) => !isGood),
      [],
    );
  });
