// Many clients of a central in one call, and how long others wait meanwhile.
import test from 'ava';
import { client, type Client, inbound, openWorld, uuidOf } from './world.js';

const COUNT = Number(process.env['WEIR_TEST_CLIENTS'] ?? 3_000);

/** The longest time that the event loop did not come round until the work was done. */
async function longestStall(work: Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  let isDone = false;
  const turn = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work.finally(() => (isDone = true));
  return longest;
}

test('thousands of clients come, are changed and are compared in slices', async (t) => {
  t.timeout(600_000);
  const world = await openWorld();
  await using _ = world.panel;
  await world.apply(inbound(7, 1));
  const all = (version: number, value = {}) =>
    Array.from({ length: COUNT }, (_x, i) => client(i + 1, version, value));
  const chunks = <T>(list: readonly T[]) =>
    Array.from({ length: Math.ceil(list.length / 2_500) }, (_x, i) => list.slice(i * 2_500, (i + 1) * 2_500));
  const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    const stall = await longestStall(work());
    t.log(`${name}: ${Math.round(performance.now() - began)} ms, longest stall ${Math.round(stall)} ms`);
  };
  const send = (list: readonly object[]) => async () => {
    for (const part of chunks(list)) t.true((await world.apply(...part)).every(({ ok }) => ok));
  };
  await measure('added', send(all(1)));
  await measure('changed', send(all(2, { comment: 'changed', totalGB: 1e12 })));
  await measure('repeated', send(all(2, { comment: 'changed', totalGB: 1e12 })));
  await measure('digest', () => world.digest());
  await measure('digest again', () => world.digest());
  await measure('one changed', send([client(5, 3, { comment: 'one' })]));
  await measure('digest after one', () => world.digest());
  const users = Array.from({ length: COUNT }, (_x, i) => ({ id: i + 1, up: i, down: 1 }));
  await measure('elsewhere', async () => {
    for (const part of chunks(users)) await world.elsewhere(...part);
  });
  t.is((await world.panel.get<Client>('/panel/api/clients/get/c2')).uuid, uuidOf(2));
  const [{ id: inboundId = 0 } = {}] = await world.inbounds();
  for (let i = 0; i < COUNT; i++) world.engine.move(inboundId, i + 1, 1, i);
  await measure('poll', () => world.poll());
  let seq = 0;
  let told = 0;
  await measure('usage', async () => {
    for (let isMore = true; isMore; ) {
      const [page] = await world.usage((await world.usage())[0]?.epoch, seq);
      told += page?.users.length ?? 0;
      seq = page?.seq ?? 0;
      isMore = page?.more ?? false;
    }
  });
  t.is(told, COUNT);
  await measure('deleted', send(all(4).map((one) => ({ ...one, value: null }))));
  t.deepEqual(await world.emails(), []);
});
