// 1,000 of them run in mutations.core.full.test.ts.
import test from 'ava';
import { sendMutations } from './mutations-run.js';

test('broken templates never leave the panel without a running core', async (t) => {
  t.timeout(120_000);
  await sendMutations(t, 60, 1);
});
