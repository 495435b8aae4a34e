// The tail of the log with its place: what is asked for from there on is what was written since, once.
import test from 'ava';
import { FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { definePlugin, type Log } from '../../../kernel/index.js';

interface Tail {
  readonly lines: readonly string[];
  readonly end: string;
  readonly goesOn: boolean;
  readonly leftOut: number;
}

test('a tail goes on where an earlier one ended', async (t) => {
  let log: Log | undefined;
  const writer = definePlugin({
    name: 'writer',
    version: '0.0.0',
    api: 1,
    about: 'Writes lines.',
    start: (parts) => void (log = parts.log),
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, writer] });
  const tail = (query: string) => panel.get<Tail>(`/panel/api/x/panel-logs/tail?${query}`);
  const own = ({ lines }: Tail) => lines.flatMap((line) => /(?:own \d+)/.exec(line)?.[0] ?? []);
  log?.info('own 1');
  log?.debug('own 2');
  const first = await tail('level=info');
  t.deepEqual(own(first), ['own 1']);
  t.false(first.goesOn);
  log?.warn('own 3');
  log?.debug('own 4');
  const next = await tail(`level=info&after=${first.end}`);
  t.deepEqual(own(next), ['own 3']);
  t.true(next.goesOn);
  t.deepEqual(own(await tail(`level=debug&after=${first.end}`)), ['own 3', 'own 4']);
  t.deepEqual(own(await tail(`level=debug&after=${next.end}`)), []);
  for (let i = 10; i < 20; i++) log?.error(`own ${i}`);
  const few = await tail(`count=3&level=error&after=${next.end}`);
  t.deepEqual(own(few), ['own 17', 'own 18', 'own 19']);
  t.true(few.leftOut >= 7);
  // Of another process, or of a time to come: the last lines.
  const number = Number(few.end.split('.')[1]);
  for (const after of [`other.${number}`, few.end.replace(/\d+$/, String(number + 1_000_000))]) {
    const again = await tail(`count=2&level=error&after=${after}`);
    t.false(again.goesOn);
    t.deepEqual(own(again), ['own 18', 'own 19']);
  }
  const invalid = { status: 400, code: 'KERNEL_INVALID' };
  for (const [query, field] of [
    ['count=0', 'count'],
    ['count=10001', 'count'],
    ['level=loud', 'level'],
    ['after=x', 'after'],
    [`after=${'a'.repeat(100)}.1`, 'after'],
  ] as const)
    await refused(t, panel, `/panel/api/x/panel-logs/tail?${query}`, {}, { ...invalid, field });
});
