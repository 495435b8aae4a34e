// Runs on every database in test:full.
// Every route of the panel and the live stream, called by an admin of groups: closed, but for the lists that stand here.
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
import { addRole, ADMINS, boot, login, PASSWORD, ROLES } from './world.js';

test.before(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.after.always(() => nock.restore());

/** Written out, so that a route which becomes open for admins of groups is seen by a person. */
const OWN_ACCOUNT = [
  ...['GET access/recoveryCodes', 'GET x/account/secondFactor', 'GET x/openid/links', 'GET x/passkeys'],
  ...['POST access/recoveryCodes/renew', 'POST x/account/secondFactor', 'POST x/account/secondFactor/del'],
  ...['POST x/openid/link', 'POST x/openid/links/{id}/del', 'POST x/passkeys/register'],
  ...['POST x/passkeys/register/options', 'POST x/passkeys/{id}/del', 'POST x/passkeys/{id}/rename'],
  ...['GET access/sessions', 'GET x/preferences', 'GET x/roles/me', 'POST access/sessions/revoke/{id}'],
  ...['POST access/sessions/revokeOthers', 'POST setting/updateUser', 'POST x/preferences'],
];
const READING = ['GET x/group-clients/clients', 'GET x/group-clients/clients/{id}', 'GET x/group-clients/me'];
const WRITING = [
  ...['POST x/group-clients/clients', 'POST x/group-clients/clients/{id}'],
  ...['POST x/group-clients/clients/{id}/del', 'POST x/group-clients/clients/{id}/renew'],
  'POST x/group-clients/clients/{id}/reset',
];
const full = (calls: readonly string[]): string[] => calls.map((one) => one.replace(' ', ' /panel/api/'));

async function addStaff(panel: TestPanel, username: string, level: 'read' | 'write') {
  // No client is in this group.
  const body = { name: username, kind: 'groups', groups: ['of nobody'], level };
  const { id: role } = await panel.get<{ id: number }>(ROLES, { body });
  const { id } = await panel.get<{ id: number }>(ADMINS, { body: { username, password: PASSWORD, role } });
  const { cookie, csrf, call: calls } = await login(panel, username);
  return { id, role, cookie, calls, headers: { cookie, 'x-csrf-token': csrf } };
}

test('an admin of groups calls what is made for them and what is of the own account, and nothing else', async (t) => {
  await using panel = await bootWithSamples();
  for (const level of ['read', 'write'] as const) {
    const { headers } = await addStaff(panel, `who may ${level}`, level);
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
      else open.push(name);
    }
    const made = level === 'read' ? READING : [...READING, ...WRITING];
    t.deepEqual(open.sort(), full([...OWN_ACCOUNT, ...made]).sort(), level);
  }
});

test('those of the own account are open to an admin of groups', async (t) => {
  await using panel = await boot();
  const { calls } = await addStaff(panel, 'staff', 'read');
  const shown = ['access/sessions', 'x/preferences', 'x/roles/me', 'x/account/secondFactor'];
  for (const path of [...shown, 'access/recoveryCodes', 'x/passkeys', 'x/openid/links'])
    t.is((await calls(`/panel/api/${path}`)).status, 200, path);
  t.is((await calls('/panel/api/x/preferences', { body: { changes: { theme: 'dark' } } })).status, 200);
  const me = await calls<object>('/panel/api/x/roles/me');
  t.deepEqual(me.body.obj, {
    ...{ name: 'staff', kind: 'session', full: false, reseller: false, groups: true },
    ...{ roles: ['staff'], permissions: [] },
  });
});

test('an admin of groups has no live stream, also one who becomes it while he listens', async (t) => {
  await using panel = await boot();
  const { cookie, role: ofGroups } = await addStaff(panel, 'staff', 'write');
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
  await panel.get(`${ADMINS}/${id}`, { body: { role: ofGroups } });
  await until(() => hers.ended !== undefined, 'her connection is closed');
  t.pass();
});

test('groups and level belong to the kind, and the kind has nothing else', async (t) => {
  await using panel = await boot();
  const { role } = await addStaff(panel, 'staff', 'read');
  const code = async (path: string, body: object) => (await panel.call(path, { body })).body.code;
  const groups = ['north'];
  for (const [fields, refused] of [
    [{ kind: 'groups' }, 'ROLES_NEEDS_GROUPS'],
    [{ kind: 'groups', groups: [] }, 'ROLES_NEEDS_GROUPS'],
    [{ kind: 'groups', groups: [''] }, 'KERNEL_INVALID'],
    [{ kind: 'groups', groups: Array.from({ length: 101 }, (_, i) => `g${i}`) }, 'KERNEL_INVALID'],
    [{ kind: 'groups', groups, level: 'all' }, 'KERNEL_INVALID'],
    [{ kind: 'groups', groups, permissions: ['clients:read'] }, 'ROLES_KIND_HAS_NONE'],
    [{ kind: 'reseller', groups }, 'ROLES_NO_GROUPS'],
    [{ permissions: ['clients:read'], groups }, 'ROLES_NO_GROUPS'],
    [{ permissions: ['clients:read'], level: 'read' }, 'ROLES_NO_GROUPS'],
  ] as const)
    t.is(await code(ROLES, { name: 'another', ...fields }), refused, JSON.stringify(fields));
  t.is(await code(`${ROLES}/${role}`, { permissions: ['clients:read'] }), 'ROLES_KIND_HAS_NONE');
  t.is(await code(`${ROLES}/${role}`, { groups: [] }), 'ROLES_NEEDS_GROUPS');
  const plain = await addRole(panel, 'plain', ['clients:read']);
  t.is(await code(`${ROLES}/${plain}`, { groups }), 'ROLES_NO_GROUPS');
  t.is(await code(`${ROLES}/${plain}`, { level: 'write' }), 'ROLES_NO_GROUPS');
  const made = await panel.get(ROLES, { body: { name: 'made', kind: 'groups', groups: ['b', 'a', 'b'] } });
  t.like(made, { kind: 'groups', groups: ['a', 'b'], level: 'read', permissions: [] }, 'to read by default');
  // What is not sent stays.
  await panel.get(`${ROLES}/${role}`, { body: { level: 'write' } });
  await panel.get(`${ROLES}/${role}`, { body: { name: 'renamed' } });
  const roles = await panel.get<{ id: number }[]>(ROLES);
  const shown = { name: 'renamed', kind: 'groups', groups: ['of nobody'], level: 'write', admins: 1 };
  t.like(
    roles.find(({ id }) => id === role),
    shown,
  );
});

test('the calls of admins of groups are in no resource', async (t) => {
  await using panel = await boot();
  const { resources, calls } = await panel.get<{
    resources: { name: string; plugins: string[] }[];
    calls: { call: string; groups: boolean; onlyFull: boolean }[];
  }>(`${ROLES}/resources`);
  t.false(resources.some(({ plugins }) => plugins.includes('group-roles')));
  const made = calls.filter(({ call: name }) => full([...READING, ...WRITING]).includes(name));
  t.is(made.length, 8);
  for (const { groups, onlyFull } of made) t.deepEqual([groups, onlyFull], [true, true]);
});
