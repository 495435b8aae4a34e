// Runs on every database.
// What a full admin does with clients of resellers, and with resellers.
import test from 'ava';
import { addSeller, boot, GIB, login, OWN, RESELLERS, sellingRole } from './world.js';

const CLIENTS = '/panel/api/clients';

test('what a full admin gives is not counted, and may be used once', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', {
    ...{ inboundIds: [inbound], maxBytes: 100 * GIB, mayReset: true },
  });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: 10 * GIB });
  await panel.get(`${CLIENTS}/update/ada`, { body: { totalGB: 40 * GIB } });
  t.is(await north.given(), 10);
  t.is(await north.change(id, { totalGB: 20 * GIB }), '200');
  t.is(await north.change(id, { totalGB: 40 * GIB }), '200');
  t.is(await north.given(), 10);
  await world.use(id, 40);
  await panel.get(`${CLIENTS}/resetTraffic/ada`, { body: {} });
  t.is(await north.given(), 10, 'the reset was a present, too');
  await world.use(id, 40);
  t.is(await north.reset(id), '200');
  t.is(await north.given(), 50);
  // A present that is taken back before it is used is none.
  await north.change(id, { totalGB: 5 * GIB });
  await panel.get(`${CLIENTS}/bulkResetTraffic`, { body: { emails: ['ada'] } });
  t.is(await north.change(id, { totalGB: 6 * GIB }), '200');
  t.is(await north.given(), 51);
  t.deepEqual(panel.faults, []);
});

test('whom a full admin has disabled, the reseller does not enable', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], mayReset: true });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: 10 * GIB });
  await panel.get(`${CLIENTS}/update/ada`, { body: { enable: false } });
  t.is(await north.change(id, { enable: true }), '403 HELD');
  t.is(await north.change(id, { enable: false, comment: 'all fields are sent' }), '200');
  t.is(await north.reset(id), '200');
  t.is(await north.told(`${OWN}/clients/${id}/renew`, { days: 1, reset: true }), '200');
  t.false((await north.client(id)).enable);
  await panel.get(`${CLIENTS}/bulkEnable`, { body: { emails: ['ada'] } });
  t.is(await north.change(id, { enable: false }), '200');
  t.is(await north.change(id, { enable: true }), '200', 'he disabled it himself');
  // One that its quota had disabled already.
  await world.use(id, 10);
  await panel.get(`${CLIENTS}/bulkDisable`, { body: { emails: ['ada'] } });
  t.is(await north.change(id, { totalGB: 50 * GIB }), '200');
  t.false((await north.client(id)).enable);
  t.is(await north.change(id, { enable: true }), '403 HELD');
});

test('clients are assigned, moved and released; a deleted one leaves its place', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const fields = { inboundIds: [inbound], maxClients: 1, maxBytes: 10 * GIB };
  const north = await addSeller(panel, 'north', fields);
  const south = await addSeller(panel, 'south', fields);
  for (const email of ['ada', 'grace', 'joan'])
    await panel.addClient(email, [inbound], { totalGB: 50 * GIB });
  const assign = (to: number, emails: readonly string[]) =>
    panel.get<{ changed: number; unknown: string[] }>(`${RESELLERS}/${to}/clients`, { body: { emails } });
  t.deepEqual(await assign(north.id, ['ada', 'GRACE', 'nobody']), { changed: 2, unknown: ['nobody'] });
  t.deepEqual(await north.figures().then(({ clients, givenBytes }) => [clients, givenBytes]), [2, 0]);
  t.deepEqual(await north.emails(), ['ada', 'grace']);
  const more = { email: 'kay', inboundIds: [inbound], totalGB: GIB };
  t.is(await north.told(`${OWN}/clients`, more), '409 CLIENT_QUOTA');
  t.deepEqual(await panel.get(`${RESELLERS}/owner/ada`), { id: north.id, name: 'north' });
  t.is(await panel.get(`${RESELLERS}/owner/joan`), null);
  await assign(south.id, ['ada']);
  t.deepEqual([await north.emails(), await south.emails()], [['grace'], ['ada']]);
  await panel.get(`${RESELLERS}/release`, { body: { emails: ['ada'] } });
  t.deepEqual(await south.emails(), []);
  await panel.get(`${CLIENTS}/del/grace`, { body: {} });
  t.deepEqual(await north.emails(), []);
  t.is((await north.figures()).clients, 0);
  t.is(await north.told(`${OWN}/clients`, more), '200');
  await panel.get(`${CLIENTS}/update/kay`, { body: { email: 'renamed', group: 'other' } });
  t.deepEqual(await north.emails(), ['renamed'], 'neither a name nor a group moves it');
  const listed = await panel.get<{ items: { email: string }[] }>(`${RESELLERS}/${north.id}/clients`);
  t.deepEqual(
    listed.items.map(({ email }) => email),
    ['renamed'],
  );
  t.deepEqual(panel.faults, []);
});

test('an undo gives a client back to its owner, and costs nothing', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], maxBytes: 10 * GIB });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: 10 * GIB });
  t.is(await north.delete(id), '200');
  const [entry] = await panel.get<{ id: number; area: string; who: string }[]>(
    '/panel/api/x/audit/changes?limit=1',
  );
  t.like(entry, { area: 'client', who: 'north' });
  await panel.get(`/panel/api/x/audit/${entry?.id}/undo`, { body: {} });
  t.deepEqual(await north.emails(), ['ada']);
  t.is(await north.given(), 10);
  t.is(await north.change(id, { totalGB: 10 * GIB, comment: 'back' }), '200');
  t.is(await north.given(), 10);
});

test('what a client used beyond its limit is charged once, also where an undo brings it back', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', {
    ...{ inboundIds: [inbound], maxBytes: 100 * GIB, mayReset: true },
  });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: GIB });
  await world.use(id, 5);
  t.is(await north.delete(id), '200');
  t.is(await north.given(), 5);
  const [entry] = await panel.get<{ id: number }[]>('/panel/api/x/audit/changes?limit=1');
  await panel.get(`/panel/api/x/audit/${entry?.id}/undo`, { body: {} });
  t.is(await north.reset(id), '200');
  t.is(await north.given(), 6, 'the period after it, and nothing of the one before again');
});

test('a deleted reseller leaves his clients; a deleted admin leaves the reseller to another one', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound] });
  const south = await addSeller(panel, 'south', { inboundIds: [inbound] });
  await north.add('ada', { inboundIds: [inbound] });
  await south.add('grace', { inboundIds: [inbound] });
  await panel.get(`${RESELLERS}/${north.id}/del`, { body: {} });
  t.is(await panel.get(`${RESELLERS}/owner/ada`), null);
  t.is((await panel.get<{ total: number }>(`${CLIENTS}/list/paged`)).total, 2);
  await panel.get(`/panel/api/x/admins/${south.admin}/del`, { body: {} });
  t.is((await south.call(`${OWN}/clients`)).status, 401);
  const [left] = await panel.get<{ admin: null }[]>(RESELLERS);
  t.is(left?.admin, null);
  // An admin of the same name does not inherit it.
  const role = await sellingRole(panel);
  const body = { username: 'south', password: 'a password of nobody else', role };
  const { id } = await panel.get<{ id: number }>('/panel/api/x/admins', { body });
  const headers = await login(panel, 'south');
  const answer = await panel.call(`${OWN}/clients`, { anonymous: true, headers });
  t.is(answer.body.code, 'RESELLERS_NOT_RESELLER');
  await panel.get(`${RESELLERS}/${south.id}`, { body: { admin: id } });
  const { body: page } = await panel.call<{ items: { email: string }[] }>(`${OWN}/clients`, {
    anonymous: true,
    headers,
  });
  t.deepEqual(
    page.obj.items.map(({ email }) => email),
    ['grace'],
  );
});

test('a disabled admin, and one without the role, are no resellers any more', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound] });
  await north.add('ada', { inboundIds: [inbound] });
  const admin = `/panel/api/x/admins/${north.admin}`;
  await panel.get(admin, { body: { role: 0 } });
  t.is(await north.told(`${OWN}/clients`), '403 NOT_RESELLER');
  await panel.get(admin, { body: { role: await sellingRole(panel), enabled: false } });
  t.is((await north.call(`${OWN}/clients`)).status, 401);
  t.true((await panel.get<{ enable: boolean }>(`${CLIENTS}/get/ada`)).enable, 'the clients go on');
});

test('everything is recorded, with the reseller as who', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], mayReset: true });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: GIB });
  await north.change(id, { comment: 'x' });
  await world.use(id, 1);
  await north.reset(id);
  await north.delete(id);
  await panel.addClient('grace', [inbound]);
  await panel.get(`${RESELLERS}/${north.id}/clients`, { body: { emails: ['grace'] } });
  await panel.get(`${RESELLERS}/${north.id}`, { body: { maxClients: 5 } });
  const entries = await panel.get<{ area: string; kind: string; name: string; who: string }[]>(
    '/panel/api/x/audit/changes?limit=50',
  );
  const told = entries
    .filter(({ area, who }) => /^(?:client|reseller|client-owner)$/.test(area) && who !== 'traffic')
    .map(({ area, kind, name, who }) => `${who}: ${area} ${name} ${kind}`)
    .reverse();
  t.deepEqual(told, [
    ...['admin: reseller north added', 'north: client ada added', 'north: client ada updated'],
    ...['north: client ada updated', 'north: client ada deleted', 'admin: client grace added'],
    ...['admin: client-owner grace updated', 'admin: reseller north updated'],
  ]);
});

test('an admin with another role is somebody else, although he was a reseller before', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', {
    ...{ inboundIds: [inbound], maxClients: 2, maxBytes: 100 * GIB },
  });
  const ada = await north.add('ada', { inboundIds: [inbound], totalGB: 10 * GIB });
  const grace = await north.add('grace', { inboundIds: [inbound], totalGB: 10 * GIB });
  const more = { email: 'kay', inboundIds: [inbound], totalGB: GIB };
  t.is(await north.told(`${OWN}/clients`, more), '409 CLIENT_QUOTA');
  // His row stays, and he works for the panel now.
  const { id: support } = await panel.get<{ id: number }>('/panel/api/x/roles', {
    body: { name: 'support', permissions: ['clients:write', 'inbounds:read'] },
  });
  const admin = `/panel/api/x/admins/${north.admin}`;
  await panel.get(admin, { body: { role: support } });
  t.is((await north.call(`${CLIENTS}/update/ada`, { totalGB: 40 * GIB, enable: false })).status, 200);
  t.is((await north.call(`${CLIENTS}/del/grace`, {})).status, 200);
  await panel.get(admin, { body: { role: await sellingRole(panel) } });
  const { clients, givenBytes } = await north.figures();
  t.deepEqual([clients, givenBytes / GIB], [1, 20], 'the place of the deleted one is free');
  t.is(await north.change(ada.id, { enable: true }), '403 HELD');
  t.is(await north.change(ada.id, { comment: 'a limit of others costs nothing' }), '200');
  t.is(await north.given(), 20);
  t.is(await north.change(grace.id, { comment: 'gone' }), '404 NO_CLIENT');
  t.is(await north.told(`${OWN}/clients`, more), '200');
  t.deepEqual(panel.faults, []);
});

test('an edit of somebody else does not hold whom the reseller has disabled himself', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound] });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: 10 * GIB });
  t.is(await north.change(id, { enable: false }), '200');
  await panel.get(`${CLIENTS}/update/ada`, { body: { comment: 'paid', totalGB: 20 * GIB } });
  t.is(await north.change(id, { enable: true }), '200');
  t.is(await north.given(), 10);
});

test('an inbound that is not his stays with the client, whatever he sends', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const other = await panel.addInbound({ remark: 'of the panel' });
  const north = await addSeller(panel, 'north', { inboundIds: [inbound] });
  await panel.addClient('ada', [inbound, other], { totalGB: GIB });
  await panel.get(`${RESELLERS}/${north.id}/clients`, { body: { emails: ['ada'] } });
  const [{ id = 0 } = {}] = (await north.get<{ items: { id: number }[] }>(`${OWN}/clients`)).items;
  t.is(await north.change(id, { inboundIds: [] }), '200');
  t.deepEqual((await north.client(id)).inboundIds, [other]);
  t.is(await north.change(id, { inboundIds: [inbound, other] }), '200');
  t.deepEqual((await north.client(id)).inboundIds, [inbound, other]);
  const third = await panel.addInbound({ remark: 'another of the panel' });
  t.is(await north.change(id, { inboundIds: [inbound, third] }), '403 NOT_YOUR_INBOUND');
  t.deepEqual((await north.client(id)).inboundIds, [inbound, other]);
});
