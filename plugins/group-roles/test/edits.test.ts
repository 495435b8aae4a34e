// Runs on every database.
// What an admin of groups changes: with the level write, within the groups, and recorded.
import test from 'ava';
import { addGroupAdmin, boot, CLIENTS, DAY, GIB, OWN } from './world.js';

test('changes, renews, resets and deletes a client', async (t) => {
  await using world = await boot();
  const { panel, add, use, clock } = world;
  const staff = await addGroupAdmin(panel, 'staff', ['north']);
  const id = await add('ada', 'north', { totalGB: GIB, expiryTime: clock.now() + DAY });
  const limits = { totalGB: 2 * GIB, limitIp: 3, comment: 'paid', enable: false };
  t.is(await staff.change(id, limits), '200');
  t.like(await staff.client(id), limits);
  t.is(await staff.change(id, { enable: true, email: 'ada-2' }), '200');
  await use(id, 2 * GIB);
  t.like(await staff.client(id), { email: 'ada-2', enable: false, depletedCause: 'quota', down: 2 * GIB });
  t.is(await staff.act(id, 'reset'), '200');
  t.like(await staff.client(id), { enable: true, down: 0 });
  const { expiryTime } = await staff.client(id);
  t.is(await staff.act(id, 'renew', { days: 30 }), '200');
  t.is((await staff.client(id)).expiryTime, expiryTime + 30 * DAY);
  t.is(await staff.act(id, 'del'), '200');
  t.is((await panel.call(`${CLIENTS}/get/ada-2`)).status, 404);
});

test('a body sets only what may be set: neither keys nor inbounds, and no group of others', async (t) => {
  await using world = await boot();
  const { panel, add, inbound } = world;
  const staff = await addGroupAdmin(panel, 'staff', ['north', 'east']);
  const other = await panel.addInbound({ remark: 'of others' });
  await add('ada', 'north');
  const hostile = {
    ...{ subId: 'chosen', uuid: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10', password: 'chosen', tgId: 5 },
    ...{ reset: 1, resetDay: 1, trafficReset: 'hourly', reverse: { tag: 'out' }, id: 1, createdAt: 1 },
    ...{ externalLinks: [{ kind: 'link', value: 'vless://x@y:1' }], up: 0, elsewhereUp: -5, client: {} },
    credentials: [{ inboundId: inbound, password: 'x' }],
  };
  const made = await staff.get<{ id: number }>(`${OWN}/clients`, {
    ...{ email: 'made', group: 'north', inboundIds: [inbound] },
    ...hostile,
  });
  t.is(await staff.change(made.id, { ...hostile, inboundIds: [other] }), '200');
  const stored = await panel.get<Record<string, unknown>>(`${CLIENTS}/get/made`);
  const untouched = { group: 'north', tgId: 0, reset: 0, resetDay: 0, trafficReset: 'never', reverse: null };
  t.like(stored, { ...untouched, externalLinks: [], enable: true, inboundIds: [inbound] });
  for (const name of ['subId', 'uuid', 'password'] as const) t.not(stored[name], hostile[name]);
  for (const group of ['south', 'North', 'north ']) {
    t.is(await staff.change(made.id, { group }), '403 GROUP_ROLES_NOT_YOUR_GROUP', group);
    const body = { email: 'x', group, inboundIds: [inbound] };
    t.is(await staff.add(body), '403 GROUP_ROLES_NOT_YOUR_GROUP', group);
  }
  t.is(await staff.change(made.id, { group: '' }), '400 KERNEL_INVALID', 'nor out of all groups');
  t.is(await staff.change(made.id, { group: 'east' }), '200');
  t.is((await staff.client(made.id)).group, 'east');
});

test('a new client comes into inbounds that clients of the groups have', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const staff = await addGroupAdmin(panel, 'staff', ['north', 'empty']);
  const more = await panel.addInbound({ remark: 'of the south' });
  await panel.addClient('south-ada', [more], { group: 'south' });
  const body = { email: 'new', group: 'empty', inboundIds: [inbound] };
  t.is(await staff.add(body), '403 GROUP_ROLES_NOT_YOUR_INBOUND', 'nobody is in the groups yet');
  await add('ada', 'north');
  t.is(await staff.add({ ...body, inboundIds: [inbound, more] }), '403 GROUP_ROLES_NOT_YOUR_INBOUND');
  t.is(await staff.add({ ...body, inboundIds: [999] }), '403 GROUP_ROLES_NOT_YOUR_INBOUND');
  t.is(await staff.add(body), '200');
  t.deepEqual(await staff.emails(), ['ada', 'new']);
  t.is(await staff.add({ ...body, group: 'north' }), '409 CLIENTS_EMAIL_TAKEN');
  t.is(await staff.add({ ...body, email: 'south-ada' }), '409 CLIENTS_EMAIL_TAKEN');
});

test('the level read shows, and changes nothing', async (t) => {
  await using world = await boot();
  const { panel, inbound, add } = world;
  const id = await add('ada', 'north');
  const staff = await addGroupAdmin(panel, 'staff', ['north'], 'read');
  t.deepEqual(await staff.emails(), ['ada']);
  t.is((await staff.client(id)).links.length, 1);
  const before = await panel.get(`${CLIENTS}/get/ada`);
  const body = { email: 'new', group: 'north', inboundIds: [inbound] };
  const told = [
    ...[await staff.add(body), await staff.change(id, { comment: 'x' }), await staff.act(id, 'reset')],
    ...[await staff.act(id, 'renew', { days: 1 }), await staff.act(id, 'del')],
  ];
  t.deepEqual([...new Set(told)], ['403 ACCESS_NO_PERMISSION']);
  const { msg } = (await staff.call(`${OWN}/clients/${id}/del`, {})).body;
  t.regex(msg, /"role of staff" lacks the permission group-clients:write/);
  t.deepEqual(await panel.get(`${CLIENTS}/get/ada`), before);
});

test('a repeated call with its key is done once', async (t) => {
  await using world = await boot();
  const { panel, inbound, add, clock } = world;
  const staff = await addGroupAdmin(panel, 'staff', ['north']);
  const id = await add('ada', 'north', { expiryTime: clock.now() + DAY });
  const key = (name: string) => ({ 'idempotency-key': name });
  const body = { email: 'new', group: 'north', inboundIds: [inbound] };
  const first = await staff.call(`${OWN}/clients`, body, key('add'));
  t.is((await staff.call(`${OWN}/clients`, body, key('add'))).text, first.text);
  for (let i = 0; i < 3; i++) await staff.call(`${OWN}/clients/${id}/renew`, { days: 1 }, key('renew'));
  t.is((await staff.client(id)).expiryTime, clock.now() + 2 * DAY);
});

test('everything is recorded, with the admin of groups as who', async (t) => {
  await using world = await boot();
  const { panel, inbound, add, use } = world;
  await add('ada', 'north');
  const staff = await addGroupAdmin(panel, 'staff', ['north']);
  const body = { email: 'new', group: 'north', inboundIds: [inbound] };
  const { id } = await staff.get<{ id: number }>(`${OWN}/clients`, body);
  await staff.change(id, { comment: 'x', expiryTime: world.clock.now() + DAY });
  await use(id, GIB);
  await staff.act(id, 'reset');
  await staff.act(id, 'renew', { days: 3 });
  await staff.act(id, 'del');
  const entries = await panel.get<{ area: string; kind: string; name: string; who: string }[]>(
    '/panel/api/x/audit/changes?limit=50&area=client',
  );
  const told = entries.map(({ kind, name, who }) => `${who}: ${name} ${kind}`).reverse();
  t.deepEqual(told, [
    ...['admin: ada added', 'staff: new added', 'staff: new updated', 'staff: new updated'],
    ...['staff: new updated', 'staff: new deleted'],
  ]);
});
