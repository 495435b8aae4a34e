// Every test, with all that it needs. `npm test -- plugins/clients` runs one folder; `--fast` leaves out what needs a core,
// and the second pass, in which the files that say so run on MariaDB.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { core } from './core.mjs';
import { mariadb } from './mariadb.mjs';
import { root, run, setUp, spawnWithUs } from './setup.mjs';

// A source's name works as well as a folder's; the tests run compiled.
const folders = process.argv
  .slice(2)
  .filter((argument) => !argument.startsWith('--'))
  .map((argument) => join('dist', argument.replace(/\.ts$/, '.js')));
const fast = process.argv.includes('--fast');
const NEEDS_CORE = '.core.test.js';
const EVERY_DATABASE = '// Runs on every database.\n';

async function testFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.name.endsWith('.test.js'))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

async function onEveryDatabase(files) {
  const sources = await Promise.all(
    files.map((file) =>
      readFile(join(root, relative('dist', file).replace(/\.js$/, '.ts')), 'utf8').catch(() => ''),
    ),
  );
  return files.filter((_, i) => sources[i].startsWith(EVERY_DATABASE));
}

/** A server that was named is used, like a MySQL that nobody can install for a test. */
const namedServer = process.env.WEIR_TEST_DATABASE_SERVER;
const server = async () =>
  namedServer
    ? { server: namedServer, version: 'of WEIR_TEST_DATABASE_SERVER', stop: async () => {} }
    : mariadb();

/** Shows what ava writes and counts it. Not its TAP: that reporter breaks on a test that hangs or exits, and names no line of ours. */
function runAva(files, env) {
  return new Promise((resolve, reject) => {
    const ava = spawnWithUs(
      process.execPath,
      [join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs'), ...files],
      { env, stdio: ['ignore', 'pipe', 2] },
    );
    const count = { passed: 0, failed: 0, skipped: 0 };
    createInterface({ input: ava.stdout }).on('line', (line) => {
      process.stdout.write(`${line}\n`);
      const text = stripVTControlCharacters(line);
      if (/^ {2}[✔√] /.test(text)) count.passed++;
      else if (/^ {2}- \[(?:skip|todo)\]/.test(text)) count.skipped++;
      // A file that crashed counts as well; the tests that it leaves behind are one line of summary.
      else if (/^ {2}[✘×] (?!\d+ tests? remaining)/.test(text)) count.failed++;
    });
    ava.on('error', reject);
    ava.on('close', (code) =>
      resolve({ ...count, failed: code !== 0 && count.failed === 0 ? 1 : count.failed }),
    );
  });
}

await setUp();
const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
await run('the check of format and lint', process.execPath, [biome, 'check', '--error-on-warnings'], {
  stdio: ['ignore', 'inherit', 'inherit'],
}).catch((error) => {
  process.stderr.write(`${error.message}; \`npm run format\` mends what can be mended; no test was run
`);
  process.exit(1);
});

const wanted = (await testFiles(join(root, 'dist'))).filter(
  (file) => folders.length === 0 || folders.some((folder) => file.startsWith(folder)),
);
const found = fast ? { missing: '--fast' } : await core();
const files = 'binary' in found ? wanted : wanted.filter((file) => !file.endsWith(NEEDS_CORE));
const leftOut = wanted.length - files.length;
if (wanted.length === 0)
  process.stdout.write(
    `there is no test ${folders.length > 0 ? `under ${folders.join(', ')}` : 'in dist'}\n`,
  );
if (files.length === 1) process.stdout.write(`${files[0]}\n`);
if (leftOut > 0)
  process.stdout.write(`left out, for they need a core (${found.missing}): ${leftOut} files\n`);

const env = {
  ...process.env,
  NODE_ENV: 'test',
  WEIR_TEST_DATABASE_SERVER: '',
  ...('binary' in found && { WEIR_ENGINE_BIN: found.binary }),
};
const count = { passed: 0, failed: 0, skipped: 0 };
const add = (more) => {
  for (const key of Object.keys(count)) count[key] += more[key];
};
if (files.length > 0) add(await runAva(files, env));

const again = fast ? [] : await onEveryDatabase(files);
const database = again.length > 0 ? await server() : undefined;
if (database?.missing)
  process.stdout.write(
    `left out, for they need MariaDB (${database.missing}): ${again.length} files a second time\n`,
  );
if (database?.server) {
  process.stdout.write(`\non MariaDB ${database.version}: ${again.length} files\n`);
  add(await runAva(again, { ...env, WEIR_TEST_DATABASE_SERVER: database.server }));
  await database.stop();
}

const incomplete = (leftOut > 0 || database?.missing) && process.env.CI && !fast;
if (incomplete) process.stdout.write('with CI set, a test that is left out is a failure\n');
process.stdout.write(
  `\n${count.passed} passed, ${count.failed} failed${count.skipped > 0 ? `, ${count.skipped} skipped` : ''}\n`,
);
process.exitCode = count.failed > 0 || count.passed === 0 || incomplete ? 1 : 0;
