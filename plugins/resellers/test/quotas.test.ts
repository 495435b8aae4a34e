// Runs on every database.
// What a reseller may give, and every way to give more.
import test from 'ava';
import { addSeller, boot, DAY, GIB, login, OWN, RESELLERS, Seller } from './world.js';

test('clients, bytes and days end where the full admin says', async (t) => {
  await using world = await boot();
  const { panel, inbound, clock } = world;
  const north = await addSeller(panel, 'north', {
    ...{ prefix: 'n-', inboundIds: [inbound], maxClients: 2, maxBytes: 100 * GIB, maxDays: 30 },
  });
  const add = (fields: object) =>
    north.told(`${OWN}/clients`, { email: 'n-x', inboundIds: [inbound], totalGB: GIB, ...fields });
  const soon = clock.now() + 30 * DAY;
  t.is(await add({ totalGB: 0, expiryTime: soon }), '400 UNLIMITED');
  t.is(await add({ totalGB: 101 * GIB, expiryTime: soon }), '409 BYTE_QUOTA');
  t.is(await add({}), '400 DAYS', 'never is later than every day');
  t.is(await add({ expiryTime: soon + 60_000 }), '400 DAYS');
  t.is(await add({ expiryTime: -31 * DAY }), '400 DAYS');
  t.is(await add({ expiryTime: soon, email: 'x' }), '400 PREFIX');
  t.is(await add({ expiryTime: soon, email: 'N-x' }), '200', 'in any case');
  t.is(await add({ expiryTime: soon }), '409 CLIENTS_EMAIL_TAKEN');
  const other = await panel.addInbound({ remark: 'not his' });
  t.is(await add({ expiryTime: soon, email: 'n-y', inboundIds: [inbound, other] }), '403 NOT_YOUR_INBOUND');
  t.deepEqual(await north.figures().then(({ clients, givenBytes }) => [clients, givenBytes]), [1, GIB]);
  t.is(await add({ expiryTime: -30 * DAY, email: 'n-y' }), '200');
  t.is(await add({ expiryTime: soon, email: 'n-z' }), '409 CLIENT_QUOTA');
  t.deepEqual(await north.emails(), ['N-x', 'n-y']);
  t.is(await north.given(), 2);
  t.deepEqual(panel.faults, []);
});

test('lower and higher again, delete and create again, rename and reset give nothing for nothing', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', {
    ...{ inboundIds: [inbound], maxBytes: 100 * GIB, mayReset: true },
  });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: 40 * GIB });
  t.is(await north.change(id, { totalGB: 10 * GIB }), '200');
  t.is(await north.given(), 40, 'nothing comes back');
  t.is(await north.change(id, { totalGB: 40 * GIB, comment: 'again' }), '200');
  t.is(await north.given(), 40);
  t.is(await north.change(id, { email: 'grace' }), '200');
  t.is(await north.change(id, { totalGB: 0 }), '400 UNLIMITED');
  t.is(await north.given(), 40);
  await world.use(id, 30);
  t.is(await north.reset(id), '200');
  t.is(await north.given(), 70, 'what was used counts once more');
  t.is(await north.reset(id), '200', 'a second click costs nothing');
  t.is(await north.given(), 70);
  await world.use(id, 31);
  t.is(await north.reset(id), '409 BYTE_QUOTA');
  t.is(await north.delete(id), '200');
  t.is(await north.given(), 70);
  t.is((await north.figures()).clients, 0);
  const again = { email: 'ada', inboundIds: [inbound], totalGB: 31 * GIB };
  t.is(await north.told(`${OWN}/clients`, again), '409 BYTE_QUOTA');
  const left = await north.add('ada', { ...again, totalGB: 30 * GIB });
  t.is(await north.given(), 100);
  t.is(
    await north.told(`${OWN}/clients/${left.id}/renew`, { days: 30, reset: true }),
    '200',
    'nothing used yet',
  );
  t.is(await north.change(left.id, { totalGB: 30 * GIB + 1 }), '409 BYTE_QUOTA');
  t.is((await north.client(left.id)).totalGB, 30 * GIB, 'a refused edit leaves the client');
  t.deepEqual(panel.faults, []);
});

test('a reset enables whom the quota disabled, and needs the permission to reset', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], maxBytes: 100 * GIB });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: 10 * GIB });
  await world.use(id, 10);
  t.false((await north.client(id)).enable);
  t.is(await north.reset(id), '403 NO_RESET');
  t.is(await north.told(`${OWN}/clients/${id}/renew`, { days: 1, reset: true }), '403 NO_RESET');
  await panel.get(`${RESELLERS}/${north.id}`, { body: { mayReset: true } });
  t.is(await north.reset(id), '200');
  t.true((await north.client(id)).enable);
  t.is(await north.given(), 20);
  // What he has disabled himself stays so.
  t.is(await north.change(id, { enable: false }), '200');
  await world.use(id, 0);
  t.is(await north.reset(id), '200');
  t.false((await north.client(id)).enable);
});

test('a renewal adds to what is left, and not beyond the days that he may give', async (t) => {
  await using world = await boot();
  const { panel, inbound, clock } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], maxDays: 60, mayReset: true });
  const until = clock.now() + 10 * DAY;
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: GIB, expiryTime: until });
  const renew = (days: number) => north.told(`${OWN}/clients/${id}/renew`, { days });
  t.is(await renew(30), '200');
  t.is((await north.client(id)).expiryTime, until + 30 * DAY);
  t.is(await renew(30), '400 DAYS');
  clock.leap(45 * DAY);
  await world.use(id, 0);
  // The session is over as well.
  const again = new Seller(panel, await login(panel, 'north'), north);
  t.false((await again.client(id)).enable);
  t.is(await again.told(`${OWN}/clients/${id}/renew`, { days: 30 }), '200');
  const { enable, expiryTime } = await again.client(id);
  t.true(enable);
  t.true(Math.abs(expiryTime - clock.now() - 30 * DAY) < 60_000, 'from now, as nothing was left');
});

test('a quota below what is used stops only what would use more of it', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], maxBytes: 100 * GIB });
  const ids: number[] = [];
  for (const email of ['ada', 'grace', 'joan'])
    ids.push((await north.add(email, { inboundIds: [inbound], totalGB: 20 * GIB })).id);
  await panel.get(`${RESELLERS}/${north.id}`, { body: { maxClients: 1, maxBytes: GIB, inboundIds: [] } });
  const [id = 0] = ids;
  t.is(await north.change(id, { comment: 'late', totalGB: 20 * GIB, inboundIds: [inbound] }), '200');
  t.is(await north.change(id, { totalGB: 21 * GIB }), '409 BYTE_QUOTA');
  t.is(await north.change(id, { totalGB: 5 * GIB }), '200');
  const more = { email: 'kay', inboundIds: [inbound], totalGB: 1 };
  t.is(await north.told(`${OWN}/clients`, more), '403 NOT_YOUR_INBOUND');
  await panel.get(`${RESELLERS}/${north.id}`, { body: { inboundIds: [inbound] } });
  t.is(await north.told(`${OWN}/clients`, more), '409 CLIENT_QUOTA');
  t.is(await north.delete(id), '200');
  t.is((await north.figures()).clients, 2);
});

test('without a quota of bytes a client may be without a limit; when one comes, what it used is not counted', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], mayReset: true });
  const { id } = await north.add('ada', { inboundIds: [inbound] });
  await world.use(id, 50);
  await panel.get(`${RESELLERS}/${north.id}`, { body: { maxBytes: 100 * GIB } });
  t.is(await north.change(id, { comment: 'no limit', totalGB: 0 }), '200', 'nothing is changed');
  t.is(await north.reset(id), '400 UNLIMITED');
  t.is(await north.change(id, { totalGB: 60 * GIB }), '200');
  t.is(await north.given(), 10);
});

test('what a client used beyond its limit counts when it is deleted, also what no poll has counted yet', async (t) => {
  await using world = await boot();
  const { panel, inbound, engine } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], maxBytes: 10 * GIB });
  const add = (email: string, totalGB: number) => north.add(email, { inboundIds: [inbound], totalGB });
  const late = await add('late', GIB);
  await world.use(late.id, 5);
  t.false((await north.client(late.id)).enable);
  t.is(await north.given(), 1);
  t.is(await north.delete(late.id), '200');
  t.is(await north.given(), 5);
  // A new client each few seconds, deleted before the next poll.
  const quick = await add('quick', 1);
  engine.move(inbound, quick.id, 0, 2 * GIB);
  t.is(await north.delete(quick.id), '200');
  t.is(await north.given(), 7);
  // A deletion is never refused; then there is nothing left to give.
  const most = await add('most', GIB);
  engine.move(inbound, most.id, 0, 6 * GIB);
  t.is(await north.delete(most.id), '200');
  t.is(await north.given(), 13);
  t.is(
    await north.told(`${OWN}/clients`, { email: 'kay', inboundIds: [inbound], totalGB: 1 }),
    '409 BYTE_QUOTA',
  );
  t.deepEqual(panel.faults, []);
});

test('usage that was kept for a name costs whoever creates it again nothing', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const { id } = await panel.addClient('ada', [inbound]);
  await world.use(id, 30);
  await panel.get('/panel/api/clients/del/ada?keepTraffic=1', { body: {} });
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], maxBytes: 100 * GIB });
  const ada = await north.add('ada', { inboundIds: [inbound], totalGB: 10 * GIB });
  t.false(ada.enable, 'it has used more than that');
  t.is(await north.change(ada.id, { totalGB: 35 * GIB }), '200');
  t.is(await north.given(), 15);
  t.true((await north.client(ada.id)).enable);
  t.is(await north.delete(ada.id), '200');
  t.is(await north.given(), 15);
});
