// What an edit costs: whatever is done in whatever order, nobody uses more than was paid for.
import test from 'ava';
import { random } from '../../../test/harness/random.js';
import { chargeOf, grantedByOthers } from '../charge.js';

const account = (limit: number, used = 0) => ({ limit, used });
const keeps = (granted: number) => ({ granted, resets: false });
const resets = (granted: number) => ({ granted, resets: true });

test('a new client costs its limit', (t) => {
  t.deepEqual(chargeOf(undefined, account(50), keeps(0)), { bytes: 50, granted: 50 });
  t.deepEqual(chargeOf(undefined, account(0), keeps(0)), { bytes: 0, granted: 0 });
});

test('a lower limit gives nothing back, and the previous one costs nothing again', (t) => {
  t.deepEqual(chargeOf(account(50), account(20), keeps(50)), { bytes: 0, granted: 50 });
  t.deepEqual(chargeOf(account(20), account(50), keeps(50)), { bytes: 0, granted: 50 });
  t.deepEqual(chargeOf(account(20), account(80), keeps(50)), { bytes: 30, granted: 80 });
});

test('a reset costs what was used, once', (t) => {
  t.deepEqual(chargeOf(account(50, 20), account(50), resets(50)), { bytes: 20, granted: 50 });
  t.deepEqual(chargeOf(account(50, 0), account(50), resets(50)), { bytes: 0, granted: 50 });
  // More than the limit was counted before the core was told.
  t.deepEqual(chargeOf(account(50, 53), account(50), resets(50)), { bytes: 53, granted: 50 });
  // With a lower limit, what was paid covers a part of it.
  t.deepEqual(chargeOf(account(30, 20), account(30), resets(50)), { bytes: 0, granted: 30 });
  t.deepEqual(chargeOf(account(30, 5), account(30), resets(50)), { bytes: 0, granted: 45 });
});

test('what was used without a limit was given by whoever took the limit away', (t) => {
  t.deepEqual(chargeOf(account(0, 500), account(100, 500), keeps(0)), { bytes: 0, granted: 500 });
  t.deepEqual(chargeOf(account(100, 500), account(100), resets(500)), { bytes: 100, granted: 100 });
  t.is(grantedByOthers(account(80, 20), 50, false), 80);
  t.is(grantedByOthers(account(10, 20), 50, false), 50);
  t.is(grantedByOthers(account(10, 0), 50, true), 10);
});

/** A client that a reseller edits as he likes, and that uses what it may, with the bytes of a late poll. */
function life(seed: number): { paid: number; enjoyed: number } {
  const { below } = random(seed);
  let limit = 1 + below(100);
  let used = 0;
  let { bytes: paid, granted } = chargeOf(undefined, account(limit), keeps(0));
  let past = 0;
  for (let step = 0; step < 60; step++) {
    const before = account(limit, used);
    const next = below(4) === 0 ? limit : 1 + below(100);
    const isReset = below(3) === 0;
    if (below(2) === 0) used = Math.min(used + below(60), Math.max(limit, used));
    const now = { ...before, used };
    const charge = chargeOf(now, account(next, isReset ? 0 : used), { granted, resets: isReset });
    if (charge.bytes < 0) throw new Error('a charge gives back');
    paid += charge.bytes;
    ({ granted } = charge);
    if (isReset) {
      past += used;
      used = 0;
    }
    limit = next;
    // It may use all that is left at any moment.
    if (past + Math.max(limit, used) > paid) return { paid, enjoyed: past + Math.max(limit, used) };
  }
  return { paid, enjoyed: past + Math.max(limit, used) };
}

test('no order of lower, higher and reset gives more than was paid', (t) => {
  for (let seed = 1; seed <= 5_000; seed++) {
    const { paid, enjoyed } = life(seed);
    if (enjoyed > paid) t.fail(`seed ${seed}: ${enjoyed} for ${paid}`);
  }
  t.pass();
});

test('usage that others set is what others gave', (t) => {
  t.is(grantedByOthers(account(10, 30), 50, true), 30);
  // Nothing is charged for it when the client is reset afterwards: what he pays is what may be used again.
  t.deepEqual(chargeOf(account(10, 30), account(10), resets(30)), { bytes: 10, granted: 10 });
});
