// Runs on every database.
// Calls at the same moment: nothing of one is lost.
import test from 'ava';
import { addGroupAdmin, boot, CLIENTS, DAY, GIB } from './world.js';

test('renewals at once add up, with those of others and with adjustments', async (t) => {
  await using world = await boot();
  const { panel, add, clock } = world;
  const staff = await addGroupAdmin(panel, 'staff', ['north']);
  const other = await addGroupAdmin(panel, 'other', ['north']);
  const start = clock.now() + DAY;
  const id = await add('ada', 'north', { expiryTime: start, totalGB: GIB });
  const told = await Promise.all([
    ...Array.from({ length: 5 }, () => staff.act(id, 'renew', { days: 1 })),
    ...Array.from({ length: 5 }, () => other.act(id, 'renew', { days: 1, reset: true })),
    ...Array.from({ length: 5 }, () =>
      panel
        .call(`${CLIENTS}/bulkAdjust`, { body: { emails: ['ada'], addDays: 1 } })
        .then(({ status }) => `${status}`),
    ),
  ]);
  t.deepEqual([...new Set(told)], ['200']);
  t.is(((await staff.client(id)).expiryTime - start) / DAY, 15);
});
