// What plugins offer to programs that know other names: of routes, and of the session cookie.
import test, { type ExecutionContext } from 'ava';
import {
  contribute,
  message,
  type Plugin,
  route,
  type RouteAdapter,
  RouteAdapters,
  SessionCookies,
} from '../index.js';
import { bare, people, World } from './world.js';

async function boot(t: ExecutionContext, ...plugins: Plugin[]): Promise<World> {
  const world = await World.boot([people, ...plugins]);
  t.teardown(() => world[Symbol.asyncDispose]());
  return world;
}
const adapting = (name: string, adapt: RouteAdapter) =>
  bare(name, { contributes: () => [contribute(RouteAdapters, adapt)] });
/** Serves `/me` as `/who` too. */
const named: RouteAdapter = (routes) => [
  ...routes,
  ...routes
    .filter(({ path }) => path === '/me')
    .map(({ owner, route: me }) => ({ owner, route: { ...me, path: '/who' } })),
];
const who = async (world: World, path: string) =>
  (await world.call(path, { headers: await world.login() })).body.msg;

test('an adapter adds other names of routes, which no description shows', async (t) => {
  const world = await boot(t, adapting('names', named));
  t.is(await who(world, '/who'), await who(world, '/me'));
  t.is((await world.call('/who')).status, 401);
  const paths = world.kernel.listeners.routes().map(({ path }) => path);
  t.true(paths.includes('/me'));
  t.false(paths.includes('/who'));
});

test('an adapter changes how a route is handled', async (t) => {
  const loud: RouteAdapter = (routes) =>
    routes.map(({ owner, route: one, path }) => ({
      owner,
      route:
        path === '/me'
          ? { ...one, handle: async (input: never) => `you are ${await one.handle(input)}` }
          : one,
    }));
  const world = await boot(t, adapting('loud', loud));
  t.is(await who(world, '/me'), 'you are ada');
});

test('an adapter gets what those of the plugins before it serve', async (t) => {
  const again: RouteAdapter = (routes) =>
    routes.flatMap(({ owner, route: one, path }) => [
      { owner, route: one },
      ...(path === '/who' ? [{ owner, route: { ...one, path: '/who/again' } }] : []),
    ]);
  const world = await boot(t, adapting('names', named), adapting('names-of-names', again));
  t.is(await who(world, '/who/again'), 'ada');
  t.is(await who(world, '/who'), 'ada');
});

for (const [what, adapt] of [
  [
    'fails',
    () => {
      throw new Error('cannot');
    },
  ],
  ['gives one name to two routes', (routes) => [...routes, ...routes]],
  [
    'gives a route a path that cannot be served',
    (routes) =>
      routes.map(({ owner, route: one }, i) => ({ owner, route: i ? one : { ...one, path: 'no slash' } })),
  ],
  ['gives no list', () => null as never],
] as [string, RouteAdapter][])
  test(`an adapter that ${what} changes nothing, and is at fault itself`, async (t) => {
    const world = await boot(t, adapting('names', named), adapting('broken', adapt));
    t.not(await who(world, '/who'), '');
    t.true(world.log.some((line) => line.msg === 'plugin fault' && JSON.stringify(line).includes('broken')));
  });

test('a third-party plugin adds no adapter', async (t) => {
  const outside = { ...adapting('foreign', named), outside: true };
  const world = await World.boot([people, outside], { partial: true });
  t.teardown(() => world[Symbol.asyncDispose]());
  t.like(
    world.kernel.plugins().find(({ name }) => name === 'foreign'),
    { state: 'failed' },
  );
});

test('a further name of the session cookie is set, read and cleared with ours', async (t) => {
  const leave = bare('leave', {
    contributes: () => [contribute(SessionCookies, 'other')],
    routes: () => [
      route({
        method: 'POST',
        path: '/leave',
        auth: 'anyone',
        doc: 'Clears the cookie.',
        reply: message(),
        handle: ({ reply }) => reply.clearCookie('weir_session'),
      }),
    ],
  });
  const world = await boot(t, leave);
  const answer = await world.call('/login', { body: { name: 'ada' } });
  const cookies = (answer.headers['set-cookie'] as string[]).map((line) => line.split(';')[0] ?? '');
  t.deepEqual(
    cookies.map((pair) => pair.split('=')[0]),
    ['other', 'weir_session'],
  );
  t.is(cookies[0]?.slice('other='.length), cookies[1]?.slice('weir_session='.length));
  const [other = '', ours = ''] = cookies;
  t.is((await world.call('/me', { headers: { cookie: other } })).body.msg, 'ada');
  t.is((await world.call('/me', { headers: { cookie: `other=planted; ${ours}` } })).body.msg, 'ada');
  t.is((await world.call('/me', { headers: { cookie: `${other}; weir_session=planted` } })).status, 401);
  t.is((await world.call('/logout', { method: 'POST', headers: { cookie: other } })).status, 403);
  const gone = (await world.call('/leave', { method: 'POST' })).headers['set-cookie'] as string[];
  t.deepEqual(
    gone.map((line) => line.split('=')[0]),
    ['other', 'weir_session'],
  );
});

for (const name of ['weir_other', 'a b', ''])
  test(`${JSON.stringify(name)} is no further name of the session cookie`, async (t) => {
    const wrong = bare('wrong', { contributes: () => [contribute(SessionCookies, name)] });
    await t.throwsAsync(World.boot([people, wrong]), {
      message: /kernel\/SessionCookies: it must be a name/,
    });
  });
