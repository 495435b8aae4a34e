// Names of endpoints that older programs call.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { definePlugin, payload, route, text } from '../../../kernel/index.js';
import { sourceRoot } from '../../../test/harness/source-root.js';
import { NAMES } from '../names.js';
import { OLD_ENDPOINTS } from '../old-endpoints.js';
import { OldProgram } from './old-panel.js';

/** A plugin that brings endpoints of later. */
const later = (...calls: string[]) =>
  definePlugin({
    name: 'later',
    version: '1.0.0',
    api: 1,
    about: 'Endpoints that are still to come.',
    routes: () =>
      calls.map((call) => {
        const [method = '', path = ''] = call.split(' ');
        return route({
          method: method as 'GET',
          path,
          doc: 'Says which route it is.',
          reply: payload(text()),
          handle: () => call,
        });
      }),
  });

test('a name leads to our endpoint', async (t) => {
  await using old = await OldProgram.boot();
  t.deepEqual((await old.post('/panel/api/inbounds/onlines')).body.obj, []);
  const missing = await old.post('/panel/api/inbounds/1/resetClientTraffic/nobody');
  t.is(missing.status, 200);
  t.like(missing.body, { success: false, code: 'CLIENTS_NOT_FOUND' });
});

test('a name without an endpoint is missing, and answers by itself once its plugin is there', async (t) => {
  const without = ['outbound-subs'];
  await using old = await OldProgram.boot({ without });
  const { status, body } = await old.call('/panel/api/xray/outbound-subs');
  t.is(status, 404);
  t.is(body.code, 'KERNEL_NOT_FOUND');
  const plugins = [later('GET /panel/api/engine/outbound-subs')];
  await using next = await OldProgram.boot({ without, plugins });
  const found = await next.call('/panel/api/xray/outbound-subs');
  t.is(found.body.obj, 'GET /panel/api/engine/outbound-subs');
});

test('a route wins over another name', async (t) => {
  const both = later('GET /panel/api/engine/outbound-subs', 'GET /panel/api/xray/outbound-subs');
  await using old = await OldProgram.boot({ without: ['outbound-subs'], plugins: [both] });
  const { body } = await old.call('/panel/api/xray/outbound-subs');
  t.is(body.obj, 'GET /panel/api/xray/outbound-subs');
  t.true((await old.post('/panel/api/inbounds/onlines')).body.success, 'all other names are there');
});

test('names ask for a login and, with a cookie, for the token', async (t) => {
  await using old = await OldProgram.boot();
  const path = '/panel/api/inbounds/onlines';
  t.is((await old.call(path, { method: 'POST', headers: { cookie: '' } })).status, 401);
  t.is((await old.call(path, { method: 'POST', headers: { 'x-csrf-token': '' } })).status, 403);
});

test('a GET that changes something needs a header that no page of another site can add', async (t) => {
  const plugins = [later('POST /panel/api/backuptotgbot')];
  await using old = await OldProgram.boot({ without: ['msg-bot'], plugins });
  const program = { headers: { 'x-requested-with': 'XMLHttpRequest' } };
  t.is((await old.call('/panel/api/inbounds/createbackup')).status, 403);
  t.is(
    (await old.call('/panel/api/inbounds/createbackup', program)).body.obj,
    'POST /panel/api/backuptotgbot',
  );
  // No page can make a browser send a token of the API.
  const { token } = (
    await old.panel.call<{ token: string }>('/panel/api/setting/apiTokens/create', { body: { name: 'bot' } })
  ).body.obj;
  const withToken = { anonymous: true, headers: { authorization: `Bearer ${token}` } };
  t.is((await old.panel.call('/panel/api/inbounds/createbackup', withToken)).status, 200);
  t.is((await old.call('/logout')).status, 403);
  t.is((await old.call('/panel/api/inbounds/list')).status, 200, 'the session lives');
  const headers = { ...program.headers, cookie: old.cookie };
  const out = await old.panel.call('/logout', { anonymous: true, headers });
  t.true(out.body.success, out.text);
  t.is((await old.call('/panel/api/inbounds/list')).status, 401);
});

test('names are in no description of the API, and all of them in the README', async (t) => {
  await using old = await OldProgram.boot();
  const { paths } = (await old.panel.call<{ paths: object }>('/panel/api/openapi.json')).body.obj;
  const readme = await readFile(new URL('plugins/compat-3xui/README.md', await sourceRoot()), 'utf8');
  for (const call of [...Object.keys(NAMES), ...Object.keys(OLD_ENDPOINTS)]) {
    const path = call.split(' ')[1] ?? '';
    if (path !== '/logout') t.false(path in paths, call);
    t.true(readme.includes(`\`${call}\``), `the README does not list ${call}`);
  }
  for (const [call, target] of Object.entries(NAMES)) {
    const row = `| \`${target.split(' ')[1]}\` | \`${call}\` |`;
    t.true(readme.includes(row), `the README lists another endpoint for ${call}`);
  }
});

/** What another panel calls by the name of a product, ours calls by what it is. */
const OURS = [
  ['/panel/api/xray/', '/panel/api/engine/'],
  ['fail2banStatus', 'banGuardStatus'],
  ['xray', 'engine'],
  ['Xray', 'Engine'],
  ['warp', 'edgetunnel'],
  ['nord', 'vpnprovider'],
  ['happLink', 'appLink'],
  ['testTgBot', 'testMsgBot'],
  ['testDiscord', 'testWebhook'],
  ['/panel/api/login', '/login'],
  ['GET /panel/api/inbounds/createbackup', 'POST /panel/api/backuptotgbot'],
  ['/inbounds/clientIps/', '/clients/ips/'],
  ['/inbounds/clearClientIps/', '/clients/clearIps/'],
  ['/inbounds/updateClientTraffic/', '/clients/updateTraffic/'],
  ['/inbounds/{id}/resetClientTraffic/', '/clients/resetTraffic/'],
  ['/panel/api/inbounds/', '/panel/api/clients/'],
] as const;

test('a name differs from its endpoint only in what it calls things', (t) => {
  for (const [call, target] of Object.entries(NAMES))
    t.is(
      OURS.reduce((name, [theirs, ours]) => name.replace(theirs, ours), call),
      target,
    );
});
