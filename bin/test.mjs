// Runs the tests, with all that they need. `npm test -- clients` runs those of a plugin, `npm test -- kernel` those of a
// folder; `--fast` leaves out what needs a core, and the second pass, in which the files that say so run on MariaDB;
// `--full` (`npm run test:full`) adds the long and heavy proofs, `*.full.test.ts`, and fails where something that a test
// needs is missing.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { chromium, installedChromium } from './chromium.mjs';
import { core } from './core.mjs';
import { mariadb } from './mariadb.mjs';
import { pythonWith } from './python.mjs';
import { runAva, titleOf } from './run-ava.mjs';
import { root, run, setUp } from './setup.mjs';
import { installPackage, pathOf } from './system-package.mjs';
import { forgetGroups, groupFiles } from './test-groups.mjs';
import { authorityPrograms, nftables, sidecarPrograms, testPrograms } from './test-programs.mjs';

// Takes a folder, a source or the name of a plugin; the tests run compiled.
const folders = process.argv
  .slice(2)
  .filter((argument) => !argument.startsWith('--'))
  .map((argument) => {
    const isPlugin = !existsSync(join(root, argument)) && existsSync(join(root, 'plugins', argument));
    return join('dist', isPlugin ? join('plugins', argument) : argument.replace(/\.ts$/, '.js'));
  });
const fast = process.argv.includes('--fast');
const full = process.argv.includes('--full');
const NEEDS_CORE = /\.core(?:\.full)?\.test\.js$/;
const NEEDS_BROWSER = /\.browser(?:\.full)?\.test\.js$/;
const FULL = '.full.test.js';
const EVERY_DATABASE = /^\/\/ Runs on every database( in test:full)?\.\n/;
/** How long each file took in the last run on this checkout: the longest start first, so that no core waits at the end. */
const TIMES = join(root, 'node_modules', '.cache', 'weir', 'test-times.json');
const SLOWEST = 10;
const SQLITE = 'SQLite';
const MARIADB = 'MariaDB';
/** Programs of the proof of several panels, and their packages. `mariadb-server` brings Galera with it, and starts a server of its own where there are services. */
const GALERA = [
  { program: 'wsrep_sst_rsync', name: 'mariadb-server' },
  { program: 'rsync', name: 'rsync' },
  { program: 'haproxy', name: 'haproxy' },
];
/** So many files that failed are run again, alone: more is no accident. */
const MOST_AGAIN = 5;

async function testFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.name.endsWith('.test.js'))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

const sourceOf = (file) =>
  readFile(join(root, relative('dist', file).replace(/\.js$/, '.ts')), 'utf8').catch(() => '');

/** A server that was named is used, like a MySQL that nobody can install for a test. */
const namedServer = process.env.WEIR_TEST_DATABASE_SERVER;
const server = async () =>
  namedServer
    ? { server: namedServer, version: 'of WEIR_TEST_DATABASE_SERVER', stop: async () => {} }
    : mariadb();

/** Each test process leaves a note (test/harness/test-process.mjs). */
async function readNotes(folder) {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.map((text) => JSON.parse(text));
}

const timesOfLastRun = async () => JSON.parse(await readFile(TIMES, 'utf8').catch(() => '{}'));

async function keepTimes(times) {
  const kept = await timesOfLastRun();
  for (const { file, ms, on } of times) kept[on] = { ...kept[on], [file]: ms };
  await mkdir(join(TIMES, '..'), { recursive: true });
  await writeFile(TIMES, JSON.stringify(kept));
}

await setUp();
const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
await run('the check of format and lint', process.execPath, [biome, 'check', '--error-on-warnings'], {
  stdio: ['ignore', 'inherit', 'inherit'],
}).catch((error) => {
  process.stderr.write(`${error.message}; \`npm run format\` fixes what it can; no test was run
`);
  process.exit(1);
});

await forgetGroups();
const all = (await testFiles(join(root, 'dist'))).filter(
  (file) => folders.length === 0 || folders.some((folder) => file.startsWith(folder)),
);
// A file that is named is run.
const wanted = all.filter((file) => full || !file.endsWith(FULL) || folders.includes(file));
const found = fast ? { missing: '--fast' } : await core();
const coreless = 'binary' in found ? wanted : wanted.filter((file) => !NEEDS_CORE.test(file));
/** A short test uses a browser that is there; only long proofs are worth an installation. */
const hasBrowser = installedChromium() !== undefined;
const files = coreless.filter(
  (file) => full || hasBrowser || !NEEDS_BROWSER.test(file) || folders.includes(file),
);
const leftOut = wanted.length - coreless.length;
const withoutBrowser = coreless.length - files.length;
const print = (line) => process.stdout.write(`${line}\n`);
if (wanted.length === 0)
  print(`there is no test ${folders.length > 0 ? `under ${folders.join(', ')}` : 'in dist'}`);
if (files.length === 1) print(files[0]);
if (leftOut > 0) print(`left out, for they need a core (${found.missing}): ${leftOut} files`);
if (withoutBrowser > 0) print(`left out, for they need a browser: ${withoutBrowser} files`);
if (all.length > wanted.length)
  print(`${all.length - wanted.length} long proofs are left to npm run test:full`);

/** The environments of tests that run programs in Python: of `folder`, if one of its files is run. */
async function pythonFor(folder, name, requirements) {
  const isNeeded = files.some((file) => file.startsWith(join('dist', folder)) && file.endsWith(FULL));
  return isNeeded ? pythonWith(name, requirements) : {};
}
const tester = await pythonFor('test/schemathesis', 'schemathesis', 'test/schemathesis/requirements.txt');
const py3xui = await pythonFor('test/old-libraries', 'py3xui', 'test/old-libraries/python/requirements.txt');
const moto = await pythonFor('plugins/backup-s3', 'moto', 'plugins/backup-s3/test/requirements.txt');
const sources = new Map(await Promise.all(files.map(async (file) => [file, await sourceOf(file)])));
/** A file that runs sing-box or mihomo says so. */
const needsPrograms = (file) => /^\/\/ Runs client programs\b/m.test(sources.get(file));
const programs = files.some(needsPrograms) ? await testPrograms() : {};
/** A file that runs programs of sidecars says so. */
const needsSidecars = (file) => /^\/\/ Runs sidecar programs\b/m.test(sources.get(file));
/** A file that makes tables of nftables says so. */
const needsTables = (file) => /^\/\/ Runs nftables\b/m.test(sources.get(file));
if (files.some(needsTables)) await nftables();
const sidecars = files.some(needsSidecars) ? await sidecarPrograms() : {};
/** A file that orders certificates from a real authority says so. */
const needsAuthority = (file) => /^\/\/ Runs a certificate authority\b/m.test(sources.get(file));
const authority = files.some(needsAuthority) ? await authorityPrograms() : {};
/** A file that runs the program age says so. */
const needsAge = (file) => /^\/\/ Runs age\b/m.test(sources.get(file));
const ageMissing =
  files.some(needsAge) && pathOf('age') === undefined
    ? await installPackage({ what: 'age', wanted: 'age', program: 'age', name: 'age' })
    : undefined;
/** A file that runs fail2ban says so. */
const needsFail2ban = (file) => /^\/\/ Runs fail2ban\b/m.test(sources.get(file));
const fail2banMissing =
  files.some(needsFail2ban) && pathOf('fail2ban-client') === undefined
    ? await installPackage({
        what: 'fail2ban',
        wanted: 'fail2ban',
        program: 'fail2ban-client',
        name: 'fail2ban',
      })
    : undefined;
/** A file that runs Redis says so. */
const needsRedis = (file) => /^\/\/ Runs Redis\b/m.test(sources.get(file));
const redisMissing =
  files.some(needsRedis) && pathOf('redis-server') === undefined
    ? await installPackage({ what: 'Redis', wanted: 'redis', program: 'redis-server', name: 'redis-server' })
    : undefined;
/** A file that runs several database servers and balancers says so; it looks itself for what is missing. */
const needsGalera = (file) => /^\/\/ Runs Galera\b/m.test(sources.get(file));
if (files.some(needsGalera))
  for (const { program, name } of GALERA)
    if (pathOf(program) === undefined) {
      const missing = await installPackage({ what: program, wanted: name, program, name });
      if (missing) print(missing);
    }
const browser = files.some((file) => NEEDS_BROWSER.test(file)) ? await chromium() : {};
const notesFolder = await mkdtemp(join(tmpdir(), 'weir-test-notes-'));
/** Places in the sources cost a twentieth of the CPU time, so a run of many files shows those of the compiled files. */
const showsSources = files.length <= 30;
const env = {
  ...process.env,
  NODE_ENV: 'test',
  WEIR_TEST_DATABASE_SERVER: '',
  WEIR_TEST_NOTES: notesFolder,
  WEIR_TEST_SOURCE_MAPS: showsSources ? 'on' : 'off',
  WEIR_TEST_SCHEMATHESIS: tester.commands ? join(tester.commands, 'schemathesis') : '',
  WEIR_TEST_SCHEMATHESIS_MISSING: tester.missing ?? '',
  WEIR_TEST_PROGRAMS: programs.folder ?? '',
  WEIR_TEST_PROGRAMS_MISSING: programs.missing ?? '',
  WEIR_TEST_SIDECARS: sidecars.folder ?? '',
  WEIR_TEST_SIDECARS_MISSING: sidecars.missing ?? '',
  WEIR_TEST_AUTHORITY: authority.folder ?? '',
  WEIR_TEST_AUTHORITY_MISSING: authority.missing ?? '',
  WEIR_TEST_PY3XUI: py3xui.commands ? join(py3xui.commands, 'python3') : '',
  WEIR_TEST_PY3XUI_MISSING: py3xui.missing ?? '',
  WEIR_TEST_MOTO: moto.commands ? join(moto.commands, 'moto_server') : '',
  WEIR_TEST_MOTO_MISSING: moto.missing ?? '',
  WEIR_TEST_AGE_MISSING: ageMissing ?? '',
  WEIR_TEST_FAIL2BAN_MISSING: fail2banMissing ?? '',
  WEIR_TEST_REDIS_MISSING: redisMissing ?? '',
  WEIR_TEST_CHROMIUM: browser.browser ?? '',
  WEIR_TEST_CHROMIUM_MISSING: browser.missing ?? '',
  ...('binary' in found && { WEIR_ENGINE_BIN: found.binary }),
};
const count = { passed: 0, failed: 0, skipped: 0 };
const add = (more) => {
  for (const key of Object.keys(count)) count[key] += more[key];
};
const passedAlone = [];

/**
 * Runs the files of a few failed tests again, each alone: tests with real programs can fail on a machine that is busy with
 * the others. One that passes now is named at the end, and one that fails again stays a failure.
 */
async function runAgain(failures, ran, itsEnv, on) {
  const owners = failures.map((failure) => ran.find((file) => failure.startsWith(`${titleOf(file)} › `)));
  const some = [...new Set(owners)];
  if (failures.length === 0 || some.length > MOST_AGAIN || some.includes(undefined) || files.length === 1)
    return;
  for (const file of some) {
    print(`\nagain, alone: ${file} on ${on}`);
    const { failed } = await runAva([file], itsEnv, 1, print);
    if (failed > 0) continue;
    const failedBefore = failures.filter((_, index) => owners[index] === file);
    count.failed -= failedBefore.length;
    passedAlone.push(...failedBefore.map((failure) => `${failure} (${on})`));
  }
}
/** ms that the processors worked and rested since the machine started */
const processorTimes = () =>
  cpus().reduce(
    ([busy, idle], { times: { idle: rest, ...work } }) => [
      busy + Object.values(work).reduce((a, b) => a + b),
      idle + rest,
    ],
    [0, 0],
  );
const began = performance.now();
const beganTimes = processorTimes();
function runsOnEveryDatabase(file) {
  const mark = EVERY_DATABASE.exec(sources.get(file));
  return mark !== null && (full || mark[1] === undefined || folders.includes(file));
}
const again = fast ? [] : files.filter(runsOnEveryDatabase);
const database = again.length > 0 ? await server() : undefined;
const lastTimes = await timesOfLastRun();
const inGroups = (some, on) => groupFiles(on.toLowerCase(), some, sources, lastTimes[on] ?? {});

// Both passes run at once; what the second prints is held back until the first has ended.
const held = [];
let isFirstDone = false;
const second = database?.server
  ? runAva(
      await inGroups(again, MARIADB),
      { ...env, WEIR_TEST_DATABASE_SERVER: database.server },
      1,
      (line) => (isFirstDone ? print(line) : held.push(line)),
    )
  : undefined;
const first =
  files.length > 0
    ? await runAva(await inGroups(files, SQLITE), env, availableParallelism() + 1, print)
    : undefined;
if (first) add(first);
isFirstDone = true;
if (database?.missing)
  print(`left out, for they need MariaDB (${database.missing}): ${again.length} files a second time`);
if (second) {
  print(`\non MariaDB ${database.version}: ${again.length} files`);
  for (const line of held) print(line);
  const last = await second;
  add(last);
  await runAgain(last.failures, again, { ...env, WEIR_TEST_DATABASE_SERVER: database.server }, MARIADB);
  await database.stop();
}
if (first) await runAgain(first.failures, files, env, SQLITE);

const notes = await readNotes(notesFolder);
await rm(notesFolder, { recursive: true, force: true });
await programs.remove?.();
await sidecars.remove?.();
await authority.remove?.();
const times = notes
  .flatMap(({ on, times: some, work }) =>
    Object.entries(some).map(([file, ms]) => ({ file, ms, on, work: work[file] ?? 0 })),
  )
  .sort((a, b) => b.ms - a.ms);
for (const { running } of notes) if (running) print(`a process ended while this test ran: ${running}`);
await keepTimes(times);
if (times.length > SLOWEST) {
  print(`\nthe slowest of ${times.length} files:`);
  const show = (ms, { file, on }) =>
    print(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${file}${on === MARIADB ? ` on ${on}` : ''}`);
  for (const one of times.slice(0, SLOWEST)) show(one.ms, one);
  print('\nthose for which the processors worked longest:');
  for (const one of times.toSorted((a, b) => b.work - a.work).slice(0, SLOWEST)) show(one.work, one);
}
const seconds = (performance.now() - began) / 1000;
const [busy, idle] = processorTimes().map((ms, index) => ms - beganTimes[index]);
print(
  `the tests took ${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s; the processors were busy for ${Math.round((100 * busy) / (busy + idle))} % of it`,
);

if (passedAlone.length > 0) {
  print('\nfailed beside the others and passed alone, so look for what depends on speed, or for a rare bug:');
  for (const failure of passedAlone) print(`  ${failure}`);
}
if (count.failed > 0 && !showsSources)
  print('places are those of compiled files; run a failed file alone to see the lines of its source');
const incomplete = (leftOut > 0 || database?.missing) && (process.env.CI || full) && !fast;
if (incomplete) print('a test that is left out is a failure where CI is set and with --full');
print(
  `\n${count.passed} passed, ${count.failed} failed${passedAlone.length > 0 ? `, ${passedAlone.length} passed at the second try` : ''}${count.skipped > 0 ? `, ${count.skipped} skipped` : ''}`,
);
process.exitCode = count.failed > 0 || count.passed === 0 || incomplete ? 1 : 0;
