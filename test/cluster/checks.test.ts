// The checks of the proof see what they are there for.
import test from 'ava';
import { overlaps, type Run } from './probe.js';

const events = (...all: readonly string[]): Run[] =>
  all.map((text, id) => {
    const [panel = '', run = '', what = ''] = text.split(' ');
    return { id, panel, run: `${panel} ${run}`, what: what as Run['what'] };
  });

test('a run that ends while another one runs is seen, in one panel and in two', (t) => {
  t.deepEqual(overlaps(events('a 1 begin', 'a 1 end', 'b 1 begin', 'b 1 end')), []);
  t.deepEqual(overlaps(events('a 1 begin', 'b 1 begin', 'a 1 end', 'b 1 end')), [
    'b 1 (begin) was noted while a 1 ran',
    'a 1 (end) was noted while b 1 ran',
  ]);
  t.deepEqual(overlaps(events('a 1 end')), ['a 1 has an end without a begin']);
});

test('a run that was killed or refused has no end, and is no overlap', (t) => {
  t.deepEqual(overlaps(events('a 1 begin', 'b 1 begin', 'b 1 end')), []);
});
