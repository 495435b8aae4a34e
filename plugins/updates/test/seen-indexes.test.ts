// What is remembered of indexes, when several ask at once.
import test from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { SeenIndexes } from '../seen-indexes.js';

test('two writes at once lose nothing', async (t) => {
  const dataDirectory = await folderFor(t);
  const seen = new SeenIndexes({ dataDirectory });
  await Promise.all([
    seen.accept({ key: 'A', number: 7 }),
    seen.remember({ checkedAt: 5 }),
    seen.accept({ key: 'B', number: 3 }),
    seen.remember({ announced: '0.2.0' }),
  ]);
  const wanted = { numbers: { A: 7, B: 3 }, announced: '0.2.0', checkedAt: 5 };
  t.deepEqual(await seen.all(), wanted);
  t.deepEqual(await new SeenIndexes({ dataDirectory }).all(), wanted);
});

test('an older index is refused, and the next one is not held up', async (t) => {
  const seen = new SeenIndexes({ dataDirectory: await folderFor(t) });
  await seen.accept({ key: 'A', number: 7 });
  await t.throwsAsync(seen.accept({ key: 'A', number: 6 }), { message: /number 6, and number 7 was there/ });
  await seen.accept({ key: 'A', number: 7 });
  await seen.accept({ key: 'A', number: 8 });
  t.deepEqual((await seen.all()).numbers, { A: 8 });
});

test('of many keys the newest are remembered', async (t) => {
  const seen = new SeenIndexes({ dataDirectory: await folderFor(t) });
  for (let at = 0; at < 70; at++) await seen.accept({ key: `K${at}`, number: 1 });
  const keys = Object.keys((await seen.all()).numbers);
  t.is(keys.length, 64);
  t.true(keys.includes('K69') && !keys.includes('K5'));
});
