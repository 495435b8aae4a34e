// Writes that another panel was a moment ahead of.
import test from 'ava';
import { kernelErrors } from '../../../kernel/index.js';
import { repeated, isBusy } from '../contract.js';

test('a write that was refused is run again, and a few times at most', async (t) => {
  let runs = 0;
  const busyUntil = (last: number) => async () => {
    runs += 1;
    if (runs <= last) throw kernelErrors.DATABASE_BUSY();
    return runs;
  };
  t.is(await repeated(busyUntil(2)), 3);
  runs = 0;
  t.true(isBusy(await t.throwsAsync(repeated(busyUntil(100)))));
  t.is(runs, 6);
});

test('any other failure is not repeated', async (t) => {
  for (const error of [kernelErrors.DATABASE_AWAY(), kernelErrors.STORAGE(), new Error('a mistake')]) {
    let runs = 0;
    const failing = async () => {
      runs += 1;
      throw error;
    };
    t.is(await t.throwsAsync(repeated(failing)), error);
    t.is(runs, 1);
    t.false(isBusy(error));
  }
});
