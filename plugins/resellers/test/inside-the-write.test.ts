// Runs on every database.
// What memory says may be one write old: everything is decided by the rows that the transaction of the edit finds. Here they
// differ from memory, as if another panel had just written.
import test from 'ava';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { addSeller, boot, DAY, GIB, OWN, type World } from './world.js';

const write = ({ panel }: World, statement: string): Promise<unknown> =>
  withDatabase(panel.dataDirectory, (sequelize) => sequelize.query(statement));
const owned = (set: string, id: number): string =>
  `UPDATE reseller_clients SET ${set} WHERE client_id = ${id}`;

test('a client that has just been moved, released or deleted is nothing of his any more', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], mayReset: true });
  const south = await addSeller(panel, 'south', { inboundIds: [inbound] });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: GIB });
  const before = await panel.get('/panel/api/clients/get/ada');
  for (const change of [
    owned(`reseller_id = ${south.id}`, id),
    owned(`reseller_id = ${north.id}, gone_at = 5`, id),
    `DELETE FROM reseller_clients WHERE client_id = ${id}`,
  ]) {
    await write(world, change);
    t.is(await north.change(id, { comment: 'mine', totalGB: 5 * GIB }), '404 NO_CLIENT', change);
    t.is(await north.reset(id), '404 NO_CLIENT', change);
    t.is(await north.told(`${OWN}/clients/${id}/renew`, { days: 1 }), '404 NO_CLIENT', change);
    t.is(await north.delete(id), '404 NO_CLIENT', change);
  }
  t.deepEqual(await panel.get('/panel/api/clients/get/ada'), before);
  t.is(await north.given(), 1);
});

test('quotas, inbounds, days and the right to reset are those of now', async (t) => {
  await using world = await boot();
  const { panel, inbound, clock } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], mayReset: true });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: GIB });
  const set = (fields: string) => write(world, `UPDATE resellers SET ${fields} WHERE id = ${north.id}`);
  const more = { email: 'grace', inboundIds: [inbound], totalGB: GIB, expiryTime: clock.now() + 5 * DAY };
  const add = (fields: object = {}) => north.told(`${OWN}/clients`, { ...more, ...fields });

  await set('may_reset = 0');
  t.is(await north.reset(id), '403 NO_RESET');
  await set(`may_reset = 1, max_bytes = ${GIB}`);
  t.is(await add(), '409 BYTE_QUOTA');
  t.is(await north.change(id, { totalGB: GIB + 1 }), '409 BYTE_QUOTA');
  t.is(await north.change(id, { totalGB: 0 }), '400 UNLIMITED');
  await set('max_bytes = 0, max_clients = 1');
  t.is(await add(), '409 CLIENT_QUOTA');
  await set('max_clients = 0, max_days = 3');
  t.is(await add(), '400 DAYS');
  t.is(await add({ expiryTime: -4 * DAY }), '400 DAYS', 'from the first use on');
  t.is(await add({ expiryTime: 0 }), '400 DAYS');
  t.is(await north.change(id, { expiryTime: clock.now() + 4 * DAY }), '400 DAYS');
  t.is(await north.change(id, { expiryTime: -4 * DAY }), '400 DAYS');
  t.is(await north.change(id, { expiryTime: clock.now() + 2 * DAY }), '200');
  t.is(await north.change(id, { expiryTime: 0 }), '400 DAYS', 'without an end');
  t.is(await north.change(id, { expiryTime: clock.now() + DAY }), '200', 'a shorter time');
  await set("max_days = 0, prefix = 'other-'");
  t.is(await add(), '400 PREFIX');
  t.is(await add({ email: 'OTHER-grace', inboundIds: [inbound] }), '200', 'in any case');
  await set("prefix = '', inbound_ids = '[]'");
  t.is(await add(), '403 NOT_YOUR_INBOUND');
  t.is((await north.figures()).clients, 2, 'what is refused leaves nothing behind');
  t.deepEqual(panel.faults, []);
});

test('whom somebody has disabled a moment ago, he does not enable', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound] });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: GIB, enable: false });
  await write(world, owned('held = 1', id));
  t.is(await north.change(id, { enable: true, comment: 'x' }), '403 HELD');
  t.is(await north.change(id, { comment: 'x' }), '200');
  t.like(await north.client(id), { enable: false, comment: 'x' });
});
