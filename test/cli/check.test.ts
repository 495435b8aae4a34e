// `weir check`: a dry run of the start, with real processes where it matters.
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { check, type Report } from '../../panel/check.js';
import { checkInChild } from '../../panel/check-in-child.js';
import { choosePlugins } from '../../panel/choose-plugins.js';
import { readConfigFile } from '../../panel/config-file.js';
import { appliedMigrations, diskNote } from '../../panel/inspect-data.js';
import { editDatabase } from '../harness/edit-database.js';
import { PanelProcess } from '../harness/panel-process.js';
import { issue, writePair } from '../harness/self-signed.js';
import { TestPanel } from '../harness/panel.js';
import { weirWithCheck, weirProcess } from '../harness/weir-command.js';
import { folderOf, source, thirdParty, writeFiles } from '../outside/third-party.js';

const env = { WEIR_ENGINE_BIN: '/nowhere/core' };
const looked = (folder: string, more: Readonly<Record<string, string>> = {}): Promise<Report> =>
  check({ env: { WEIR_DATA_DIR: folder, ...more } });

/** Every file of a folder with what would show that somebody wrote to it. The index of SQLite's log is what readers share, too. */
async function picture(folder: string): Promise<string[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => !path.endsWith('-shm'));
  const files = await Promise.all(
    paths.sort().map(async (path) => ({ path, ...(await stat(join(folder, path))) })),
  );
  return files.map(({ path, size, mtimeMs, ino }) => `${path} ${size} ${mtimeMs} ${ino}`);
}

test('beside a panel that runs, after its end, after a crash and before the first start: good, and nothing is changed', async (t) => {
  const folder = await folderOf(t);
  const fresh = await weirWithCheck(folder, ['check'], env, check);
  t.deepEqual([fresh.code, fresh.complained], [0, '']);
  t.regex(fresh.said, /is empty: a start creates its tables\nno problems: the panel would start\n$/);
  t.deepEqual(await readdir(folder), []);

  const panel = await PanelProcess.start({ dataDirectory: folder, env });
  t.teardown(() => panel.kill('SIGKILL'));
  const ran = await appliedMigrations(undefined, folder);
  const beside = await weirProcess(folder, ['check'], env);
  t.deepEqual([beside.code, beside.complained], [0, '']);
  t.false(beside.said.includes('note'), beside.said);
  t.deepEqual(await appliedMigrations(undefined, folder), ran);
  t.is((await panel.call('/panel/api/inbounds/list')).status, 200);

  const changesNothing = async (after: string) => {
    const before = await picture(folder);
    const { code, said } = await weirWithCheck(folder, ['check'], env, check);
    t.is(code, 0, said);
    t.deepEqual(await picture(folder), before, after);
  };
  await panel.kill('SIGKILL');
  await changesNothing('a crash');
  const next = await TestPanel.boot({ dataDirectory: folder, env });
  t.teardown(() => next.stop());
  await next.stop();
  await changesNothing('an orderly end');
});

test('check --deep compares memory and database of the panel that runs, or the database alone', async (t) => {
  const folder = await folderOf(t);
  const panel = await PanelProcess.start({ dataDirectory: folder, env });
  t.teardown(() => panel.kill('SIGKILL'));
  await panel.addClient('ada', [await panel.addInbound()]);
  const deep = () => weirWithCheck(folder, ['check', '--deep'], env, check);
  const good = await deep();
  t.deepEqual([good.code, good.complained], [0, ''], good.said);
  t.regex(good.said, /invariants +memory is the database: ok\n[\s\S]*no problems: the panel would start\n$/);
  t.regex(
    good.said,
    /engine +the core has the inbounds and users of the database: not checked: no core runs/,
  );
  await editDatabase(folder, [`UPDATE clients SET comment = 'by hand'`]);
  const bad = await deep();
  t.is(bad.code, 1);
  t.notRegex(bad.said, /no problems/);
  t.regex(
    bad.said,
    /clients in memory are those of the database: 1 disagree\n {2}- client 1 \(ada\): comment is "" in memory, and "by hand" in the database\n {2}the way out: restart/,
  );
  await panel.kill('SIGKILL');
  const alone = await deep();
  t.is(alone.code, 0, alone.said + alone.complained);
  t.regex(alone.said, /references lead to rows: ok/);
});

test('a damaged database is named with the way out', async (t) => {
  const folder = await folderOf(t);
  await writeFile(join(folder, 'weir.sqlite'), 'no database '.repeat(100));
  const { code, complained } = await weirWithCheck(folder, ['check'], env, check);
  t.is(code, 1);
  t.regex(complained, /weir\.sqlite in \S+ cannot be opened: .*not a database; .*`weir restore <file>`/);
});

test('everything that is wrong is reported at once, on standard error, with code 1; secrets are not', async (t) => {
  const folder = await folderOf(t);
  await thirdParty(folder, 'broken', "throw new Error('not today');");
  await writeFiles(folder, {
    'weir.json': {
      prot: 1,
      plugins: { 'path:broken': true, clients: false, nosuch: true, realtime: { config: { loud: 1 } } },
    },
  });
  const wrong = {
    WEIR_PANEL_PORT: 'abc',
    WEIR_TLS_CERT: '/nowhere',
    WEIR_DATABASE_URL: 'mysql://ada:hunter2@127.0.0.1:1/weir',
  };
  const { code, said, complained } = await weirWithCheck(folder, ['check'], wrong, check);
  t.is(code, 1);
  for (const part of [
    'the panel would not start:',
    'prot in ',
    'there is no plugin nosuch',
    'the panel cannot start without the plugin clients',
    'plugins.realtime.config.loud in ',
    'WEIR_PANEL_PORT must be a number',
    'WEIR_TLS_CERT is set, but WEIR_TLS_KEY is not',
    'the database weir on 127.0.0.1:1 cannot be opened: ',
  ])
    t.true(complained.includes(part), `${part} in: ${complained}`);
  t.false(`${said}${complained}`.includes('hunter2'));
  t.deepEqual((await readdir(folder)).sort(), ['broken', 'weir.json']);
});

test('a certificate that has expired is noted', async (t) => {
  const folder = await folderOf(t);
  const pair = await writePair(folder, issue({ name: 'localhost', from: -3, until: -2 }));
  const { notes, problems } = await looked(folder, {
    ...env,
    WEIR_TLS_CERT: pair.certFile,
    WEIR_TLS_KEY: pair.keyFile,
  });
  t.deepEqual(problems, []);
  t.regex(notes.join('\n'), /the certificate of the panel expired on \d{4}-\d\d-\d\d, so browsers/);
});

test('a disk without room is noted', async (t) => {
  // No file system has less room than this one.
  t.regex((await diskNote('/proc')) ?? '', /^the disk of \/proc has 0 MiB left; free space on it/);
  t.is(await diskNote('/nowhere/at/all'), undefined, 'a start makes it');
});

test('plugins that would be left out are listed with the reason; those disabled along with another one are only noted', async (t) => {
  const folder = await folderOf(t);
  const started =
    "start: () => { throw new Error('a check started it'); }, stop: () => { throw new Error('a check stopped it'); }";
  const stray =
    "routes: () => [route({ method: 'GET', path: '/panel/api/clients/mine', doc: 'x', reply: message(), handle: () => 'x' })]";
  await thirdParty(folder, 'fine', source('fine', started));
  await thirdParty(folder, 'stray', source('stray', stray, 'route, message'));
  await thirdParty(folder, 'broken', "throw new Error('not today');");
  await thirdParty(
    folder,
    'sql',
    source('sql', "migrations: [{ name: '1', up: () => ['CREATE TABLE x_sql_a (b INTEGER', 'nonsense'] }]"),
  );
  await thirdParty(folder, 'old', source('old'), { weir: { api: 0 } });
  const paths = ['path:fine', 'path:stray', 'path:broken', 'path:sql', 'path:old'];
  await writeFiles(folder, {
    'weir.json': {
      plugins: {
        ...Object.fromEntries(paths.map((path) => [path, true])),
        'sub-links': false,
        subscription: false,
      },
    },
  });
  const report = await looked(folder, { WEIR_NOBODY_READS_THIS: '1' });
  t.deepEqual(report.problems, []);
  t.deepEqual(
    report.plugins.filter(({ outside }) => outside),
    [{ name: 'fine', version: '1.2.3', outside: true }],
  );
  t.deepEqual(report.failed.map(({ name }) => name).sort(), ['broken', 'path:old', 'sql', 'stray']);
  const reasons = report.failed.map(({ reason }) => reason).join('\n');
  for (const part of [
    'not today',
    'kernel contract 0',
    'migration 1 of plugin sql failed',
    'plugin stray declares a route GET',
  ])
    t.true(reasons.includes(part), `${part} in: ${reasons}`);
  t.true(
    report.notes.some((note) =>
      note.startsWith('WEIR_NOBODY_READS_THIS: no enabled plugin reads this variable'),
    ),
    report.notes.join(),
  );
});

test('pending migrations are listed and not run; those of a newer release are listed too', async (t) => {
  const folder = await folderOf(t);
  await (await TestPanel.boot({ dataDirectory: folder, env })).stop();
  const before = await appliedMigrations(undefined, folder);
  const one = "{ name: '0001-drops', up: () => ['CREATE TABLE x_well_drops (a INTEGER)'] }";
  await thirdParty(folder, 'well', source('well', `migrations: [${one}]`));
  await writeFiles(folder, { 'weir.json': { plugins: { 'path:well': true } } });
  const report = await looked(folder);
  t.deepEqual([report.problems, report.failed], [[], []]);
  t.true(
    report.notes.includes(
      'a start would migrate the database (and copy a SQLite file first): well/0001-drops',
    ),
    report.notes.join(),
  );
  t.deepEqual(await appliedMigrations(undefined, folder), before);

  const { plugins } = await choosePlugins(
    { WEIR_DATA_DIR: folder },
    await readConfigFile({ WEIR_DATA_DIR: folder }),
  );
  await (await TestPanel.boot({ dataDirectory: folder, env, plugins })).stop();
  // A new process reads the changed code.
  await thirdParty(folder, 'well', source('well'));
  t.true(
    (await checkInChild({ env: { WEIR_DATA_DIR: folder } })).notes.some((note) =>
      note.endsWith('this one does not know: well/0001-drops'),
    ),
  );
});

test('a plugin that hangs or ends the process while it is imported does so in the process of the check', async (t) => {
  const folder = await folderOf(t);
  await writeFiles(folder, { 'weir.json': { plugins: { 'path:oddity': true } }, 'tmp/x': '' });
  // Blocks the thread as an endless loop does, and leaves the processor to others.
  const hang = `writeFileSync(${JSON.stringify(join(folder, 'tmp'))} + '/hangs', ''); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;
  const left = () => readdir(join(folder, 'tmp'));
  const check = async (module: string, limit: number): Promise<string> => {
    await thirdParty(folder, 'oddity', `import { writeFileSync } from 'node:fs';\n${module}`);
    const { problems } = await checkInChild(
      { env: { PATH: process.env['PATH'], WEIR_DATA_DIR: folder, TMPDIR: join(folder, 'tmp') } },
      limit,
    );
    t.is(problems.length, 1);
    return problems[0] ?? '';
  };
  for (const module of [hang, source('oddity', `taps: () => { ${hang} }`)]) {
    // A busy machine comes to the plugin late.
    for (const limit of [10_000, 30_000, 90_000]) {
      t.regex(
        await check(module, limit),
        new RegExp(`^the check did not finish: it took longer than ${limit / 1000} s; a plugin may hang`),
      );
      if ((await left()).includes('hangs')) break;
    }
    t.deepEqual(await left(), ['hangs', 'x'], 'it came that far, and nothing stays behind');
    await rm(join(folder, 'tmp', 'hangs'));
  }
  t.is(
    await check("console.error('bye'); process.exit(7);", 90_000),
    'the check did not finish: exit code 7: bye',
  );
  t.deepEqual(await left(), ['x']);
});

test('reports a data folder that is not a directory', async (t) => {
  const folder = await folderOf(t);
  await writeFiles(folder, { file: 'x' });
  t.deepEqual((await looked(join(folder, 'file'))).problems.slice(0, 1), [
    `the data folder ${join(folder, 'file')} is not a directory; set WEIR_DATA_DIR to one`,
  ]);
});
