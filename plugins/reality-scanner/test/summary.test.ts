// The order of results.
import test from 'ava';
import { unknownResult } from '../scan-result.js';
import { summaryOf } from '../summary.js';
import { taskListOf } from '../task-list.js';

test('feasible servers come first, then those with a handshake, then the others; each the fastest first', (t) => {
  const seen: Record<string, { feasible?: boolean; latencyMs?: number }> = {
    'silent.example': {},
    'quick.example': { latencyMs: 5 },
    'slow.example': { latencyMs: 900 },
    'far.example': { feasible: true, latencyMs: 800 },
    'near.example': { feasible: true, latencyMs: 300 },
  };
  const list = taskListOf(Object.keys(seen));
  const results = Object.entries(seen).map(([host, fields]) => ({
    ...unknownResult(`${host}:443`, host, 443),
    ...fields,
  }));
  t.deepEqual(
    summaryOf(list, results, 300).results.map(({ host }) => host),
    ['near.example', 'far.example', 'quick.example', 'slow.example', 'silent.example'],
  );
});
