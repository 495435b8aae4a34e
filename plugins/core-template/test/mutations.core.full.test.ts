import test from 'ava';
import { sendMutations } from './mutations-run.js';

test('a thousand broken templates never leave the panel without a running core', async (t) => {
  t.timeout(900_000);
  await sendMutations(t, 1000, 20_261_123);
});
