// Runs on every database in test:full.
// Two panels on one database: a role, and whom it shows, are the same in both.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { Panels } from '../../cluster/test/two-panels.js';
import { login } from '../../resellers/test/world.js';
import { Listener } from '../../realtime/test/listener.js';
import { addGroupAdmin, ADMINS, CLIENTS, GroupAdmin, ROLES } from './world.js';

const onServer = onSqlite ? test.skip : test;

onServer('what one panel changes counts in the other one', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  const inbound = await a.addInbound({ remark: 'shared' });
  const { id } = await a.addClient('ada', [inbound], { group: 'north' });
  await a.addClient('eve', [inbound], { group: 'south' });
  const { role, admin } = await addGroupAdmin(a, 'staff', ['north'], 'write');
  await b.until(async () => (await b.get<unknown[]>(ROLES)).length === 1, 'the other panel knows the role');
  const staff = new GroupAdmin(b, await login(b, 'staff'), { role, admin });
  t.deepEqual(await staff.emails(), ['ada']);
  // A write in the other panel sees the move at once, whatever its memory says.
  await a.get(`${CLIENTS}/groups/bulkAdd`, { body: { emails: ['ada'], group: 'south' } });
  const told = await staff.change(id, { comment: 'mine' });
  t.true(['404 GROUP_ROLES_NO_CLIENT', '503 KERNEL_DATABASE_BUSY'].includes(told), told);
  await b.until(async () => (await staff.emails()).length === 0, 'the list follows');
  await a.get(`${CLIENTS}/groups/rename`, { body: { oldName: 'south', newName: 'renamed' } });
  await a.get(`${ROLES}/${role}`, { body: { groups: ['renamed'], level: 'read' } });
  await b.until(async () => (await staff.emails()).length === 2, 'the role follows');
  t.is(await staff.change(id, { comment: 'mine' }), '403 ACCESS_NO_PERMISSION');
});

onServer('who gets such a role from one panel loses the live messages of the other one', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  const role = { name: 'support', kind: 'groups', groups: ['north'] };
  const { id } = await a.get<{ id: number }>(ROLES, { body: role });
  const body = { username: 'staff', password: 'a password of nobody else' };
  const admin = await a.get<{ id: number }>(ADMINS, { body });
  await b.until(async () => (await b.get<unknown[]>(ADMINS)).length === 2, 'the other panel knows the admin');
  const headers = await login(b, 'staff');
  const streams = [Listener.plain(b, headers), Listener.io(b, headers)];
  for (const { messages } of streams) await b.until(() => messages.length > 0, 'it has a snapshot');
  await a.get(`${ADMINS}/${admin.id}`, { body: { role: id } });
  for (const stream of streams) await b.until(() => stream.ended !== undefined, 'it is closed');
  t.is(streams[0]?.ended, 4403);
});
