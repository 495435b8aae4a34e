// Loads a panel with a real core from all sides for an hour, and says what held: docs/benchmarks.md.
//   --minutes 60          how long
//   --clients 100000      how many clients, on 5 inbounds
//   --database mariadb    a private MariaDB in place of SQLite
// `nodes` in front: a central and three nodes in network namespaces, which are killed while the ways between them break.
//   --minutes 30          how long
//   --seed 7              of the faults and edits; printed, and another one each time without it
//   --loopback            without namespaces
// `cluster` in front: three panels on three database servers (Galera) behind balancers, of which everything is killed.
//   --minutes 30          how long
//   --seed 7              of the faults
//   --writers own         each panel writes to a database server of its own, in place of all to one
//   --cores leader        the panel that leads has a core, in place of each
//   --calm                without faults
//   --figures             only measures: fetches with one to three panels, lag, takeovers
import { parseArgs } from 'node:util';
import { core } from './core.mjs';
import { mariadb } from './mariadb.mjs';
import { setUp } from './setup.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string' },
    clients: { type: 'string', default: '100000' },
    database: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: process.env.WEIR_TEST_SEED ?? String((Date.now() % 1_000_000) + 1) },
    loopback: { type: 'boolean', default: false },
    writers: { type: 'string', default: 'one' },
    cores: { type: 'string', default: 'own' },
    calm: { type: 'boolean', default: false },
    figures: { type: 'boolean', default: false },
  },
});
const ofNodes = positionals[0] === 'nodes';
const ofCluster = positionals[0] === 'cluster';
values.minutes ??= ofNodes || ofCluster ? '30' : '60';
const give = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};
const number = (name, least) => {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < least)
    give(`--${name} ${values[name]}: it must be a whole number of at least ${least}`);
  return value;
};
const [minutes, clients, seed] = [number('minutes', 1), number('clients', 1000), number('seed', 1)];
if (!['one', 'own'].includes(values.writers)) give(`--writers ${values.writers}: it must be one or own`);
if (!['leader', 'own'].includes(values.cores)) give(`--cores ${values.cores}: it must be leader or own`);
if (!['sqlite', 'mariadb'].includes(values.database))
  give(`--database ${values.database}: it must be sqlite or mariadb`);
await setUp();
const found = await core();
if (!('binary' in found)) give(`the soak needs a core: ${found.missing}`);
process.env.WEIR_ENGINE_BIN = found.binary;
const server = values.database === 'mariadb' ? await mariadb({ durable: true }) : undefined;
if (server?.missing) give(`the soak needs MariaDB: ${server.missing}`);
process.env.WEIR_TEST_DATABASE_SERVER = server?.server ?? '';
const say = (text) => process.stdout.write(`${text}\n`);
const note = (text) => process.stderr.write(`  ${new Date().toISOString().slice(11, 19)} ${text}\n`);
async function cluster() {
  const { whyNoNamespaces } = await import('../dist/test/node-soak/places.js');
  const { whyNoGalera } = await import('../dist/test/cluster/galera.js');
  const { whyNoRedis } = await import('../dist/test/cluster/messages.js');
  const missing = (await whyNoNamespaces()) || whyNoGalera() || whyNoRedis();
  if (missing) give(`the proof of several panels is left out: ${missing}`);
  if (values.figures) {
    const { clusterFigures } = await import('../dist/test/cluster/figures.js');
    await clusterFigures(found.binary, say);
    return [];
  }
  const { clusterProof } = await import('../dist/test/cluster/cluster-proof.js');
  const { writers, cores, calm } = values;
  return clusterProof({
    binary: found.binary,
    seconds: 60 * minutes,
    writers,
    cores,
    seed,
    calm,
    say,
    note,
  });
}
const all = async () => {
  if (ofCluster) return cluster();
  if (!ofNodes) {
    const { soak } = await import('../dist/test/soak/soak.js');
    return soak({
      binary: found.binary,
      minutes,
      clients,
      users: 200,
      fetchesPerSecond: 100,
      editsPerSecond: 20,
      readers: 200,
      growth: 0.05,
      held: { times: 1.5, more: 5 },
      say,
    });
  }
  const { whyNoNamespaces } = await import('../dist/test/node-soak/places.js');
  const missing = values.loopback ? '' : await whyNoNamespaces();
  if (missing) give(`the soak of nodes needs namespaces: ${missing}; or take --loopback`);
  const { nodeSoak } = await import('../dist/test/node-soak/node-soak.js');
  return nodeSoak({
    binary: found.binary,
    seconds: 60 * minutes,
    namespaces: !values.loopback,
    seed,
    say,
    note,
  });
};
try {
  process.exitCode = (await all()).every(({ isGood }) => isGood) ? 0 : 1;
} finally {
  await server?.stop();
}
