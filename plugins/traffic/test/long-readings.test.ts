// Polls of panels with many clients, and readings that memory loads again while they are compared; without a panel.
import test from 'ava';
import type { Database, Tx } from '../../../kernel/index.js';
import { Baselines, type Reading } from '../baselines.js';
import { ReadingJournal } from '../reading-journal.js';

type Counter = readonly [clientId: number, inboundId: number, up: number, down: number];

const reading = (clientId: number, down: number, epoch = 'first'): Reading => ({
  clientId,
  inboundId: 1,
  epoch,
  up: 0,
  down,
});

/** A journal with a table in memory, which keeps what moves to the baselines by statement. */
function journalOf() {
  const rows: { number: number; epoch: string; counters: string }[] = [];
  const moved: Counter[][] = [];
  let [last, reads] = [0, 0];
  const tx = {
    sql: { rows: () => 'j', incoming: (column: string) => column, onConflict: () => '' },
    run: async (sql: string, given: { epoch: string; counters: string; rows: string; number: number }) => {
      if (sql.startsWith('INSERT INTO traffic_readings')) rows.push({ ...given, number: ++last });
      else if (sql.startsWith('DELETE'))
        rows.splice(0, rows.findLastIndex(({ number }) => number <= given.number) + 1);
      else moved.push(JSON.parse(given.rows) as Counter[]);
    },
  } as unknown as Tx;
  const db = {
    sql: tx.sql,
    write: (work: (tx: Tx) => Promise<unknown>) => work(tx),
    query: async (sql: string, { rows: asked = '[]' }: { rows?: string } = {}) => {
      if (!sql.includes('FROM traffic_readings'))
        return (JSON.parse(asked) as [number][]).map(([id]) => ({ id }));
      reads++;
      return [...rows];
    },
  } as unknown as Database;
  return {
    journal: new ReadingJournal({ db }),
    again: () => new ReadingJournal({ db }),
    tx,
    rows,
    moved,
    reads: () => reads,
  };
}

test('a poll of more counters than a row holds stores and moves all of them, in portions', async (t) => {
  const { journal, tx, rows, moved } = journalOf();
  const count = 23_000;
  const readings = (down: number) => Array.from({ length: count }, (_, i) => reading(i + 1, down));
  for (let poll = 1; poll <= 4; poll++) await journal.append(tx, readings(poll));
  t.is(rows.length, 12);
  for (const { counters } of rows) t.true((JSON.parse(counters) as Counter[]).length <= 10_000);
  const seen: number[] = [];
  await journal.each(({ clientId, down }) => down === 4 && seen.push(clientId));
  t.is(new Set(seen).size, count);
  await journal.moveOn();
  t.true(moved.every(({ length }) => length <= 5000));
  t.deepEqual(
    moved.flat().map(([clientId, , , down]) => [clientId, down]),
    readings(4).map(({ clientId, down }) => [clientId, down]),
  );
  t.deepEqual(rows, []);
});

test('readings move once a minute, and also those that an earlier panel left', async (t) => {
  const { journal, again, tx, rows, reads } = journalOf();
  for (let poll = 1; poll <= 11; poll++) await journal.append(tx, [reading(1, poll)]);
  await journal.moveOn();
  t.is(reads(), 0);
  const next = again();
  await next.each(() => undefined);
  await next.append(tx, [reading(1, 12)]);
  await next.moveOn();
  t.is(rows.length, 0);
  const read = reads();
  await next.append(tx, [reading(1, 13)]);
  await next.moveOn();
  t.deepEqual([reads(), rows.length], [read, 1]);
});

test('readings that are loaded again while they are compared are compared again', async (t) => {
  const loaded = (down: number) => new Map([[1, new Map([[1, { epoch: 'first', up: 0, down }]])]]);
  const memory = { state: loaded(0) };
  const baselines = new Baselines({
    db: { projection: () => memory },
    tables: {},
    clients: { byId: () => undefined },
    journal: journalOf().journal,
  } as unknown as ConstructorParameters<typeof Baselines>[0]);
  const counter = {
    ...reading(1, 0),
    get down(): number {
      // What memory had was wrong: a commit without an answer has these bytes.
      if (memory.state.get(1)?.get(1)?.down === 0) memory.state = loaded(70);
      return 100;
    },
  };
  const { usage } = await baselines.compare({ epoch: 'first', users: [counter] }, () => true);
  t.deepEqual(usage, [{ clientId: 1, inboundId: 1, up: 0, down: 30 }]);
});
