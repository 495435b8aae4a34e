// Runs on every database.
// A role of the kind groups while its admins are logged in: changed, given away, and about a group that is renamed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { dropDatabase } from '../../../test/harness/database.js';
import { login } from '../../resellers/test/world.js';
import { addGroupAdmin, ADMINS, boot, CLIENTS, GroupAdmin, OWN, ROLES, type World } from './world.js';

const rename = ({ panel }: World, oldName: string, newName: string) =>
  panel.get(`${CLIENTS}/groups/rename`, { body: { oldName, newName } });
const groupsOf = async ({ panel }: World, role: number): Promise<readonly string[]> => {
  const roles = await panel.get<{ id: number; groups: string[] }[]>(ROLES);
  return roles.find(({ id }) => id === role)?.groups ?? [];
};

test('a change of the role is in force with the next call of an open session', async (t) => {
  await using world = await boot();
  const { panel, add } = world;
  const ada = await add('ada', 'north');
  await add('eve', 'east');
  const staff = await addGroupAdmin(panel, 'staff', ['north'], 'read');
  const set = (fields: object) => panel.get(`${ROLES}/${staff.role}`, { body: fields });
  t.is(await staff.change(ada, { comment: 'x' }), '403 ACCESS_NO_PERMISSION');
  await set({ level: 'write' });
  t.is(await staff.change(ada, { comment: 'x' }), '200');
  await set({ groups: ['east'] });
  t.deepEqual(await staff.emails(), ['eve']);
  t.is(await staff.told(`${OWN}/clients/${ada}`), '404 GROUP_ROLES_NO_CLIENT');
  await set({ groups: ['east', 'north'], level: 'read' });
  t.deepEqual(await staff.emails(), ['ada', 'eve']);
  t.is(await staff.act(ada, 'del'), '403 ACCESS_NO_PERMISSION');
});

test('an admin who gets another role, or none, sees no clients of groups any more', async (t) => {
  await using world = await boot();
  const { panel, add } = world;
  await add('ada', 'north');
  const staff = await addGroupAdmin(panel, 'staff', ['north']);
  const admin = `${ADMINS}/${staff.admin}`;
  const { id: reads } = await panel.get<{ id: number }>(ROLES, {
    body: { name: 'reads', permissions: ['clients:read'] },
  });
  await panel.get(admin, { body: { role: reads } });
  t.is(await staff.told(`${OWN}/clients`), '403 ACCESS_NO_PERMISSION');
  t.is(await staff.told(`${CLIENTS}/list`), '200');
  await panel.get(admin, { body: { role: 0 } });
  t.is(await staff.told(`${OWN}/clients`), '403 GROUP_ROLES_NO_ROLE');
  await panel.get(admin, { body: { role: staff.role } });
  t.deepEqual(await staff.emails(), ['ada']);
  t.is(await staff.told(`${CLIENTS}/list`), '403 ACCESS_NO_PERMISSION');
  await panel.get(admin, { body: { enabled: false } });
  t.regex(await staff.told(`${OWN}/clients`), /^401/);
});

test('a role follows a group that is renamed, also one that was only a name on clients', async (t) => {
  await using world = await boot();
  const { panel, add } = world;
  await panel.get(`${CLIENTS}/groups/create`, { body: { name: 'made' } });
  const [ada, eve] = [await add('ada', 'made'), await add('eve', 'name-only')];
  await add('other', 'others');
  const staff = await addGroupAdmin(panel, 'staff', ['made', 'name-only']);
  const bystander = await addGroupAdmin(panel, 'bystander', ['others']);
  await rename(world, 'made', 'renamed');
  t.deepEqual(await groupsOf(world, staff.role), ['name-only', 'renamed']);
  await rename(world, 'name-only', 'known');
  t.deepEqual(await groupsOf(world, staff.role), ['known', 'renamed']);
  t.deepEqual(await staff.emails(), ['ada', 'eve']);
  t.is(await staff.change(ada, { comment: 'x' }), '200');
  t.is((await staff.client(eve)).group, 'known');
  // A group of the name that was left is another group.
  await add('later', 'made');
  t.deepEqual(await staff.emails(), ['ada', 'eve']);
  t.deepEqual([await groupsOf(world, bystander.role), await bystander.emails()], [['others'], ['other']]);
  const entries = await panel.get<{ name: string; who: string; fields: { groups?: unknown } }[]>(
    '/panel/api/x/audit/changes?area=role&kind=updated',
  );
  t.deepEqual(
    entries.map(({ who, name, fields }) => `${who}: ${name} ${String(fields.groups)}`),
    [
      'admin: role of staff ["name-only","renamed"],["known","renamed"]',
      'admin: role of staff ["made","name-only"],["name-only","renamed"]',
    ],
  );
});

test('a role names groups as they are named: without blanks around', async (t) => {
  await using world = await boot();
  const { panel } = world;
  const body = { name: 'support', kind: 'groups', groups: ['east', ' north'] };
  const { status, body: answer } = await panel.call(ROLES, { body });
  t.deepEqual([status, answer.code], [400, 'KERNEL_INVALID']);
  const { id } = await panel.get<{ id: number }>(ROLES, { body: { ...body, groups: ['east'] } });
  t.is((await panel.call(`${ROLES}/${id}`, { body: { groups: ['north '] } })).status, 400);
});

test('one group that takes another one in is named once', async (t) => {
  await using world = await boot();
  const { panel, add } = world;
  await panel.get(`${CLIENTS}/groups/create`, { body: { name: 'made' } });
  await add('ada', 'made');
  await add('eve', 'east');
  const staff = await addGroupAdmin(panel, 'staff', ['made', 'east']);
  await rename(world, 'made', 'east');
  t.deepEqual(await groupsOf(world, staff.role), ['east']);
  t.deepEqual(await staff.emails(), ['ada', 'eve']);
  t.deepEqual((await staff.page()).counts['total'], 2);
});

test('a rename that fails changes no role', async (t) => {
  await using world = await boot();
  const { panel, add } = world;
  await add('ada', 'north');
  await panel.get(`${CLIENTS}/groups/create`, { body: { name: 'taken' } });
  const staff = await addGroupAdmin(panel, 'staff', ['north']);
  const answer = await panel.call(`${CLIENTS}/groups/rename`, {
    body: { oldName: 'north', newName: 'taken' },
  });
  t.is(answer.status, 409);
  t.deepEqual(await groupsOf(world, staff.role), ['north']);
  t.deepEqual(await staff.emails(), ['ada']);
});

test('a group that is deleted leaves its clients to nobody; the role goes on naming it', async (t) => {
  await using world = await boot();
  const { panel, add } = world;
  const ada = await add('ada', 'north');
  const staff = await addGroupAdmin(panel, 'staff', ['north']);
  await panel.get(`${CLIENTS}/groups/delete`, { body: { name: 'north' } });
  t.deepEqual(await staff.emails(), []);
  t.is(await staff.told(`${OWN}/clients/${ada}`), '404 GROUP_ROLES_NO_CLIENT');
  await panel.get(`${CLIENTS}/groups/bulkAdd`, { body: { emails: ['ada'], group: 'north' } });
  t.deepEqual(await staff.emails(), ['ada']);
});

test('roles are read from the database after a start', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(dataDirectory);
    await rm(dataDirectory, { recursive: true, force: true });
  });
  const first = await boot({ dataDirectory });
  const ada = await first.add('ada', 'north');
  const { role, admin } = await addGroupAdmin(first.panel, 'staff', ['north'], 'read');
  await first.panel.stop();
  const { panel } = await boot({ dataDirectory });
  t.teardown(() => panel.stop());
  const staff = new GroupAdmin(panel, await login(panel, 'staff'), { role, admin });
  t.deepEqual(await staff.emails(), ['ada']);
  t.is(await staff.act(ada, 'del'), '403 ACCESS_NO_PERMISSION');
});
