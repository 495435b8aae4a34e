// Times the hot paths through the API, beside a bare HTTP server and the calls to the core in the same run. Compare ratios;
// absolute numbers depend on the machine.
//   --clients 100000      the most clients (10,000)
//   --database mariadb    a private MariaDB in place of SQLite
//   --only text           the scenes that have this in their title
//   --complete            100,000 clients on both databases: docs/benchmarks.md
// `hostile` prints how long many hostile requests delay the subscription listener; `--clients`, `--only` as above.
// `page` measures the page in Chromium; `--clients` as above, `--minutes` (2) of live updates.
// `nodes` is another bench: a central with `--nodes` (100) and `--clients` (50,000).
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from './chromium.mjs';
import { core } from './core.mjs';
import { mariadb } from './mariadb.mjs';
import { run, setUp } from './setup.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: 'string' },
    nodes: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '2' },
    database: { type: 'string', default: 'sqlite' },
    only: { type: 'string', default: '' },
    complete: { type: 'boolean', default: false },
  },
});
const give = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};
const clients = values.clients === undefined ? undefined : Number(values.clients);
if (clients !== undefined && !(Number.isInteger(clients) && clients >= 1000))
  give(`--clients ${values.clients}: it must be a whole number of at least 1,000`);
if (!['sqlite', 'mariadb'].includes(values.database))
  give(`--database ${values.database}: it must be sqlite or mariadb`);
const nodes = Number(values.nodes);
if (!(Number.isInteger(nodes) && nodes >= 1 && nodes <= 199))
  give(`--nodes ${values.nodes}: it must be a whole number from 1 to 199`);
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 600)) give(`--minutes ${values.minutes}: it must be a number up to 600`);
await setUp();
const found = await core();
if (!('binary' in found)) give(`the bench needs a core: ${found.missing}`);
process.env.WEIR_ENGINE_BIN = found.binary;

if (values.complete) {
  for (const database of ['sqlite', 'mariadb'])
    await run(
      `the bench on ${database}`,
      process.execPath,
      [fileURLToPath(import.meta.url), '--clients', '100000', '--database', database, '--only', values.only],
      { stdio: 'inherit' },
    );
} else if (positionals[0] === 'hostile') {
  const { benchHostile } = await import('../dist/test/bench/hostile.js');
  await benchHostile(clients ?? 1000, values.only);
} else if (positionals[0] === 'page') {
  const { browser, missing } = await chromium();
  if (!browser) give(`this bench needs a browser: ${missing}`);
  process.env.WEIR_TEST_CHROMIUM = browser;
  const { benchPage } = await import('../dist/test/bench/page.js');
  const missed = await benchPage(clients ?? 100_000, minutes);
  process.stdout.write(missed === 0 ? '\nall goals are met\n' : `\n${missed} goals are missed\n`);
} else if (positionals[0] === 'nodes') {
  const { nodeBench } = await import('../dist/test/node-bench/node-bench.js');
  const missed = await nodeBench({ nodes, clients: clients ?? 50_000, seconds: 60, real: true });
  process.stdout.write(missed === 0 ? '\nall goals are met\n' : `\n${missed} goals are missed\n`);
} else {
  const server = values.database === 'mariadb' ? await mariadb({ durable: true }) : undefined;
  if (server?.missing) give(`the bench needs MariaDB: ${server.missing}`);
  process.env.WEIR_TEST_DATABASE_SERVER = server?.server ?? '';
  const { bench } = await import('../dist/test/bench/bench.js');
  try {
    const missed = await bench({
      clients: clients ?? 10_000,
      version: server?.version ?? '',
      only: values.only,
    });
    process.stdout.write(missed === 0 ? '\nall goals are met\n' : `\n${missed} goals are missed\n`);
  } finally {
    await server?.stop();
  }
}
