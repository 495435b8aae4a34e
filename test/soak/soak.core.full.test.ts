// Runs on every database.
// The soak of two minutes, with every check on: docs/benchmarks.md has the hour. What is slow on a busy machine is given room.
import test from 'ava';
import { engineBinary } from '../engine/user.js';
import { soak } from './soak.js';

test('two minutes of users, fetches, edits, readers and polls: nothing fails, grows, slows down or is lost', async (t) => {
  t.timeout(400_000);
  const verdicts = await soak({
    binary: engineBinary(),
    minutes: 2,
    clients: 3000,
    users: 40,
    fetchesPerSecond: 50,
    editsPerSecond: 10,
    readers: 40,
    growth: 0.3,
    held: { times: 5, more: 200 },
    say: (text) => t.log(text),
  });
  t.deepEqual(
    verdicts.filter(({ isGood }) => !isGood),
    [],
  );
});
