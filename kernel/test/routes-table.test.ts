import test from 'ava';
import { definePlugin, Listeners, type ListenersApi, message, route, shape, word } from '../index.js';
import { type Owned, RouteTable } from '../http/table.js';
import { World } from './world.js';

const get = (path: string | (() => string), method: 'GET' | 'POST' = 'GET', listener = 'panel') =>
  route({
    method,
    path,
    listener,
    auth: 'anyone',
    doc: 'x',
    reply: message(),
    handle: () => String(typeof path === 'function' ? path() : path),
  });
const owner = (name: string) => ({ name, about: 'x', isOff: false, offReason: '', fault: () => undefined });
const sortRoutes = (routes: readonly Owned[]) => new RouteTable(routes).sorted();
const sorted = (...paths: string[]) =>
  sortRoutes(paths.map((path) => ({ owner: owner('p'), route: get(path) }))).map(({ path }) => path);

test('orders a literal before a parameter at the first difference', (t) => {
  t.deepEqual(sorted('/a/{x}', '/a/b'), ['/a/b', '/a/{x}']);
  t.deepEqual(sorted('/a/b', '/a-b', '/a'), ['/a', '/a/b', '/a-b']);
  t.deepEqual(sorted('/{x}/b', '/a/{y}'), ['/a/{y}', '/{x}/b']);
  t.deepEqual(sorted('/a/{x}/c', '/a/b/{y}', '/a/b/c'), ['/a/b/c', '/a/b/{y}', '/a/{x}/c']);
  t.deepEqual(sorted('/{all*}', '/a/{rest*}', '/a/{x}', '/a/b'), ['/a/b', '/a/{x}', '/a/{rest*}', '/{all*}']);
});

test('gives the same order for any order of plugins', (t) => {
  const paths = ['/b/{x}', '/bb', '/c/d', '/b/lit', '/{y}/d', '/c/{z}', '/b', '/b/{x}/more', '/b/lit/more'];
  const expected = sorted(...paths);
  t.true(expected.indexOf('/b/lit') < expected.indexOf('/b/{x}'));
  t.true(expected.indexOf('/c/d') < expected.indexOf('/{y}/d'));
  let seed = 1;
  for (let round = 0; round < 200; round++) {
    const shuffled = paths
      .map((path) => ({ path, at: (seed = (seed * 48271) % 2147483647) }))
      .sort((a, b) => a.at - b.at)
      .map(({ path }) => path);
    t.deepEqual(sorted(...shuffled), expected);
  }
});

test('rejects two routes for one request with both places; allows another method or listener', (t) => {
  const twins = [
    { owner: owner('one'), route: get('/a/{id}/b') },
    { owner: owner('two'), route: get('/a/{name}/b') },
  ];
  t.throws(() => sortRoutes(twins), {
    message: 'GET /a/{}/b is declared by one (/a/{id}/b) and by two (/a/{name}/b)',
  });
  const rests = twins.map(({ owner: whose }, i) => ({ owner: whose, route: get(`/a/{rest${i}*}`) }));
  t.throws(() => sortRoutes(rests), {
    message: 'GET /a/{*} is declared by one (/a/{rest0*}) and by two (/a/{rest1*})',
  });
  t.notThrows(() =>
    sortRoutes([
      { owner: owner('one'), route: get('/a') },
      { owner: owner('two'), route: get('/a', 'POST') },
      { owner: owner('three'), route: get('/a', 'GET', 'side') },
    ]),
  );
});

test('a remount changes a configured path; a conflict changes nothing', async (t) => {
  const inner: { listeners?: ListenersApi } = {};
  let where = '/old/{id}';
  const mover = definePlugin({
    name: 'mover',
    version: '1.0.0',
    api: 1,
    about: 'Moves.',
    uses: { listeners: Listeners },
    routes: () => [get(() => where), get('/fixed')],
    start: ({ listeners }) => void (inner.listeners = listeners),
  });
  await using world = await World.boot([mover]);
  t.is((await world.call('/old/1')).status, 200);
  where = '/new/{id}';
  t.is((await world.call('/old/1')).status, 200);
  inner.listeners?.remount();
  t.is((await world.call('/old/1')).status, 404);
  t.is((await world.call('/new/1')).status, 200);
  where = '/fixed';
  t.throws(() => inner.listeners?.remount(), { message: /GET \/fixed is declared by mover/ });
  t.is((await world.call('/new/1')).status, 200);
  where = '/new/{id}';
  t.deepEqual(
    inner.listeners
      ?.routes()
      .filter(({ plugin }) => plugin !== 'kernel')
      .map(({ plugin, path }) => [plugin, path]),
    [
      ['mover', '/fixed'],
      ['mover', '/new/{id}'],
    ],
  );
});

test('a name belongs to one listener, and an unopened listener has no port', async (t) => {
  const inner: { listeners?: ListenersApi } = {};
  const opener = definePlugin({
    name: 'opener',
    version: '1.0.0',
    api: 1,
    about: 'Opens.',
    uses: { listeners: Listeners },
    start: ({ listeners }) => void (inner.listeners = listeners),
  });
  await using world = await World.boot([opener]);
  t.throws(() => inner.listeners?.declare('panel', { host: '127.0.0.1', port: 0 }), {
    message: /two plugins declare a listener called panel/,
  });
  t.is(inner.listeners?.port('nowhere'), 0);
  t.is(inner.listeners?.port('panel'), world.port);
  t.is(inner.listeners?.panel.port, world.port);
});

test('decodes a path, distinguishes case and slashes, and treats HEAD as GET', async (t) => {
  const echo = route({
    method: 'GET',
    path: '/echo/{what}',
    auth: 'anyone',
    doc: 'x',
    params: shape({ what: word() }),
    reply: message(),
    handle: ({ params }) => params.what,
  });
  await using world = await World.boot([
    definePlugin({ name: 'echo', version: '1.0.0', api: 1, about: 'Echoes.', routes: () => [echo] }),
  ]);
  const answer = async (path: string, method = 'GET') => {
    const { status, headers } = await world.call(path, { method });
    return [status, headers['x-content-type-options']];
  };
  for (const path of ['/echo/a', '/echo/%C3%A4', '/echo/a?b#c'])
    for (const method of ['GET', 'HEAD'])
      t.deepEqual(await answer(path, method), [200, 'nosniff'], `${method} ${path}`);
  for (const path of ['/echo/%', '/echo/%ff']) t.deepEqual(await answer(path), [404, 'nosniff'], path);
  for (const path of ['/echo/', '/echo/a/', '/Echo/a', '/echo'])
    t.deepEqual(await answer(path), [404, 'nosniff'], path);
  for (const method of ['POST', 'OPTIONS', 'DELETE'])
    t.deepEqual(await answer('/echo/a', method), [404, 'nosniff'], method);
});

test('a wildcard matches the decoded rest of a path and checks it against its schema', async (t) => {
  const rest = route({
    method: 'GET',
    path: '/files/{path*}',
    auth: 'anyone',
    doc: 'x',
    params: shape({ path: word().max(20) }),
    reply: message(),
    handle: ({ params }) => params.path,
  });
  const literal = { ...get('/files/list'), handle: () => 'the list' };
  await using world = await World.boot([
    definePlugin({ name: 'files', version: '1.0.0', api: 1, about: 'x', routes: () => [rest, literal] }),
  ]);
  t.is((await world.call('/files/a/b%20c/%C3%A4?x=1')).body.msg, 'a/b c/ä');
  t.is((await world.call('/files/list')).body.msg, 'the list');
  t.is((await world.call('/files/list/')).body.msg, 'list/');
  t.deepEqual((await world.call('/files/')).body.obj, {
    issues: [{ path: 'path', message: 'path is not allowed to be empty' }],
  });
  t.is((await world.call(`/files/${'x/'.repeat(20)}`)).status, 400);
  for (const path of ['/files', '/files/../x', '/files/a/%2e%2e/b', '/files/%ff', '/files/a%00'])
    t.is((await world.call(path)).status, 404, path);
});
