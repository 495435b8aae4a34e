// Runs on every database in test:full.
// Several admins and their roles: what is refused, what stays, and what is recorded.
import test from 'ava';
import { refused } from '../../../test/harness/refused.js';
import { addAdmin, addRole, ADMINS, boot, LIST, login, PASSWORD, ROLES, TOKENS } from './world.js';

interface Shown {
  readonly id: number;
  readonly username: string;
}
interface Entry {
  readonly area: string;
  readonly who: { readonly name: string };
}

test('one admin is a full one and stays so', async (t) => {
  await using panel = await boot();
  const [first] = await panel.get<Shown[]>(ADMINS);
  t.like(first, { username: 'admin', role: 0, enabled: true });
  const at = `${ADMINS}/${first?.id}`;
  const role = await addRole(panel, 'reads', ['inbounds:read']);
  const last = (field: string) => ({ status: 409, code: 'ACCESS_LAST_ADMIN', field });
  await refused(t, panel, at, { body: { role } }, last('role'));
  await refused(t, panel, at, { body: { enabled: false } }, last('enabled'));
  await refused(t, panel, `${at}/del`, { method: 'POST' }, last('id'));
  // A second one who cannot log in, or has a role, does not count.
  const grace = await addAdmin(panel, 'grace');
  await addAdmin(panel, 'joan', ['inbounds:write']);
  await panel.get(`${ADMINS}/${grace.id}`, { body: { enabled: false } });
  await refused(t, panel, at, { body: { role } }, last('role'));
  await panel.get(`${ADMINS}/${grace.id}`, { body: { enabled: true } });
  await panel.get(at, { body: { role } });
  t.is((await panel.call(LIST)).status, 200);
  t.is((await panel.call(ADMINS)).status, 403, 'it is in force at once');
});

test('two full admins cannot take the rights of each other at the same time', async (t) => {
  await using panel = await boot();
  const role = await addRole(panel, 'reads', ['inbounds:read']);
  const grace = await addAdmin(panel, 'grace');
  const [first] = await panel.get<Shown[]>(ADMINS);
  const answers = await Promise.all([
    panel.call(`${ADMINS}/${grace.id}`, { body: { role } }),
    panel.call(`${ADMINS}/${first?.id}`, { body: { role } }),
  ]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
});

test('names the field of bad input and changes nothing', async (t) => {
  await using panel = await boot();
  const id = await addRole(panel, 'reads', ['inbounds:read']);
  const invalid = (field: string) => ({ status: 400, code: 'KERNEL_INVALID', field });
  const role = (body: object) => ({ body: { name: 'x', permissions: [], ...body } });
  await refused(t, panel, ROLES, role({ name: '' }), invalid('name'));
  await refused(t, panel, ROLES, role({ name: 'x'.repeat(65) }), invalid('name'));
  await refused(t, panel, ROLES, role({ permissions: ['inbounds'] }), invalid('permissions.0'));
  await refused(t, panel, ROLES, role({ permissions: ['*:write'] }), invalid('permissions.0'));
  const many = Array.from({ length: 201 }, () => 'inbounds:read');
  await refused(t, panel, ROLES, role({ permissions: many }), invalid('permissions'));
  const unknown = { status: 400, code: 'ROLES_UNKNOWN_PERMISSION', field: 'permissions.1' };
  await refused(t, panel, ROLES, role({ permissions: ['hosts:read', 'inbound:read'] }), unknown);
  await refused(t, panel, ROLES, role({ permissions: ['hosts:read', 'access:write'] }), unknown);
  for (const [permission, said] of [
    ['inbound:read', 'there is no permission "inbound:read"; did you mean inbounds:read'],
    ['zzzzzzzzzzzzzzzzzzzzzzzz:read', 'there is no permission "zzzzzzzzzzzzzzzzzzzzzzzz:read"'],
  ] as const) {
    const { msg } = (await panel.call(ROLES, role({ permissions: [permission] }))).body;
    t.true(msg.startsWith(`permissions[0]: ${said}`), msg);
    t.is(msg.includes('mean'), said.includes('mean'), msg);
  }
  await refused(t, panel, ROLES, role({ name: 'reads' }), {
    status: 409,
    code: 'ROLES_NAME_TAKEN',
    field: 'name',
  });
  await refused(
    t,
    panel,
    `${ROLES}/99`,
    { body: { name: 'y' } },
    { status: 404, code: 'ROLES_NOT_FOUND', field: 'id' },
  );

  const admin = (body: object) => ({ body: { username: 'grace', password: PASSWORD, ...body } });
  await refused(t, panel, ADMINS, admin({ username: '' }), invalid('username'));
  await refused(t, panel, ADMINS, admin({ password: 'short' }), invalid('password'));
  await refused(t, panel, ADMINS, admin({ role: 99 }), { status: 400, code: 'ROLES_UNKNOWN', field: 'role' });
  await refused(t, panel, ADMINS, admin({ role: -1 }), invalid('role'));
  const taken = { status: 409, code: 'ACCESS_ADMIN_TAKEN', field: 'username' };
  await refused(t, panel, ADMINS, admin({ username: 'admin' }), taken);
  await refused(
    t,
    panel,
    `${ADMINS}/99`,
    { body: { enabled: true } },
    { status: 404, code: 'ACCESS_ADMIN_NOT_FOUND', field: 'id' },
  );
  const token = (body: object) => ({ body: { name: 'x', ...body } });
  await refused(t, panel, `${TOKENS}/create`, token({ role: 99 }), {
    status: 400,
    code: 'ROLES_UNKNOWN',
    field: 'role',
  });
  await refused(t, panel, `${TOKENS}/create`, token({ role: id, kind: 'node' }), {
    status: 400,
    code: 'ACCESS_TOKEN_KIND',
    field: 'kind',
  });
  t.is((await panel.get<Shown[]>(ADMINS)).length, 1);
  t.is((await panel.get<Shown[]>(ROLES)).length, 1);
});

test('a role is deleted only when nobody has it', async (t) => {
  await using panel = await boot();
  const grace = await addAdmin(panel, 'grace', ['inbounds:read']);
  const ofToken = await addRole(panel, 'of a token', ['clients:read']);
  const { id } = await panel.get<{ id: number }>(`${TOKENS}/create`, { body: { name: 'x', role: ofToken } });
  t.like(await panel.get<object[]>(ROLES), [
    { id: grace.role, admins: 1, tokens: 0 },
    { id: ofToken, admins: 0, tokens: 1 },
  ]);
  const inUse = { status: 409, code: 'ROLES_IN_USE', field: 'id' };
  for (const role of [grace.role, ofToken])
    await refused(t, panel, `${ROLES}/${role}/del`, { method: 'POST' }, inUse);
  await panel.get(`${ADMINS}/${grace.id}/del`, { method: 'POST' });
  await panel.get(`${TOKENS}/delete/${id}`, { method: 'POST' });
  for (const role of [grace.role, ofToken]) await panel.get(`${ROLES}/${role}/del`, { method: 'POST' });
  t.deepEqual(await panel.get(ROLES), []);
});

test('a new password closes the sessions of that admin only, also after a restart', async (t) => {
  const panel = await boot();
  const [grace, joan] = [await addAdmin(panel, 'grace'), await addAdmin(panel, 'joan')];
  await panel.get(`${ADMINS}/${grace.id}`, { body: { password: 'another long password' } });
  t.is((await grace.call(LIST)).status, 401);
  t.is((await joan.call(LIST)).status, 200);
  t.is((await login(panel, 'grace')).status, 401);
  t.is((await login(panel, 'grace', 'another long password')).status, 200);
  await panel.get(`${ADMINS}/${joan.id}`, { body: { enabled: false } });
  t.is((await login(panel, 'joan')).status, 401, 'as for a wrong password');
  await panel.stop();
  await using later = await boot({ dataDirectory: panel.dataDirectory });
  const asks = (cookie: string) => later.call(LIST, { anonymous: true, headers: { cookie } });
  t.is((await asks(grace.cookie)).status, 401);
  t.is((await asks(joan.cookie)).status, 401);
  t.is((await asks(panel.cookie)).status, 200);
});

test('who changed roles and admins is recorded, without passwords', async (t) => {
  await using panel = await boot();
  const grace = await addAdmin(panel, 'grace', ['inbounds:read']);
  await panel.get(`${ROLES}/${grace.role}`, { body: { permissions: ['clients:read'] } });
  await panel.get(`${ADMINS}/${grace.id}`, { body: { enabled: false } });
  await panel.get(`${ADMINS}/${grace.id}/del`, { method: 'POST' });
  await panel.get(`${ROLES}/${grace.role}/del`, { method: 'POST' });
  const entries = await panel.get<Entry[]>('/panel/api/x/audit/changes');
  const areas = entries.filter(({ area }) => area === 'role' || area === 'admin').map(({ area }) => area);
  t.deepEqual(
    areas.slice(0, 6),
    ['role', 'admin', 'admin', 'role', 'admin', 'role'],
    JSON.stringify(entries),
  );
  t.false(JSON.stringify(entries).includes(PASSWORD));
});
