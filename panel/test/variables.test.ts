import test from 'ava';
import {
  bool,
  int,
  oneOf,
  optional,
  port,
  text,
  urlPath,
  variable,
  withDefault,
  word,
} from '../../kernel/index.js';
import { validate } from '../../kernel/errors/invalid.js';
import { bare, World } from '../../kernel/test/world.js';
import { panelVariables } from '../boot-settings.js';
import { ConfigError, readVariables, unknownVariables } from '../variables.js';

const variables = {
  count: variable('WEIR_COUNT', withDefault(int().min(1), 3), 'how many'),
  loud: variable('WEIR_LOUD', withDefault(bool(), false), 'whether loud'),
  name: variable('WEIR_NAME', optional(word().max(5)), 'a name'),
  kind: variable('WEIR_KIND', oneOf('red', 'blue'), 'a colour'),
  password: variable('WEIR_DOOR_PASSWORD', optional(word().min(8)), 'a secret'),
} as const;
function read(env: Record<string, string | undefined>) {
  const problems: string[] = [];
  return { values: readVariables('door', variables, env, problems), problems };
}

test('converts text by the schema, and uses defaults for missing variables', (t) => {
  t.deepEqual(read({ WEIR_COUNT: '7', WEIR_LOUD: 'true', WEIR_KIND: 'red' }), {
    values: { count: 7, loud: true, name: undefined, kind: 'red', password: undefined } as never,
    problems: [],
  });
});

test('treats an empty variable as not set', (t) => {
  const { values, problems } = read({ WEIR_COUNT: '', WEIR_NAME: '', WEIR_KIND: 'blue' });
  t.deepEqual([values.count, values.name, problems], [3, undefined, []]);
  t.deepEqual(read({ WEIR_KIND: '' }).problems, read({}).problems);
});

test('reports every mistake, with its variable, its value and its owner', (t) => {
  const { problems } = read({ WEIR_COUNT: '0', WEIR_LOUD: 'perhaps', WEIR_NAME: 'too long' });
  t.is(problems.length, 4);
  for (const [i, [name, value]] of (
    [
      ['WEIR_COUNT', '0'],
      ['WEIR_LOUD', 'perhaps'],
      ['WEIR_NAME', 'too long'],
    ] as const
  ).entries()) {
    t.regex(problems[i] ?? '', new RegExp(`^${name} .*but it is "${value}" \\(door\\)$`));
  }
  t.regex(problems[3] ?? '', /^WEIR_KIND .*required.* \(door\)$/);
});

test('names a wrong secret without showing it', (t) => {
  const [problem = ''] = read({ WEIR_KIND: 'red', WEIR_DOOR_PASSWORD: 'hunter2' }).problems;
  t.regex(problem, /^WEIR_DOOR_PASSWORD /);
  t.notRegex(problem, /hunter2/);
});

test('the boot reports the mistakes of kernel and plugins together', async (t) => {
  const door = bare('door', { config: variables });
  const error = await t.throwsAsync(
    World.boot([door], {
      env: {
        WEIR_PANEL_PORT: '99999',
        WEIR_COUNT: 'many',
        WEIR_TRUSTED_PROXIES: '10.0.0.1, nonsense',
        WEIR_HOST: 'not a host',
      },
    }),
    { instanceOf: ConfigError },
  );
  t.deepEqual(
    error.problems.map((line) => line.split(' ')[0]?.replace(':', '')),
    ['WEIR_HOST', 'WEIR_PANEL_PORT', 'WEIR_TRUSTED_PROXIES', 'WEIR_COUNT', 'WEIR_KIND'],
  );
  t.regex(error.problems[2] ?? '', /"nonsense" is neither an address nor a CIDR/);
  for (const problem of error.problems) t.true(error.message.includes(problem));
});

test('warns of an unknown variable, by name', async (t) => {
  t.deepEqual(
    unknownVariables({ WEIR_PANEL_PROT: '1', WEIR_COUNT: '1', WEIR_TEST_X: '1', HOME: '/' }, ['WEIR_COUNT']),
    ['WEIR_PANEL_PROT'],
  );
  await using world = await World.boot([bare('door', { config: { count: variables.count } })], {
    env: { WEIR_PANEL_PROT: '1', WEIR_COUNT: '1' },
  });
  t.deepEqual(
    world.log.filter(({ level }) => level === 'warn').map(({ variable: name }) => name),
    ['WEIR_PANEL_PROT'],
  );
});

test('trusted proxies are a list', (t) => {
  const problems: string[] = [];
  const values = readVariables(
    'kernel',
    panelVariables,
    { WEIR_TRUSTED_PROXIES: ' 127.0.0.1, 10.0.0.0/8 ,' },
    problems,
  );
  t.deepEqual([values.trustedProxies, problems], [['127.0.0.1', '10.0.0.0/8'], []]);
  readVariables('kernel', panelVariables, { WEIR_TRUSTED_PROXIES: 'nonsense' }, problems);
  t.deepEqual(problems, ['WEIR_TRUSTED_PROXIES: "nonsense" is neither an address nor a CIDR (kernel)']);
});

test('a path has a slash at both ends and nothing that a URL would have to escape', (t) => {
  for (const good of ['/', '/a/', '/a-b_c~d/e.f/']) t.is(validate(urlPath(), good), good);
  for (const bad of [
    '',
    'a/',
    '/a',
    '//',
    '/a//b/',
    '/../',
    '/./',
    '/a b/',
    '/a%20/',
    '/a?/',
    '/a#/',
    '/ä/',
    '/{id}/',
    '/:id/',
    '/*/',
  ])
    t.throws(() => validate(urlPath(), bad), { code: 'KERNEL_INVALID' }, bad);
  for (const bad of [0, -1, 65_536, 1.5, '80'])
    t.throws(() => validate(port(), bad), { code: 'KERNEL_INVALID' });
  t.is(validate(port(), 65_535), 65_535);
});

test('two plugins can read one variable', async (t) => {
  const seen: unknown[] = [];
  const reads = (name: string) =>
    bare(name, {
      config: { word: variable('WEIR_WORD', withDefault(text(), ''), 'a word') },
      start: ({ config }) => void seen.push(config),
    });
  await using _ = await World.boot([reads('one'), reads('two')], { env: { WEIR_WORD: 'x' } });
  t.deepEqual(seen, [{ word: 'x' }, { word: 'x' }]);
});
