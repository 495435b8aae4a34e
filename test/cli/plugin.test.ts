// `weir plugin add` and `remove`: real npm, without a network, on third-party packages. The panel and its check run in the
// process of the test, for these plugins do no harm while they are imported.
import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { check } from '../../panel/check.js';
import { ProgramPanel } from '../harness/program-panel.js';
import { type Ended, weirWithCheck, weirProcess } from '../harness/weir-command.js';
import { folderOf, source, thirdParty, writeFiles } from '../outside/third-party.js';

const env = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_PRESET: 'minimal' };
// npm runs as a child of this process.
process.env['npm_config_offline'] = 'true';
const run = promisify(execFile);

/** The file that an author would publish. */
async function packed(folder: string, name: string, module?: string, manifest: object = {}): Promise<string> {
  await thirdParty(folder, name, module, manifest);
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--offline', '--ignore-scripts', '--pack-destination', folder],
    { cwd: join(folder, name) },
  );
  const [answer] = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
  return join(folder, (answer?.filename ?? 'nothing').replace('@', '').replace('/', '-'));
}
const configIn = async (folder: string): Promise<unknown> =>
  JSON.parse(await readFile(join(folder, 'weir.json'), 'utf8'));
const packagesIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, 'plugins', 'node_modules')).catch(() => []))
    .filter((name) => !name.startsWith('.'))
    .sort();
/** A folder as npm names it, to be packed and installed. */
const folderSpec = (reference: string): string => reference.replace('path:', 'file:');
const weirIn =
  (data: string) =>
  (...argv: string[]): Promise<Ended> =>
    weirWithCheck(data, argv, env, check);
async function start(t: ExecutionContext, dataDirectory: string): Promise<ProgramPanel> {
  const panel = await ProgramPanel.start({ dataDirectory, env });
  t.teardown(() => panel.stop());
  return panel;
}

test('from a file: kept in the data folder, without its scripts; updated, beside others, and away again', async (t) => {
  const shop = await folderOf(t);
  const data = join(await folderOf(t), 'data');
  const ran = join(shop, 'ran');
  const greets =
    "routes: () => [route({ method: 'GET', path: '/panel/api/x/compass/north', doc: 'x', reply: message(), handle: () => 'up' })]";
  const compass = source('compass', greets, 'route, message');
  const file = await packed(shop, 'compass', compass, {
    scripts: { postinstall: `touch ${ran}`, prepare: `touch ${ran}` },
    peerDependencies: { weir: '^1' },
  });
  const weir = weirIn(data);
  const added = await weirProcess(data, ['plugin', 'add', file], env);
  t.deepEqual([added.code, added.complained], [0, '']);
  t.regex(
    added.said,
    /^added the plugin compass 1\.2\.3\n.*weir\.json names it npm:weir-plugin-compass; it runs with all rights of the panel, from the next start/,
  );
  t.deepEqual(await configIn(data), { plugins: { 'npm:weir-plugin-compass': true } });
  t.deepEqual(
    (await readdir(data)).sort(),
    ['plugins', 'weir.json'],
    'nothing else is left, and no panel was started',
  );
  await t.throwsAsync(readFile(ran), { code: 'ENOENT' });

  // From now on without that file, and while a panel runs.
  await rm(file);
  const panel = await start(t, data);
  t.is((await panel.call<unknown>('/panel/api/x/compass/north')).body.msg, 'up');
  const well = await thirdParty(shop, 'well');
  const second = await weir('plugin', 'add', folderSpec(well));
  t.deepEqual([second.code, second.complained], [0, '']);
  t.deepEqual(await packagesIn(data), ['weir-plugin-compass', 'weir-plugin-well']);

  await writeFiles(data, {
    'weir.json': {
      host: '127.0.0.1',
      plugins: { 'npm:weir-plugin-compass': { on: false, config: {} }, 'npm:weir-plugin-well': true },
    },
  });
  const newer = folderSpec(await thirdParty(shop, 'compass', compass, { version: '2.0.0' }));
  const updated = await weir('plugin', 'add', newer);
  t.regex(updated.said, /^the plugin compass was updated from 1\.2\.3 to 2\.0\.0\n/);
  t.deepEqual(await configIn(data), {
    host: '127.0.0.1',
    plugins: { 'npm:weir-plugin-compass': { config: {} }, 'npm:weir-plugin-well': true },
  });
  t.regex((await weir('plugin', 'add', newer)).said, /^the plugin compass 2\.0\.0 is already installed\n/);
  t.is(
    (await panel.call<unknown>('/panel/api/x/compass/north')).body.msg,
    'up',
    'the panel that runs noticed nothing',
  );

  const removed = await weir('plugin', 'remove', 'compass');
  t.deepEqual([removed.code, removed.complained], [0, '']);
  t.regex(
    removed.said,
    /no longer names npm:weir-plugin-compass; .*\nweir-plugin-compass is no longer in the data folder\nits tables and settings stay .* weir purge compass /,
  );
  t.deepEqual(
    [await configIn(data), await packagesIn(data)],
    [{ host: '127.0.0.1', plugins: { 'npm:weir-plugin-well': true } }, ['weir-plugin-well']],
  );
  t.deepEqual(await readdir(join(data, 'plugins', 'packages')), ['weir-plugin-well-1.2.3.tgz']);
  const again = await weir('plugin', 'remove', 'compass');
  t.deepEqual([again.code, again.said.split(':')[0]], [0, 'there is nothing to remove']);
  t.regex((await weir('plugin', 'remove', 'wel')).said, /; did you mean .*well/);
});

test('a folder stays where it is, is named once, and is only no longer named when it is removed', async (t) => {
  const data = await folderOf(t);
  const shop = await folderOf(t);
  const reference = await thirdParty(shop, 'sundial');
  const weir = weirIn(data);
  await writeFiles(data, { 'weir.json': { plugins: { realtime: false } } });
  for (const said of [
    /^added the plugin sundial 1\.2\.3\n/,
    /^the plugin sundial 1\.2\.3 is already installed\n/,
  ]) {
    const { code, said: text } = await weir('plugin', 'add', join(shop, 'sundial'));
    t.is(code, 0);
    t.regex(text, said);
    t.deepEqual(await configIn(data), { plugins: { realtime: false, [reference]: true } });
  }
  const reader = await thirdParty(
    shop,
    'reader',
    source('reader', "uses: { hours: token('sundial', 'Hours') }", 'token'),
  );
  await writeFiles(data, {
    'weir.json': { plugins: { realtime: false, [reference]: true, [reader]: true } },
  });
  const removed = await weir('plugin', 'remove', 'sundial');
  t.is(removed.code, 0);
  t.regex(removed.said, /^note: plugin reader needs sundial\/Hours, but the plugin sundial is not enabled/m);
  t.deepEqual(await configIn(data), { plugins: { realtime: false, [reader]: true } });
  t.deepEqual((await readdir(join(shop, 'sundial'))).sort(), ['index.js', 'package.json']);
  const builtIn = await weir('plugin', 'remove', 'realtime');
  t.is(builtIn.code, 1);
  t.regex(
    builtIn.complained,
    /^realtime is built in and cannot be removed; \{"plugins": \{"realtime": false\}\} in .*weir\.json disables it/,
  );
});

const BARE = "tables: { drops: table('x_bare_drops', { id: column.id() }) }";
const PAGED =
  "start: () => undefined, routes: () => [staticFiles({ path: '/panel/x/paged/', folder: '/nowhere/page', doc: 'x' })]";

test('what the panel would not start with is not added, and nothing is left of it', async (t) => {
  const data = await folderOf(t);
  const shop = await folderOf(t);
  const kept = { plugins: { [await thirdParty(shop, 'fine')]: true } };
  await writeFiles(data, { 'weir.json': kept });
  const needs = source(
    'needy',
    "config: { depth: variable('WEIR_X_NEEDY_DEPTH', int().min(1), 'how deep') }",
    'variable, int',
  );
  const named = await packed(shop, 'elsewhere', undefined, { name: 'left-pad' });
  const wrong: readonly (readonly [string, RegExp])[] = [
    [join(shop, 'nowhere'), /nowhere does not exist; name the folder or the \.tgz file of a plugin/],
    [`file:${join(shop, 'nowhere.tgz')}`, /npm pack failed: /],
    [named, /is a package called left-pad; plugin packages are called weir-plugin-<name>/],
    [
      await thirdParty(shop, 'old', "throw new Error('it ran');", { weir: { api: 0 } }),
      /was written for kernel contract 0, this panel has 1; update the plugin$/m,
    ],
    [
      folderSpec(await thirdParty(shop, 'broken', "throw new Error('not today');")),
      /failed while it was imported: not today/,
    ],
    [await thirdParty(shop, 'clients'), /is called clients, like a built-in plugin/],
    [await thirdParty(join(shop, 'more'), 'fine'), /is called fine, like another one in /],
    [
      await thirdParty(shop, 'bare', source('bare', BARE, 'table, column')),
      /declares the table x_bare_drops, which none of its migrations creates; its author has to add one/,
    ],
    [
      await thirdParty(shop, 'paged', source('paged', PAGED, 'staticFiles')),
      /plugin paged cannot serve its routes: the folder \/nowhere\/page does not exist; build it first/,
    ],
    [await thirdParty(shop, 'needy', needs), /plugin needy: .*WEIR_X_NEEDY_DEPTH.* is required/],
  ];
  const add = (...argv: string[]) => weirIn(data)('plugin', 'add', ...argv);
  for (const [spec, said] of wrong) {
    const { code, said: out, complained } = await add(spec);
    t.deepEqual([code, out], [1, ''], `${spec}: ${complained}`);
    t.true(complained.startsWith(`${spec} was not added, and nothing was changed: `), complained);
    t.regex(complained, said);
    t.deepEqual([await configIn(data), await readdir(data)], [kept, ['weir.json']], spec);
  }
  const needy = `path:${join(shop, 'needy')}`;
  for (const config of ['{', '[]', '{"depth": 0}'])
    t.is((await add(needy, '--config', config)).code, 1, config);
  t.deepEqual(await readdir(data), ['weir.json']);
  t.is((await add(needy, '--config', '{"depth": 3}')).code, 0);
  t.deepEqual(await configIn(data), {
    plugins: { ...kept.plugins, [needy]: { config: { depth: 3 } } },
  });
  const without = await weirProcess(data, ['plugin', 'add', named], { ...env, PATH: '/nowhere' });
  t.regex(without.complained, /npm is not on PATH; it comes with Node/);
});

test('two at once do not get into each other, and what a crash has left is put right', async (t) => {
  const data = await folderOf(t);
  const shop = await folderOf(t);
  const weir = weirIn(data);
  t.is((await weir('plugin', 'add', folderSpec(await thirdParty(shop, 'compass')))).code, 0);
  await writeFiles(data, { 'plugins.new/pid': String(process.pid) });
  const { code, complained } = await weir('plugin', 'remove', 'compass');
  t.is(code, 1);
  t.regex(complained, /the process \d+ is changing the plugins of .*; try again when it has exited/);
  // Of a process that is gone, between the two moves.
  const gone = await run(process.execPath, ['-p', 'process.pid']);
  await run('mv', [join(data, 'plugins'), join(data, 'plugins.new', 'previous')]);
  await writeFiles(data, { 'plugins.new/pid': gone.stdout.trim() });
  t.is((await weir('plugin', 'add', folderSpec(await thirdParty(shop, 'well')))).code, 0);
  t.deepEqual(await packagesIn(data), ['weir-plugin-compass', 'weir-plugin-well']);
  // Its files go though the config file no longer names it.
  t.is((await weir('plugin', 'remove', 'weir-plugin-compass')).code, 0);
  t.deepEqual(
    [await packagesIn(data), (await readdir(data)).sort()],
    [['weir-plugin-well'], ['plugins', 'weir.json']],
  );
});
