// How many lists are read at once.
import test from 'ava';
import { Places } from '../places.js';

test('four lists are read at once, fifty wait in their order, and others are refused', async (t) => {
  const places = new Places();
  let [running, most] = [0, 0];
  const order: number[] = [];
  const ends: (() => void)[] = [];
  const work = (n: number) => () => {
    order.push(n);
    most = Math.max(most, ++running);
    return new Promise<number>((resolve, reject) =>
      ends.push(() => {
        running--;
        // A failure leaves its place, too.
        if (n % 2) reject(new Error('it fails'));
        else resolve(n);
      }),
    );
  };
  const all = Array.from({ length: 54 }, (_, n) => places.run(work(n)).catch(() => -n));
  await t.throwsAsync(places.run(work(99)), { name: 'ListProblem', message: /too many lists/ });
  t.deepEqual(order, [0, 1, 2, 3]);
  for (let n = 0; n < 54; n++) {
    ends[n]?.();
    await all[n];
    await Promise.resolve();
  }
  t.is(most, 4);
  t.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  );
  const later = places.run(work(100));
  ends.at(-1)?.();
  t.is(await later, 100);
});
