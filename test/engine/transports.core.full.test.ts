import test from 'ava';
import { allWays, connectOver } from './transports.js';

test('every protocol over every transport connects by the link of its subscription and is counted', async (t) => {
  t.timeout(300_000);
  await connectOver(t, allWays);
});
