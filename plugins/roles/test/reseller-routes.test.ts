// Runs on every database in test:full.
// Every route of the panel and the live stream, called by a reseller: closed, but for the lists that stand here.
import test from 'ava';
import nock from 'nock';
import {
  boot as bootWithSamples,
  call,
  harm,
  nameOf,
  sampleOf,
  servedBy,
} from '../../../test/contract/samples.js';
import type { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { Listener } from '../../realtime/test/listener.js';
import { addRole, ADMINS, asToken, boot, LIST, login, PASSWORD, ROLES, TOKENS } from './world.js';

test.before(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.after.always(() => nock.restore());

/** Written out, so that a route which becomes open for resellers is seen by a person. */
const OWN_ACCOUNT = [
  ...['GET access/recoveryCodes', 'GET x/account/secondFactor', 'GET x/openid/links', 'GET x/passkeys'],
  ...['POST access/recoveryCodes/renew', 'POST x/account/secondFactor', 'POST x/account/secondFactor/del'],
  ...['POST x/openid/link', 'POST x/openid/links/{id}/del', 'POST x/passkeys/register'],
  ...['POST x/passkeys/register/options', 'POST x/passkeys/{id}/del', 'POST x/passkeys/{id}/rename'],
  ...['GET access/sessions', 'GET x/preferences', 'GET x/roles/me', 'POST access/sessions/revoke/{id}'],
  ...['POST access/sessions/revokeOthers', 'POST setting/updateUser', 'POST x/preferences'],
];
const MADE_FOR_THEM = [
  ...[
    'GET x/reseller/clients',
    'GET x/reseller/clients/{id}',
    'GET x/reseller/me',
    'POST x/reseller/clients',
  ],
  ...['POST x/reseller/clients/{id}', 'POST x/reseller/clients/{id}/del'],
  ...['POST x/reseller/clients/{id}/renew', 'POST x/reseller/clients/{id}/reset'],
];
const full = (calls: readonly string[]): string[] => calls.map((one) => one.replace(' ', ' /panel/api/'));

async function addReseller(panel: TestPanel, username: string) {
  const { id: role } = await panel.get<{ id: number }>(ROLES, { body: { name: username, kind: 'reseller' } });
  const { id } = await panel.get<{ id: number }>(ADMINS, { body: { username, password: PASSWORD, role } });
  const { cookie, csrf, call: calls } = await login(panel, username);
  return { id, role, cookie, calls, headers: { cookie, 'x-csrf-token': csrf } };
}

test('a reseller calls what is made for resellers and what is of the own account, and nothing else', async (t) => {
  await using panel = await bootWithSamples();
  const { headers } = await addReseller(panel, 'north');
  const routes = servedBy(panel)
    .filter(({ route }) => route.auth !== 'anyone')
    .sort((a, b) => harm(a) - harm(b));
  t.true(routes.length > 300);
  const open: string[] = [];
  for (const served of routes) {
    const name = nameOf(served);
    // They would end the session.
    if (full(OWN_ACCOUNT).includes(name)) {
      open.push(name);
      continue;
    }
    const answer = await call(panel, served, sampleOf(served, false), headers, true);
    if (answer.body.code === 'ACCESS_NO_PERMISSION') t.is(answer.status, 403, name);
    else {
      open.push(name);
      t.is(answer.body.code, 'RESELLERS_NOT_RESELLER', `${name}: nobody has made this admin a reseller`);
    }
  }
  t.deepEqual(open.sort(), full([...OWN_ACCOUNT, ...MADE_FOR_THEM]).sort());
});

test('those of the own account are open to a reseller', async (t) => {
  await using panel = await boot();
  const { calls } = await addReseller(panel, 'north');
  const shown = ['access/sessions', 'x/preferences', 'x/roles/me', 'x/account/secondFactor'];
  for (const path of [...shown, 'access/recoveryCodes', 'x/passkeys', 'x/openid/links'])
    t.is((await calls(`/panel/api/${path}`)).status, 200, path);
  t.is((await calls('/panel/api/x/preferences', { body: { changes: { theme: 'dark' } } })).status, 200);
  const sessions = await calls<unknown[]>('/panel/api/access/sessions');
  t.is(sessions.body.obj.length, 1, 'the own one alone');
  t.is((await calls('/panel/api/access/sessions/revokeOthers', { method: 'POST' })).status, 200);
  const me = await calls<object>('/panel/api/x/roles/me');
  t.deepEqual(me.body.obj, {
    ...{ name: 'north', kind: 'session', full: false, reseller: true, groups: false },
    ...{ roles: ['north'], permissions: [] },
  });
});

test('a reseller has no live stream, also one who becomes it while he listens', async (t) => {
  await using panel = await boot();
  const { cookie } = await addReseller(panel, 'north');
  for (const open of [Listener.plain, Listener.io]) {
    const refused = open(panel, { cookie });
    await until(() => refused.refused !== '' || refused.messages.length > 0, 'an answer');
    t.regex(refused.refused, /response: 403/);
    t.deepEqual(refused.messages, []);
  }
  const role = await addRole(panel, 'reads', ['server:read', 'clients:read', 'inbounds:read']);
  const { id } = await panel.get<{ id: number }>(ADMINS, {
    body: { username: 'grace', password: PASSWORD, role },
  });
  const hers = Listener.plain(panel, await login(panel, 'grace').then((of) => ({ cookie: of.cookie })));
  await until(() => hers.messages.length > 0, 'she has a snapshot');
  const [{ id: selling = 0 } = {}] = await panel.get<{ id: number; kind: string }[]>(ROLES);
  await panel.get(`${ADMINS}/${id}`, { body: { role: selling } });
  await until(() => hers.ended !== undefined, 'her connection is closed');
  t.pass();
});

test('neither an API token nor a permission is a way out of the kind', async (t) => {
  await using panel = await boot();
  const { role } = await addReseller(panel, 'north');
  const { token } = await panel.get<{ token: string }>(`${TOKENS}/create`, { body: { name: 'robot', role } });
  const robot = asToken(panel, token);
  t.is((await robot(LIST)).status, 403);
  t.is((await robot('/panel/api/x/reseller/clients')).body.code, 'RESELLERS_NOT_RESELLER');
  for (const [path, body] of [
    [ROLES, { name: 'both', kind: 'reseller', permissions: ['clients:read'] }],
    [`${ROLES}/${role}`, { permissions: ['clients:read'] }],
  ] as const)
    t.is((await panel.call(path, { body })).body.code, 'ROLES_KIND_HAS_NONE');
  // A kind cannot be taken off, or added, later.
  await panel.get(`${ROLES}/${role}`, { body: { kind: '', name: 'renamed' } });
  const roles = await panel.get<{ id: number; kind: string }[]>(ROLES);
  t.is(roles.find(({ id }) => id === role)?.kind, 'reseller');
  // The calls of resellers are in no resource.
  const most = (await panel.get<{ resources: { name: string }[] }>(`${ROLES}/resources`)).resources;
  t.false(most.some(({ name }) => name.startsWith('reseller')));
});
