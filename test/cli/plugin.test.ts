// `weir plugin add` and `remove`: real npm, without a network, on packages of strangers.
import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { weir } from '../../cli/weir.js';
import { PanelProcess } from '../harness/panel-process.js';
import { weirCommand } from '../harness/weir-command.js';
import { folderOf, source, stranger, writeFiles } from '../outside/stranger.js';

const env = { WEIR_ENGINE_BIN: '/nowhere/core', npm_config_offline: 'true' };
const run = promisify(execFile);

/** The file that an author would publish. */
async function packed(folder: string, name: string, module?: string, manifest: object = {}): Promise<string> {
  await stranger(folder, name, module, manifest);
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
async function start(t: ExecutionContext, dataDirectory: string): Promise<PanelProcess> {
  const panel = await PanelProcess.start({ dataDirectory, env });
  t.teardown(() => panel.kill('SIGKILL'));
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
  const added = await weirCommand(data, ['plugin', 'add', file], env);
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
  const well = await stranger(shop, 'well');
  const second = await weirCommand(data, ['plugin', 'add', well.replace('path:', 'file:')], env);
  t.deepEqual([second.code, second.complained], [0, '']);
  t.deepEqual(await packagesIn(data), ['weir-plugin-compass', 'weir-plugin-well']);

  await writeFiles(data, {
    'weir.json': {
      host: '127.0.0.1',
      plugins: { 'npm:weir-plugin-compass': { on: false, config: {} }, 'npm:weir-plugin-well': true },
    },
  });
  const newer = await packed(shop, 'compass', compass, { version: '2.0.0' });
  const updated = await weirCommand(data, ['plugin', 'add', newer], env);
  t.regex(updated.said, /^the plugin compass was updated from 1\.2\.3 to 2\.0\.0\n/);
  t.deepEqual(await configIn(data), {
    host: '127.0.0.1',
    plugins: { 'npm:weir-plugin-compass': { config: {} }, 'npm:weir-plugin-well': true },
  });
  t.regex(
    (await weirCommand(data, ['plugin', 'add', newer], env)).said,
    /^the plugin compass 2\.0\.0 is already installed\n/,
  );
  t.is(
    (await panel.call<unknown>('/panel/api/x/compass/north')).body.msg,
    'up',
    'the panel that runs noticed nothing',
  );

  const removed = await weirCommand(data, ['plugin', 'remove', 'compass'], env);
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
  const again = await weirCommand(data, ['plugin', 'remove', 'compass'], env);
  t.deepEqual([again.code, again.said.split(':')[0]], [0, 'there is nothing to remove']);
  t.regex((await weirCommand(data, ['plugin', 'remove', 'wel'], env)).said, /; did you mean .*well/);
});

test('a folder stays where it is, is named once, and is only no longer named when it is removed', async (t) => {
  const data = await folderOf(t);
  const shop = await folderOf(t);
  const reference = await stranger(shop, 'sundial');
  await writeFiles(data, { 'weir.json': { plugins: { realtime: false } } });
  for (const said of [
    /^added the plugin sundial 1\.2\.3\n/,
    /^the plugin sundial 1\.2\.3 is already installed\n/,
  ]) {
    const { code, said: text } = await weirCommand(data, ['plugin', 'add', join(shop, 'sundial')], env);
    t.is(code, 0);
    t.regex(text, said);
    t.deepEqual(await configIn(data), { plugins: { realtime: false, [reference]: true } });
  }
  const reader = await stranger(
    shop,
    'reader',
    source('reader', "uses: { hours: token('sundial', 'Hours') }", 'token'),
  );
  await writeFiles(data, {
    'weir.json': { plugins: { realtime: false, [reference]: true, [reader]: true } },
  });
  const removed = await weirCommand(data, ['plugin', 'remove', 'sundial'], env);
  t.is(removed.code, 0);
  t.regex(removed.said, /^note: plugin reader needs sundial\/Hours, but the plugin sundial is not enabled/m);
  t.deepEqual(await configIn(data), { plugins: { realtime: false, [reader]: true } });
  t.deepEqual((await readdir(join(shop, 'sundial'))).sort(), ['index.js', 'package.json']);
  const builtIn = await weirCommand(data, ['plugin', 'remove', 'realtime'], env);
  t.is(builtIn.code, 1);
  t.regex(
    builtIn.complained,
    /^realtime is built in and cannot be removed; \{"plugins": \{"realtime": false\}\} in .*weir\.json disables it/,
  );
});

test('what the panel would not start with is not added, and nothing is left of it', async (t) => {
  const data = await folderOf(t);
  const shop = await folderOf(t);
  const kept = { plugins: { [await stranger(shop, 'fine')]: true } };
  await writeFiles(data, { 'weir.json': kept });
  const needs = source(
    'needy',
    "config: { depth: variable('WEIR_X_NEEDY_DEPTH', int().min(1), 'how deep') }",
    'variable, int',
  );
  const wrong: readonly (readonly [string, RegExp])[] = [
    [join(shop, 'nowhere.tgz'), /npm pack failed: /],
    [join(shop, 'nowhere'), /npm pack failed: /],
    [
      await packed(shop, 'elsewhere', undefined, { name: 'left-pad' }),
      /is a package called left-pad; plugin packages are called weir-plugin-<name>/,
    ],
    [
      await packed(shop, 'old', "throw new Error('it ran');", { weir: { api: 0 } }),
      /was written for kernel contract 0, this panel has 1; update the plugin$/m,
    ],
    [
      await packed(shop, 'broken', "throw new Error('not today');"),
      /failed while it was imported: not today/,
    ],
    [await packed(shop, 'clients'), /is called clients, like a built-in plugin/],
    [
      (await stranger(join(shop, 'more'), 'fine')).replace('path:', ''),
      /is called fine, like another one in /,
    ],
    [await packed(shop, 'needy', needs), /plugin needy: .*WEIR_X_NEEDY_DEPTH.* is required/],
  ];
  const add = async (...argv: string[]) => {
    const out: string[] = [];
    const complained: string[] = [];
    const code = await weir(
      ['plugin', 'add', ...argv],
      { PATH: process.env['PATH'], WEIR_DATA_DIR: data },
      { say: (line) => out.push(line), complain: (line) => complained.push(line) },
    );
    return { code, said: out.join('\n'), complained: complained.join('\n') };
  };
  for (const [spec, said] of wrong) {
    const { code, said: out, complained } = await add(spec);
    t.deepEqual([code, out], [1, ''], spec);
    t.true(complained.startsWith(`${spec} was not added, and nothing was changed: `), complained);
    t.regex(complained, said);
    t.deepEqual([await configIn(data), await readdir(data)], [kept, ['weir.json']], spec);
  }
  const needy = join(shop, 'weir-plugin-needy-1.2.3.tgz');
  for (const config of ['{', '[]', '{"depth": 0}'])
    t.is((await add(needy, '--config', config)).code, 1, config);
  t.deepEqual(await readdir(data), ['weir.json']);
  t.is((await add(needy, '--config', '{"depth": 3}')).code, 0);
  t.deepEqual(await configIn(data), {
    plugins: { ...kept.plugins, 'npm:weir-plugin-needy': { config: { depth: 3 } } },
  });
  const without = await weirCommand(data, ['plugin', 'add', needy], { ...env, PATH: '/nowhere' });
  t.regex(without.complained, /npm is not on PATH; it comes with Node/);
});

test('two at once do not get into each other, and what a crash has left is put right', async (t) => {
  const data = await folderOf(t);
  const shop = await folderOf(t);
  const file = await packed(shop, 'compass');
  t.is((await weirCommand(data, ['plugin', 'add', file], env)).code, 0);
  await writeFiles(data, { 'plugins.new/pid': String(process.pid) });
  const { code, complained } = await weirCommand(data, ['plugin', 'remove', 'compass'], env);
  t.is(code, 1);
  t.regex(complained, /the process \d+ is changing the plugins of .*; try again when it has exited/);
  // Of a process that is gone, between the two moves.
  const gone = await run(process.execPath, ['-p', 'process.pid']);
  await run('mv', [join(data, 'plugins'), join(data, 'plugins.new', 'previous')]);
  await writeFiles(data, { 'plugins.new/pid': gone.stdout.trim() });
  t.is((await weirCommand(data, ['plugin', 'add', await packed(shop, 'well')], env)).code, 0);
  t.deepEqual(await packagesIn(data), ['weir-plugin-compass', 'weir-plugin-well']);
  // Its files go though the config file no longer names it.
  t.is((await weirCommand(data, ['plugin', 'remove', 'weir-plugin-compass'], env)).code, 0);
  t.deepEqual(
    [await packagesIn(data), (await readdir(data)).sort()],
    [['weir-plugin-well'], ['plugins', 'weir.json']],
  );
});
