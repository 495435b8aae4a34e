// Changes of memory in the database: whole after many parts, and there for as long as a panel may need them.
import test from 'ava';
import type { Committed, Tx } from '../../../kernel/index.js';
import { CannotFollow, ChangeLog } from '../change-log.js';

interface Row {
  readonly id: string;
  readonly seq: number;
  readonly part: number;
  readonly body: string;
}

function world() {
  let rows: Row[] = [];
  let last = 0;
  const warned: string[] = [];
  const tx = {
    run: async (_: string, row: Row) => void rows.push(row),
    change: async (_: string, { oldest }: { oldest: number }) => {
      rows = rows.filter(({ seq }) => seq > oldest);
    },
    query: async (sql: string, given: { since?: number } = {}) =>
      sql.includes('cluster_state')
        ? [{ last }]
        : rows.filter(({ seq }) => seq > (given.since ?? 0)).sort((a, b) => a.seq - b.seq || a.part - b.part),
  } as unknown as Tx;
  const projections = [{ plugin: 'clients' }, { plugin: 'settings' }, { plugin: 'clients' }];
  const log = new ChangeLog({
    db: { write: (work: (given: Tx) => Promise<unknown>) => work(tx) },
    log: { warn: (message: string) => void warned.push(message) },
    secrets: {
      seal: (_: unknown, key: string, text: string) => `${key}|${text}`,
      open: (_: unknown, key: string, sealed: string) => {
        if (!sealed.startsWith(`${key}|`)) throw new Error('sealed for another row');
        return sealed.slice(key.length + 1);
      },
    },
    projections,
  } as unknown as ConstructorParameters<typeof ChangeLog>[0]);
  return {
    rows: () => rows,
    warned,
    projections,
    add: async (change: unknown, projection = 0): Promise<void> => {
      last += 1;
      const changes = [[projections[projection], change]] as unknown as Committed['changes'];
      await log.add(tx, last, { changes, afters: [] });
    },
    after: (since: number): Promise<Committed[]> => log.after(tx, since, last),
    trim: () => log.trim(),
  };
}
const changesOf = (committed: readonly Committed[]): unknown[] =>
  committed.flatMap(({ changes }) => changes.map(([, change]) => change));

test('a change of many parts comes back letter by letter, with letters of several bytes at each seam', async (t) => {
  const { rows, add, after } = world();
  const text = Array.from({ length: 70_000 }, (_, i) => 'aéあ😀'[i % 5] ?? 'x').join('');
  await add({ text });
  await add(new Map([[1, new Set(['é'])]]));
  t.is(rows().length, 4);
  const [first, second] = changesOf(await after(0));
  t.is((first as { text: string }).text, text);
  t.deepEqual(second, new Map([[1, new Set(['é'])]]));
  t.deepEqual(changesOf(await after(1)), [second]);
  t.deepEqual(await after(2), []);
});

test('a change goes to the projection of the same place, and one of a plugin that does not run here to none', async (t) => {
  const { projections, add, after } = world();
  await add('first', 0);
  await add('second', 2);
  const [a, b] = await after(0);
  t.is(a?.changes[0]?.[0] as unknown, projections[0]);
  t.is(b?.changes[0]?.[0] as unknown, projections[2]);
  projections.splice(2, 1);
  const [, gone] = await after(0);
  t.deepEqual(gone?.changes, []);
});

test('what cannot be told, and a gap, is an error that says why', async (t) => {
  const { rows, warned, add, after } = world();
  class Odd {}
  await add(new Odd());
  await t.throwsAsync(after(0), { instanceOf: CannotFollow, message: /more than can be told/ });
  t.is(warned.length, 1);
  await add({ text: 'x'.repeat(9 * 1024 * 1024) });
  await t.throwsAsync(after(1), { instanceOf: CannotFollow, message: /more than can be told/ });
  await add('third');
  rows().splice(1, 1);
  await t.throwsAsync(after(1), { instanceOf: CannotFollow, message: /too far behind/ });
});

test('a change stays for ten runs of the job', async (t) => {
  const { rows, add, trim } = world();
  await add('first');
  for (let run = 0; run < 10; run++) {
    await trim();
    await add(`after ${run}`);
  }
  t.is(rows().length, 11, 'nothing is old enough');
  await trim();
  t.deepEqual(
    rows().map(({ seq }) => seq),
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  );
  await trim();
  t.is(rows()[0]?.seq, 3);
});
