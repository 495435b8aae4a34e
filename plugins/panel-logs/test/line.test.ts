import test from 'ava';
import { lineWriter } from '../line.js';

test('each line has its own second, in the time zone', (t) => {
  const write = lineWriter('Asia/Kathmandu');
  const noon = Date.UTC(2026, 10, 23, 12);
  const times = [0, 999, 1_000, 59_000, 60_000, 0].map((ms) =>
    write({ at: noon + ms, level: 'info', text: 'x' }),
  );
  t.deepEqual(
    times,
    ['17:45:00', '17:45:00', '17:45:01', '17:45:59', '17:46:00', '17:45:00'].map(
      (time) => `2026/11/23 ${time} INFO - x`,
    ),
  );
});
