// Runs on every database in test:full.
// What a role allows is asked again for each call: for sessions, tokens and live connections.
import { once } from 'node:events';
import { request } from 'node:http';
import test from 'ava';
import { contribute, definePlugin, message, route, Upgrades } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import type { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { Listener } from '../../realtime/test/listener.js';
import {
  addAdmin,
  addRole,
  ADMINS,
  asToken,
  boot,
  type Caller,
  LIST,
  login,
  makeToken,
  PASSWORD,
  ROLES,
  TOKENS,
} from './world.js';

const CLIENTS = '/panel/api/clients/list';
const setRole = (panel: TestPanel, id: number, role: number) =>
  panel.get(`${ADMINS}/${id}`, { body: { role } });
const statusOf = async (call: Caller['call'], path: string, body?: object): Promise<number> =>
  (await call(path, body ? { body } : {})).status;

test('says which permission is missing, before it reads the body', async (t) => {
  await using panel = await boot();
  const { call } = await addAdmin(panel, 'grace', ['inbounds:read']);
  t.is(await statusOf(call, LIST), 200);
  const refused = await call('/panel/api/hosts/add', { rawBody: '{ this is not JSON' });
  t.is(refused.status, 403);
  t.is(refused.body.code, 'ACCESS_NO_PERMISSION');
  t.regex(refused.body.msg, /"role of grace".* hosts:write,.* POST \/panel\/api\/hosts\/add/);
  const full = await call('/panel/api/setting/update', { rawBody: '{ this is not JSON' });
  t.is(full.status, 403);
  t.regex(full.body.msg, /only a full admin may call/);
  // Who has the permission learns what is wrong with the body.
  const body = await panel.call('/panel/api/hosts/add', {
    rawBody: '{ this is not JSON',
    headers: { 'content-type': 'application/json' },
  });
  t.is(body.status, 400);
});

test('a token of one role is refused what another role allows', async (t) => {
  await using panel = await boot();
  const reads = await addRole(panel, 'reads clients', ['clients:read']);
  const hosts = await addRole(panel, 'writes hosts', ['hosts:write']);
  const shop = await makeToken(panel, { name: 'shop', role: reads });
  const cdn = await makeToken(panel, { name: 'cdn', role: hosts });
  t.is(await statusOf(shop, CLIENTS), 200);
  t.is(await statusOf(cdn, CLIENTS), 403);
  t.is(await statusOf(cdn, '/panel/api/hosts/list'), 200, 'to write includes to read');
  t.is(await statusOf(shop, '/panel/api/hosts/list'), 403);
  t.is(await statusOf(shop, '/panel/api/clients/del/nobody', {}), 403);
  t.is(await statusOf(cdn, '/panel/api/hosts/setEnable/unknown', { enable: true }), 404);
  for (const call of [shop, cdn]) {
    t.is(await statusOf(call, ROLES), 403);
    t.is(await statusOf(call, `${TOKENS}/create`, { name: 'more' }), 403);
    t.is(await statusOf(call, '/panel/api/access/sessions/revokeOthers', {}), 403);
    t.deepEqual((await call('/panel/api/access/sessions')).body.obj, []);
  }
  const me = await shop(`${ROLES}/me`);
  t.deepEqual(me.body.obj, {
    name: 'shop',
    kind: 'token',
    full: false,
    reseller: false,
    groups: false,
    roles: ['reads clients'],
    permissions: ['clients:read'],
  });
});

test('the names and compositions of older programs need what the calls behind them need', async (t) => {
  await using panel = await boot();
  const inbound = await panel.addInbound();
  const reading = await addRole(panel, 'reads', ['clients:read']);
  const reads = await makeToken(panel, { name: 'reads', role: reading });
  t.is(await statusOf(reads, '/panel/api/inbounds/onlines', {}), 200);
  t.is(await statusOf(reads, '/panel/api/inbounds/clearClientIps/ada', {}), 403);
  const role = await addRole(panel, 'inbounds', ['inbounds:write']);
  const inbounds = await makeToken(panel, { name: 'inbounds', role });
  const client = { id: inbound, settings: JSON.stringify({ clients: [{ email: 'ada' }] }) };
  t.is(await statusOf(inbounds, '/panel/api/inbounds/addClient', client), 403);
  t.is(await statusOf(inbounds, `/panel/api/inbounds/resetAllClientTraffics/${inbound}`, {}), 403);
  t.is(await statusOf(inbounds, `/panel/api/inbounds/${inbound}/delClient/ada`, {}), 403);
  t.deepEqual(await panel.get(CLIENTS), []);
  const clients = await makeToken(panel, {
    name: 'clients',
    role: await addRole(panel, 'c', ['clients:write']),
  });
  t.is(await statusOf(clients, '/panel/api/inbounds/addClient', client), 200);
  t.is((await panel.get<object[]>(CLIENTS)).length, 1);
});

test('a token with a role expires, and its role is in the record', async (t) => {
  const clock = new FakeClock();
  await using panel = await boot({ clock });
  const role = await addRole(panel, 'reads', ['inbounds:read']);
  const call = await makeToken(panel, { name: 'guest', role, expiresAt: clock.now() + 1000 });
  t.is(await statusOf(call, LIST), 200);
  clock.tick(1000);
  t.is(await statusOf(call, LIST), 401);
  const changes = await panel.get<{ area: string; changes: object[] }[]>(
    '/panel/api/x/audit/changes?area=token',
  );
  t.true(JSON.stringify(changes).includes('"role"'), JSON.stringify(changes));
});

test('a changed role is in force for open sessions and tokens with the next call', async (t) => {
  await using panel = await boot();
  const grace = await addAdmin(panel, 'grace', ['inbounds:read', 'clients:read']);
  const token = await makeToken(panel, { name: 'ci', role: grace.role });
  const both = async (path: string) => [await statusOf(grace.call, path), await statusOf(token, path)];
  t.deepEqual(await both(LIST), [200, 200]);
  await panel.get(`${ROLES}/${grace.role}`, { body: { permissions: ['clients:read'] } });
  t.deepEqual(await both(LIST), [403, 403]);
  t.deepEqual(await both(CLIENTS), [200, 200]);
  await panel.get(`${ROLES}/${grace.role}`, { body: { permissions: ['inbounds:write'] } });
  t.deepEqual(await both(LIST), [200, 200]);
  t.deepEqual(await both(CLIENTS), [403, 403]);
});

test('a token never may more than its maker, also when the maker loses rights later', async (t) => {
  await using panel = await boot();
  const grace = await addAdmin(panel, 'grace');
  const { token } = (await grace.call<{ token: string }>(`${TOKENS}/create`, { body: { name: 'of grace' } }))
    .body.obj;
  const call = asToken(panel, token);
  t.is(await statusOf(call, ROLES), 200, 'made by a full admin, it may everything');
  const reads = await addRole(panel, 'reads', ['inbounds:read']);
  await setRole(panel, grace.id, reads);
  t.is(await statusOf(call, ROLES), 403);
  t.is(await statusOf(call, LIST), 200);

  // With a role of its own, both must allow a call.
  const wide = await addRole(panel, 'wide', ['inbounds:write', 'clients:write']);
  const made = await grace.call<{ token: string }>(`${TOKENS}/create`, {
    body: { name: 'wide', role: wide },
  });
  const second = asToken(panel, made.body.obj.token);
  t.is(await statusOf(second, LIST), 200);
  t.is(await statusOf(second, CLIENTS), 403);

  await panel.get(`${ADMINS}/${grace.id}`, { body: { enabled: false } });
  t.is(await statusOf(call, LIST), 401);
  t.is(await statusOf(grace.call, LIST), 401, 'and the session of the maker has ended');
  await panel.get(`${ADMINS}/${grace.id}`, { body: { enabled: true } });
  t.is(await statusOf(call, LIST), 200);
  await panel.get(`${ADMINS}/${grace.id}/del`, { method: 'POST' });
  t.is(await statusOf(call, LIST), 401);
  t.deepEqual(await panel.get(TOKENS), [], 'its tokens are gone with the admin');
  // Nobody comes back to them under the same name.
  await addAdmin(panel, 'grace');
  t.is(await statusOf(call, LIST), 401);
  t.is(await statusOf(grace.call, LIST), 401);
});

test('an admin with a role sees and changes the own account only', async (t) => {
  await using panel = await boot();
  const grace = await addAdmin(panel, 'grace', ['inbounds:read']);
  const foreign = await panel.get<{ id: number }>(`${TOKENS}/create`, { body: { name: 'foreign' } });
  const own = await grace.call<{ id: number }>(`${TOKENS}/create`, { body: { name: 'own' } });
  const names = (await grace.call<{ name: string }[]>(TOKENS)).body.obj.map(({ name }) => name);
  t.deepEqual(names, ['own']);
  t.is(await statusOf(grace.call, `${TOKENS}/delete/${foreign.id}`, {}), 404);
  t.is(await statusOf(grace.call, `${TOKENS}/setEnabled/${foreign.id}`, { enabled: false }), 404);
  t.is(await statusOf(grace.call, `${TOKENS}/create`, { name: 'central', kind: 'node' }), 400);
  const sessions = await panel.get<{ id: string; username: string }[]>('/panel/api/access/sessions');
  const admins = sessions.find(({ username }) => username === 'admin')?.id ?? '';
  t.is(await statusOf(grace.call, `/panel/api/access/sessions/revoke/${admins}`, {}), 404);
  t.is(await statusOf(grace.call, '/panel/api/access/sessions/revokeOthers', {}), 200);
  t.is((await panel.call(LIST)).status, 200, 'the session of another admin is open');

  const change = { oldUsername: 'grace', oldPassword: PASSWORD, newPassword: 'a longer and newer one' };
  t.is(
    await statusOf(grace.call, '/panel/api/setting/updateUser', { ...change, newUsername: 'admin2' }),
    403,
  );
  const other = {
    ...change,
    oldUsername: 'admin',
    oldPassword: 'correct horse battery',
    newUsername: 'admin',
  };
  t.is(await statusOf(grace.call, '/panel/api/setting/updateUser', other), 403);
  const changed = await grace.call('/panel/api/setting/updateUser', {
    body: { ...change, newUsername: 'grace', revokeTokens: true },
  });
  t.like(changed.body.obj, { apiTokens: 0, revokedTokens: 1 });
  t.is((await panel.call(LIST)).status, 200, 'the session of another admin is still open');
  t.deepEqual(
    (await panel.get<{ name: string; enabled: boolean }[]>(TOKENS)).map(({ name, enabled }) => [
      name,
      enabled,
    ]),
    [
      ['foreign', true],
      ['own', false],
    ],
  );
  t.is(own.status, 200);
});

test('the live stream sends an admin only what the role may read, and ends with the account', async (t) => {
  await using panel = await boot();
  const grace = await addAdmin(panel, 'grace', ['server:read']);
  for (const open of [Listener.plain, Listener.io]) {
    const { cookie } = await login(panel, 'grace');
    const [hers, all] = [open(panel, { cookie }), open(panel)];
    await until(() => hers.messages.length > 0 && all.messages.length > 0, 'both have a snapshot');
    t.deepEqual(Object.keys(hers.messages[0]?.payload ?? {}), ['status']);
    t.true(Object.keys(all.messages[0]?.payload ?? {}).includes('client_stats'));
    all.close();
    hers.close();
  }
  const { cookie } = await login(panel, 'grace');
  const hers = Listener.plain(panel, { cookie });
  await until(() => hers.messages.length > 0, 'she has a snapshot');
  // A role that she loses takes the messages away, from the next one on.
  await setRole(panel, grace.id, await addRole(panel, 'nothing', []));
  const all = Listener.plain(panel);
  await until(() => all.messages.length > 0, 'the admin has a snapshot');
  const [seen, shown] = [hers.messages.length, all.messages.length];
  await until(
    () => all.messages.slice(shown).some(({ type }) => type === 'status'),
    'the admin is sent the status again',
  );
  // The stream keeps its order: a status for her would have come before this.
  await panel.addInbound();
  await until(() => hers.messages.length > seen, 'she is told that something changed');
  t.deepEqual([...new Set(hers.messages.slice(seen).map(({ type }) => type))], ['invalidate']);
  all.close();
  await panel.get(`${ADMINS}/${grace.id}/del`, { method: 'POST' });
  await until(() => hers.ended !== undefined, 'her connection is closed');
  t.is(hers.ended, 4401);
});

test('without the plugin, an admin with a role may nothing, and a full one everything', async (t) => {
  const first = await boot();
  const { dataDirectory } = first;
  const grace = await addAdmin(first, 'grace', ['inbounds:read']);
  const { token } = await first.get<{ token: string }>(`${TOKENS}/create`, {
    body: { name: 'limited', role: grace.role },
  });
  await first.stop();
  await using panel = await boot({ dataDirectory, without: ['roles', 'group-roles'] });
  t.is(await statusOf(grace.call, LIST).catch(() => 0), 0, 'its calls go to the first panel');
  const again = await login(panel, 'grace');
  t.is(await statusOf(again.call, LIST), 403);
  t.is(await statusOf(asToken(panel, token), LIST), 403);
  t.is((await panel.call(LIST)).status, 200);
});

test('who may not write settings does not try them: a template would show what a role keeps', async (t) => {
  await using panel = await boot();
  await panel.addClient('ann', [await panel.addInbound()], { subId: 'ann', tgId: 4711 });
  const { call } = await addAdmin(panel, 'grace', ['subscriptions:write', 'settings:read', 'clients:read']);
  const tried = { body: { email: 'ann', settings: { subAnnounce: '{{TELEGRAM_ID}}' } } };
  const path = '/panel/api/x/subscription/preview';
  const refused = await call(path, tried);
  t.is(refused.status, 403);
  t.regex(refused.body.msg, /only a full admin may call/);
  t.is(await statusOf(call, '/panel/api/setting/subscriptionPreview?email=ann'), 200);
  const { headers } = await panel.get<{ headers: Record<string, string> }>(path, tried);
  t.is(headers['Announce'], `base64:${Buffer.from('4711').toString('base64')}`);
});

test('a role that is changed takes the connections with it that it no longer allows', async (t) => {
  const stream = definePlugin({
    name: 'acme-stream',
    version: '0.0.1',
    api: 1,
    about: 'Talks all the time.',
    routes: () => [
      route({
        method: 'GET',
        path: '/panel/api/x/acme-stream',
        doc: 'Says what it talks about.',
        reply: message(),
        handle: () => 'the weather',
      }),
    ],
    contributes: () => [
      contribute(Upgrades, {
        path: '/acme-stream',
        open: ({ socket }) =>
          void socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
          ),
      }),
    ],
  });
  await using panel = await boot({ plugins: [stream] });
  const { role, cookie } = await addAdmin(panel, 'grace', ['acme-stream:read']);
  const asked = request(`${panel.url}/acme-stream`, {
    headers: { cookie, connection: 'Upgrade', upgrade: 'websocket' },
  }).end();
  let isClosed = false;
  asked.on('upgrade', (_, socket) =>
    socket.on('error', () => undefined).on('close', () => (isClosed = true)),
  );
  await once(asked, 'upgrade');
  const set = (permissions: readonly string[]) => panel.get(`${ROLES}/${role}`, { body: { permissions } });
  await set(['acme-stream:read', 'server:read']);
  t.false(isClosed);
  await set(['server:read']);
  await until(() => isClosed, 'it is closed');
  t.pass();
});
