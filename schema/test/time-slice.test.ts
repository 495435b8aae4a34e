// Long work lets others in: how often the event loop goes round meanwhile, whatever the time on the clock.
import test from 'ava';
import { patient, TimeSlice } from '../time-slice.js';

/** Counts the rounds of the event loop. */
function rounds(): { readonly now: () => number; readonly stop: () => void } {
  let count = 0;
  let next = setImmediate(function again() {
    count++;
    next = setImmediate(again);
  });
  return { now: () => count, stop: () => clearImmediate(next) };
}

test.serial('of many turns that are asked for together, one comes in each round', async (t) => {
  const { now, stop } = rounds();
  const came = await Promise.all(Array.from({ length: 20 }, () => new TimeSlice().next().then(now)));
  stop();
  t.is(new Set(came).size, 20, String(came));
});

test.serial(
  'patient work leaves every second turn to other work, and all turns when there is none',
  async (t) => {
    const order: string[] = [];
    const replies = Array.from({ length: 20 }, async () => {
      await new TimeSlice().next(patient);
      order.push('patient');
    });
    const others = Array.from({ length: 5 }, async () => {
      await new TimeSlice().next();
      order.push('other');
    });
    await Promise.all([...replies, ...others]);
    t.is(order.slice(0, 10).filter((kind) => kind === 'other').length, 5, String(order));
    t.is(order.length, 25);
  },
);
