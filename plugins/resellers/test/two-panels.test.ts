// Runs on every database in test:full.
// Two panels on one database share the quota of a reseller.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { Panels } from '../../cluster/test/two-panels.js';
import { addSeller, GIB, login, OWN, Seller } from './world.js';

(onSqlite ? test.skip : test)('calls in both panels at once do not give more than there is', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a'), await panels.start('b')];
  const inbound = await a.addInbound({ remark: 'shared' });
  const inA = await addSeller(a, 'north', { inboundIds: [inbound], maxBytes: 10 * GIB, maxClients: 7 });
  const { id, admin } = inA;
  await b.until(
    async () => (await b.get<unknown[]>('/panel/api/x/resellers')).length === 1,
    'the other panel knows the reseller',
  );
  const inB = new Seller(b, await login(b, 'north'), { id, admin });
  const add = async (seller: Seller, email: string): Promise<string> => {
    for (;;) {
      const told = await seller.told(`${OWN}/clients`, { email, inboundIds: [inbound], totalGB: GIB });
      if (!told.startsWith('503')) return told;
    }
  };
  const told = await Promise.all(
    Array.from({ length: 20 }, (_, i) => add(i % 2 === 0 ? inA : inB, `client-${i}`)),
  );
  t.is(told.filter((one) => one === '200').length, 7);
  await b.until(async () => (await inB.figures()).clients === 7, 'the other panel has all of them');
  t.is(await inA.given(), 7);
  const [ofA = [], ofB = []] = [await inA.emails(), await inB.emails()];
  t.deepEqual(ofA, ofB);
  // A limit that one raises is what the other one counts from.
  const { items } = await inA.get<{ items: { id: number }[] }>(`${OWN}/clients`);
  const first = items[0]?.id ?? 0;
  const raise = async (seller: Seller, totalGB: number): Promise<string> => {
    for (;;) {
      const answer = await seller.change(first, { totalGB });
      if (!answer.startsWith('503')) return answer;
    }
  };
  await Promise.all(
    Array.from({ length: 10 }, (_, i) => raise(i % 2 === 0 ? inA : inB, (2 + (i % 3)) * GIB)),
  );
  t.is(await inA.given(), 10);
  t.is(await raise(inB, 4 * GIB + 1), '409 BYTE_QUOTA');
});
