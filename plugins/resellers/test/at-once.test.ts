// Runs on every database.
// Fifty calls at the same moment, and the same call again: the quota holds and nothing is counted twice.
import test from 'ava';
import { addSeller, boot, DAY, GIB, OWN } from './world.js';

const fifty = <T>(work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 50 }, (_, i) => work(i)));
const count = (told: readonly string[], what: string): number => told.filter((one) => one === what).length;

test('fifty new clients at once, where ten have room and bytes', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const few = await addSeller(panel, 'few', { inboundIds: [inbound], maxClients: 10 });
  const little = await addSeller(panel, 'little', { inboundIds: [inbound], maxBytes: 10 * GIB });
  const add = (of: typeof few, email: string) =>
    of.told(`${OWN}/clients`, { email, inboundIds: [inbound], totalGB: GIB });
  const [clients, bytes] = await Promise.all([
    fifty((i) => add(few, `few-${i}`)),
    fifty((i) => add(little, `little-${i}`)),
  ]);
  t.is(count(clients, '200'), 10);
  t.is(count(bytes, '200'), 10);
  const refused = [...clients, ...bytes].filter((one) => one !== '200');
  t.deepEqual([...new Set(refused)].sort(), ['409 BYTE_QUOTA', '409 CLIENT_QUOTA']);
  t.is((await few.emails('pageSize=200')).length, 10);
  t.is((await little.emails('pageSize=200')).length, 10);
  t.is(await little.given(), 10);
  const all = await panel.get<{ total: number }>('/panel/api/clients/list/paged');
  t.is(all.total, 20, 'a refused call leaves no client behind');
});

test('fifty edits, resets and deletions of one client at once', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', {
    ...{ inboundIds: [inbound], maxBytes: 100 * GIB, mayReset: true },
  });
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: 10 * GIB });
  await fifty((i) => north.change(id, { totalGB: (1 + (i % 20)) * GIB }));
  t.is(await north.given(), 20, 'the highest limit counts, once');
  await north.change(id, { totalGB: 10 * GIB });
  await world.use(id, 8);
  const resets = await fifty(() => north.reset(id));
  t.is(count(resets, '200'), 50);
  t.is(await north.given(), 20, 'of the 20 that count, 8 are used and 10 may be used');
  await world.use(id, 10);
  await fifty(() => north.reset(id));
  t.is(await north.given(), 28);
  const deleted = await fifty(() => north.delete(id));
  t.is(count(deleted, '200'), 1);
  t.is((await north.figures()).clients, 0);
  t.is(await north.given(), 28);
});

test('a repeated call with its key counts once', async (t) => {
  await using world = await boot();
  const { panel, inbound } = world;
  const north = await addSeller(panel, 'north', {
    ...{ inboundIds: [inbound], maxBytes: 100 * GIB, mayReset: true },
  });
  const body = { email: 'ada', inboundIds: [inbound], totalGB: 10 * GIB };
  const key = (name: string) => ({ 'idempotency-key': name });
  const first = await north.call<{ id: number }>(`${OWN}/clients`, body, key('add'));
  const again = await north.call(`${OWN}/clients`, body, key('add'));
  t.is(again.text, first.text);
  t.is(await north.given(), 10);
  const { id } = first.body.obj;
  await world.use(id, 4);
  const answers = await fifty(() => north.call(`${OWN}/clients/${id}/reset`, {}, key('reset')));
  t.true(answers.some(({ status }) => status === 200));
  t.is(await north.given(), 14);
  // The key belongs to its caller.
  const south = await addSeller(panel, 'south', { inboundIds: [inbound] });
  const hers = await south.call(`${OWN}/clients`, body, key('add'));
  t.is(hers.body.code, 'IDEMPOTENCY_OTHER_CALLER');
});

test('renewals at once add up', async (t) => {
  await using world = await boot();
  const { panel, inbound, clock } = world;
  const north = await addSeller(panel, 'north', { inboundIds: [inbound], mayReset: true });
  const start = clock.now() + DAY;
  const { id } = await north.add('ada', { inboundIds: [inbound], totalGB: GIB, expiryTime: start });
  const renewed = await fifty((i) =>
    north.told(`${OWN}/clients/${id}/renew`, { days: 1, reset: i % 2 === 0 }),
  );
  t.is(count(renewed, '200'), 50);
  t.is(((await north.client(id)).expiryTime - start) / DAY, 50);
});
