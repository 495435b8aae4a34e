// The calls of the API on the page, read from the document that the panel really has.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { sourceRoot } from '../../../test/harness/source-root.js';
import {
  commandOf,
  foundCalls,
  type Operation,
  pathOf,
  readingCalls,
  shownReply,
} from '../page/api-page/operations.js';

const document = async (): Promise<{ paths: Record<string, object> }> =>
  JSON.parse(await readFile(new URL('docs/reference/api.json', await sourceRoot()), 'utf8'));

const operation = (path: string, ...parameters: Operation['parameters']): Operation => ({
  name: 'x',
  path,
  about: '',
  parameters,
});
const inPath = (name: string) => ({ name, in: 'path', isRequired: true, about: '', options: [] }) as const;
const inQuery = (name: string, isRequired = false) =>
  ({ name, in: 'query', isRequired, about: '', options: [] }) as const;

test('all calls that read are offered, and none that writes', async (t) => {
  const { paths } = await document();
  const calls = readingCalls({ paths });
  t.is(
    calls.length,
    Object.entries(paths).filter(([path, methods]) => 'get' in methods && path.startsWith('/panel/api/'))
      .length,
  );
  for (const { path } of calls) t.true('get' in (paths[path] ?? {}), path);
  const page = calls.find(({ name }) => name === 'clients.list');
  t.is(page?.path, '/panel/api/clients/list/paged');
  t.deepEqual(
    page?.parameters.filter(({ in: place }) => place !== 'query'),
    [],
  );
  t.deepEqual(
    calls
      .find(({ name }) => name === 'clients.get')
      ?.parameters.map(({ name, isRequired }) => [name, isRequired]),
    [['email', true]],
  );
});

test('an invalid document offers nothing', (t) => {
  for (const wrong of [
    null,
    'x',
    [],
    { paths: { '/panel/api/a': null, '/panel/api/b': { post: {} }, '/c': { get: {} } } },
  ])
    t.deepEqual(readingCalls(wrong), []);
});

test('a search finds calls by each of its words', async (t) => {
  const calls = readingCalls(await document());
  t.true(foundCalls(calls, 'CLIENTS groups').some(({ name }) => name === 'clients.groups.list'));
  t.deepEqual(foundCalls(calls, 'clients nowhere-at-all'), []);
});

test('values stand in the path and the query, and lead nowhere else', (t) => {
  const call = operation('/panel/api/clients/get/{email}', inPath('email'), inQuery('a'), inQuery('b'));
  t.is(pathOf(call, { email: 'a/b?c#d', a: '1&2', b: '' }), 'panel/api/clients/get/a%2Fb%3Fc%23d?a=1%262');
  for (const email of ['', '.', '..']) t.is(pathOf(call, { email }), undefined, email);
  t.is(pathOf(call, { email: '$&' }), 'panel/api/clients/get/%24%26');
  t.is(pathOf(operation('/x', inQuery('a', true)), {}), undefined);
});

test('a command has no quote that ends it', (t) => {
  t.is(
    commandOf("https://panel.example/x?a='; rm -rf /"),
    "curl -H 'Authorization: Bearer TOKEN' 'https://panel.example/x?a='\\''; rm -rf /'",
  );
});

test('a reply is shown as far as it is text', (t) => {
  t.deepEqual(shownReply('{"a":1}', 'application/json; charset=utf-8'), { text: '{\n  "a": 1\n}', more: 0 });
  t.deepEqual(shownReply('{"a":', 'application/json'), { text: '{"a":', more: 0 });
  t.deepEqual(shownReply('\u0000', 'application/octet-stream'), { text: '', more: 0 });
  const { text, more } = shownReply('x'.repeat(60_000), 'text/plain');
  t.deepEqual([text.length, more], [50_000, 10_000]);
  const items = Array.from({ length: 10_000 }, (_, at) => at);
  const whole = JSON.stringify(items, null, 2);
  const shown = shownReply(JSON.stringify(items), 'application/json');
  t.is(shown.text, whole.slice(0, 50_000));
  t.is(shown.more, whole.length - 50_000);
});
