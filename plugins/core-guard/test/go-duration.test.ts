import test from 'ava';
import { goSeconds } from '../go-duration.js';

test('reads durations as Go does', (t) => {
  const known: Readonly<Record<string, number>> = {
    ...{ '1m30s': 90, '0': 0, '.5s': 0.5, '1.h': 3600, '500ms': 0.5, '-1s': -1, '+2m': 120 },
    ...{ '1h1m1s1ms': 3661.001, '3us': 3e-6, '3µs': 3e-6, '3μs': 3e-6, '2ns': 2e-9 },
  };
  for (const [text, seconds] of Object.entries(known)) t.is(goSeconds(text), seconds, text);
});

test('finds none where Go finds none', (t) => {
  for (const text of ['', '-', '5', '1', 's', '1 s', '1s ', '1d', '1.2.3s', '.s', '1sm', 'x1s', '--1s'])
    t.is(goSeconds(text), undefined, text);
  t.is(goSeconds(`${'9'.repeat(200)}s`), undefined);
});
