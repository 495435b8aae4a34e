// A plugin that says who may call what: asked before the body is read, with the owner of the route, and again while a
// WebSocket is open.
import { connect, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import {
  contribute,
  message,
  PanelError,
  Permits,
  type Principal,
  provide,
  route,
  shape,
  type Upgraded,
  Upgrades,
  word,
} from '../index.js';
import { bare, people, until, World } from './world.js';

const refusal = () => new PanelError('SHOP_CLOSED', 403, 'not for you');

async function boot(t: ExecutionContext) {
  const asked: string[] = [];
  const refused = new Set<string>();
  let changed: () => void = () => undefined;
  // The slot is owned by the plugin of this name.
  const access = bare('access', {
    provides: () => [
      provide(Permits, {
        of: (plugin, { method, path }) => {
          const call = `${plugin} ${method} ${String(path)}`;
          return ({ name, kind }: Principal) => {
            asked.push(`${call} ${kind} ${name}`);
            if (refused.has(call)) throw refusal();
          };
        },
        onChange: (listener) => (changed = listener),
      }),
    ],
  });
  const open: Upgraded[] = [];
  const shop = bare('shop', {
    contributes: () => [
      contribute(Upgrades, {
        path: '/echo',
        open: (connection: Upgraded) => {
          open.push(connection);
          connection.socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
        },
      }),
    ],
    routes: () => [
      route({
        method: 'POST',
        path: '/order/{id}',
        auth: 'session',
        doc: 'Orders.',
        params: shape({ id: word() }),
        body: shape({ what: word() }),
        reply: message(),
        handle: ({ body }) => body.what,
      }),
    ],
  });
  const world = await World.boot([access, people, shop]);
  t.teardown(() => world[Symbol.asyncDispose]());
  return { world, asked, refused, open, changed: () => changed() };
}

test('is asked with the owner of the route after the login, and before the body', async (t) => {
  const { world, asked, refused } = await boot(t);
  const headers = await world.login();
  t.deepEqual(
    asked.filter((call) => !call.includes('anyone')),
    [],
    'a route without a login has no caller',
  );
  t.is((await world.call('/order/1', { body: { what: 'tea' } })).status, 401);
  t.is(asked.at(-1)?.includes('/order') ?? false, false, 'a stranger gets 401 before');
  t.is((await world.call('/order/1', { body: { what: 'tea' }, headers })).status, 200);
  t.regex(asked.at(-1) ?? '', /^shop POST \/order\/\{id\} session \w+$/);
  refused.add('shop POST /order/{id}');
  const answer = await world.call('/order/1', { method: 'POST', raw: '{ broken', headers });
  t.is(answer.status, 403);
  t.is(answer.body.msg, 'not for you');
});

/** Asks for a WebSocket. */
function upgrade(t: ExecutionContext, world: World, cookie: string): { socket: Socket; text: () => string } {
  let text = '';
  const socket = connect(world.port, '127.0.0.1', () =>
    socket.write(
      `GET /echo HTTP/1.1\r\nhost: panel.test\r\nconnection: upgrade\r\nupgrade: websocket\r\ncookie: ${cookie}\r\n\r\n`,
    ),
  );
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  return { socket, text: () => text };
}

test('is asked for a WebSocket as for a GET, and again while it is open', async (t) => {
  const { world, asked, refused, open, changed } = await boot(t);
  const { cookie } = await world.login();
  refused.add('shop GET /echo');
  const closed = upgrade(t, world, cookie);
  await until(() => closed.text().includes('403'), 'the refusal');
  t.is(open.length, 0);
  refused.clear();

  const [first, second] = [upgrade(t, world, cookie), upgrade(t, world, (await world.login()).cookie)];
  await until(() => open.length === 2, 'both connections');
  changed();
  t.is(asked.filter((call) => call === 'shop GET /echo session ada').length, 5, 'each is asked about again');
  t.deepEqual(
    open.map(({ signal }) => signal.aborted),
    [false, false],
  );
  refused.add('shop GET /echo');
  changed();
  t.deepEqual(
    open.map(({ signal }) => (signal.reason as PanelError).status),
    [403, 403],
  );
  await until(() => first.socket.closed && second.socket.closed, 'both are cut');
});
