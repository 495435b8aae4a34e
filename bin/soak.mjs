// Loads a panel with a real core from all sides for an hour, and says what held: docs/benchmarks.md.
//   --minutes 60          how long
//   --clients 100000      how many clients, on 5 inbounds
//   --database mariadb    a private MariaDB in place of SQLite
import { parseArgs } from 'node:util';
import { core } from './core.mjs';
import { mariadb } from './mariadb.mjs';
import { setUp } from './setup.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    clients: { type: 'string', default: '100000' },
    database: { type: 'string', default: 'sqlite' },
  },
});
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
const [minutes, clients] = [number('minutes', 1), number('clients', 1000)];
if (!['sqlite', 'mariadb'].includes(values.database))
  give(`--database ${values.database}: it must be sqlite or mariadb`);
await setUp();
const found = await core();
if (!('binary' in found)) give(`the soak needs a core: ${found.missing}`);
process.env.WEIR_ENGINE_BIN = found.binary;
const server = values.database === 'mariadb' ? await mariadb({ durable: true }) : undefined;
if (server?.missing) give(`the soak needs MariaDB: ${server.missing}`);
process.env.WEIR_TEST_DATABASE_SERVER = server?.server ?? '';
const { soak } = await import('../dist/test/soak/soak.js');
try {
  const verdicts = await soak({
    binary: found.binary,
    minutes,
    clients,
    users: 200,
    fetchesPerSecond: 100,
    editsPerSecond: 20,
    readers: 200,
    growth: 0.05,
    held: { times: 1.5, more: 5 },
    say: (text) => process.stdout.write(`${text}\n`),
  });
  process.exitCode = verdicts.every(({ isGood }) => isGood) ? 0 : 1;
} finally {
  await server?.stop();
}
