import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { bool, int, optional, variable, withDefault, word } from '../../kernel/index.js';
import { PluginError } from '../../kernel/plugin/error.js';
import { bare, World } from '../../kernel/test/world.js';
import { choosePlugins, readPreset } from '../choose-plugins.js';
import { type ConfigFile, noFile, readConfigFile } from '../config-file.js';
import { configure } from '../configure.js';
import { ConfigError } from '../variables.js';

async function fileWith(
  t: ExecutionContext,
  content: unknown,
): Promise<{ folder: string; path: string; file: ConfigFile }> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-config-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'weir.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return { folder, path, file: await readConfigFile({ WEIR_DATA_DIR: folder }) };
}

const door = bare('door', {
  config: {
    width: variable('WEIR_DOOR_WIDTH', withDefault(int().min(1), 80), 'how wide'),
    open: variable('WEIR_DOOR_OPEN', withDefault(bool(), false), 'whether open'),
    colour: variable('WEIR_DOOR_COLOUR', optional(word()), 'its colour'),
    password: variable('WEIR_DOOR_PASSWORD', optional(word().min(8)), 'who may pass'),
  },
});
const problemsOf = async (
  t: ExecutionContext,
  content: unknown,
  env: Record<string, string> = {},
): Promise<readonly string[]> => {
  const { file, path } = await fileWith(t, content);
  const error = await t.throwsAsync(configure([door], env, file), { instanceOf: ConfigError });
  return error.problems.map((problem) => problem.replaceAll(path, 'FILE'));
};

test('the environment takes precedence over the file, the file over the default; a plugin can see the source', async (t) => {
  const { file } = await fileWith(t, {
    host: '::1',
    port: 1234,
    trustedProxies: ['10.0.0.0/8', '::1'],
    plugins: { door: { config: { width: 90, colour: 'red' } } },
  });
  const { panel, configs } = await configure(
    [door],
    { WEIR_PANEL_PORT: '4321', WEIR_DOOR_WIDTH: '100', WEIR_DOOR_COLOUR: '' },
    file,
  );
  t.like(panel, { host: '::1', port: 4321, trustedProxies: ['10.0.0.0/8', '::1'], logLevel: 'info' });
  t.deepEqual(configs.get('door'), {
    values: { width: 100, open: false, colour: 'red', password: undefined } as object,
    sources: { width: 'environment', open: 'default', colour: 'file', password: 'default' } as object,
  });
});

test('a running plugin sees values and their sources', async (t) => {
  const { file } = await fileWith(t, { plugins: { seer: { config: { word: 'hello' } } } });
  const seen: unknown[] = [];
  const seer = bare('seer', {
    config: { word: variable('WEIR_WORD', optional(word()), 'a word') },
    start: ({ config, configSource }) => void seen.push(config, configSource),
  });
  await using _ = await World.boot([seer], { file });
  t.deepEqual(seen, [{ word: 'hello' }, { word: 'file' }]);
});

test('reports mistakes of file and environment together, each with its key or variable', async (t) => {
  const content = {
    prot: 80,
    port: '80',
    logLevel: 'loud',
    trustedProxies: ['10.0.0.1', 'nonsense'],
    plugins: {
      door: { config: { width: 0, opne: true, password: 'hunter2' } },
      wall: 'yes',
      roof: { enabled: true, on: 1, config: [] },
    },
  };
  const problems = await problemsOf(t, content, { WEIR_HOST: 'not a host', WEIR_DOOR_OPEN: 'perhaps' });
  t.deepEqual(
    problems.map((problem) => /^(?:WEIR_\w+|\S+ in FILE)/.exec(problem)?.[0]),
    [
      'plugins.wall in FILE',
      'plugins.roof.enabled in FILE',
      'plugins.roof.on in FILE',
      'plugins.roof.config in FILE',
      'WEIR_HOST',
      'port in FILE',
      'trustedProxies in FILE',
      'logLevel in FILE',
      'prot in FILE',
      'plugins.door.config.width in FILE',
      'WEIR_DOOR_OPEN',
      'plugins.door.config.password in FILE',
      'plugins.door.config.opne in FILE',
    ],
  );
  const all = problems.join('\n');
  for (const part of [
    'prot in FILE is unknown; kernel has preset, host, port, tlsCert, tlsKey, trustedProxies, logLevel, databaseUrl, plugins',
    'opne in FILE is unknown; door has width, open, colour, password',
    'must be a number, but it is "80" (kernel)',
    '"nonsense" is neither an address nor a CIDR',
    'WEIR_DOOR_OPEN must be a boolean, but it is "perhaps" (door)',
  ])
    t.true(all.includes(part), `${part} in:\n${all}`);
  t.false(all.includes('hunter2'));
});

test('the file cannot set the data folder or its own path', async (t) => {
  t.deepEqual(
    (await problemsOf(t, { dataDirectory: '/tmp', configFile: 'x' })).map((problem) => problem.split(';')[0]),
    ['dataDirectory in FILE is unknown', 'configFile in FILE is unknown'],
  );
});

test('names a file that is not a JSON object, without showing its content', async (t) => {
  for (const content of ['[]', '"text"', 'null', '1'])
    t.regex((await problemsOf(t, content))[0] ?? '', /^FILE must hold an object/, content);
  for (const content of [
    '',
    '{',
    '{"plugins": {"access": {"config": {"password": hunter2}}}}',
    '{"a": "hunter2" "b"}',
  ]) {
    const [problem = ''] = await problemsOf(t, content);
    t.regex(problem, /^FILE is not valid JSON: .*; fix it or remove it$/);
    t.false(problem.includes('hunter2'), problem);
  }
  t.regex((await problemsOf(t, { plugins: ['door'] }))[0] ?? '', /^plugins in FILE must be an object/);
});

test('weir.json in the data folder is optional; a file that was named must exist', async (t) => {
  const { folder, path } = await fileWith(t, '{"port": 1}');
  t.deepEqual(await readConfigFile({ WEIR_DATA_DIR: join(folder, 'elsewhere') }), noFile);
  t.like(await readConfigFile({ WEIR_DATA_DIR: join(folder, 'elsewhere'), WEIR_CONFIG: path }), {
    path,
    panel: { port: 1 },
  });
  t.deepEqual((await readConfigFile({ WEIR_CONFIG: join(folder, 'gone') })).problems, [
    `WEIR_CONFIG is ${join(folder, 'gone')}, but there is no such file; fix the path or unset the variable`,
  ]);
  t.regex((await readConfigFile({ WEIR_CONFIG: folder })).problems[0] ?? '', /cannot be read/);
});

const chosen = async (
  t: ExecutionContext,
  content: unknown,
  env: Record<string, string> = {},
): Promise<{ names: string[]; problems: readonly string[] }> => {
  const { file, path } = await fileWith(t, content);
  const {
    plugins,
    file: { problems },
  } = await choosePlugins(env, file);
  return {
    names: plugins.map(({ name }) => name).sort(),
    problems: problems.map((problem) => problem.replace(path, 'FILE')),
  };
};

test('the preset comes from environment, file or default; the file adds plugins and leaves some out', async (t) => {
  const [minimal, standard] = [(await readPreset('minimal')).sort(), (await readPreset('standard')).sort()];
  t.deepEqual((await chosen(t, {})).names, standard);
  t.deepEqual((await chosen(t, { preset: 'minimal' })).names, minimal);
  t.deepEqual((await chosen(t, { preset: 'minimal' }, { WEIR_PRESET: 'standard' })).names, standard);
  t.deepEqual((await chosen(t, {}, { WEIR_PRESET: 'minimal' })).names, minimal);
  t.deepEqual(
    (await chosen(t, { preset: 'minimal', plugins: { 'server-status': true, clients: true } })).names,
    [...minimal, 'server-status'].sort(),
  );
  t.deepEqual(
    (await chosen(t, { preset: 'minimal', plugins: { 'server-status': { config: {} } } })).names,
    [...minimal, 'server-status'].sort(),
  );
  t.deepEqual(
    (await chosen(t, { plugins: { 'server-status': false } })).names,
    standard.filter((name) => name !== 'server-status'),
  );
  t.deepEqual(
    (await chosen(t, { plugins: { 'server-status': { on: false, config: { kept: 'for later' } } } })).names,
    standard.filter((name) => name !== 'server-status'),
  );
});

test('reports unknown plugins and disabled essential ones as mistakes of the file', async (t) => {
  const { problems } = await chosen(t, {
    plugins: { subscripton: false, 'no-such': true, '../x': true, access: false },
  });
  t.deepEqual([...problems].sort(), [
    '"../x" is not a valid plugin name; use lower-case letters, digits and hyphens (plugins.../x in FILE)',
    'plugins.access in FILE: the panel cannot start without the plugin access; set it to true or remove the entry',
    'there is no plugin no-such: plugins/no-such/index is missing (plugins.no-such in FILE)',
    'there is no plugin subscripton: plugins/subscripton/index is missing (plugins.subscripton in FILE)',
  ]);
});

test('reports incompatible plugins, with the other mistakes or alone', async (t) => {
  const old = bare('old', { api: 0 });
  await t.throwsAsync(configure([old], {}, noFile), {
    instanceOf: PluginError,
    message: /kernel contract 0/,
  });
  const error = await t.throwsAsync(
    configure([old, door], { WEIR_PANEL_PORT: 'x', WEIR_DOOR_WIDTH: 'y' }, noFile),
    { instanceOf: ConfigError },
  );
  t.deepEqual(
    error.problems.map((problem) => problem.split(' ').slice(0, 2).join(' ')),
    ['WEIR_PANEL_PORT must', 'WEIR_DOOR_WIDTH must', 'plugin old'],
  );
});
