// What came of attempts is written once and whole, whatever happens meanwhile.
import test from 'ava';
import type { Database, Log } from '../../../kernel/index.js';
import { Progress, type Result } from '../progress.js';

interface Write {
  readonly results: string;
  readonly end: (error?: Error) => void;
}
/** A database whose writes end when the test says so. */
function slowDatabase() {
  const writes: Write[] = [];
  const sql = { rows: () => 'rows', onConflict: () => '', incoming: (name: string) => name };
  const db = {
    query: async (_: string, { endpointId }: { endpointId: string }) => [{ endpointId, nextRetryAt: null }],
    write: async (work: (tx: unknown) => Promise<void>) => {
      let results = '';
      const run = async (text: string, { rows }: { rows: string }): Promise<void> => {
        if (text.includes('event_callback_deliveries')) results = rows;
      };
      await work({ sql, run });
      await new Promise<void>((resolve, reject) =>
        writes.push({ results, end: (error) => (error ? reject(error) : resolve()) }),
      );
    },
  } as unknown as Database;
  const next = async (count: number): Promise<Write> => {
    while (writes.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    return writes[count - 1] as Write;
  };
  return { db, writes, next };
}
const silent = { error: () => undefined, warn: () => undefined } as unknown as Log;
const resultOf = (endpointId: string, messageId: number): Result => ({
  ...{ endpointId, messageId, state: 'waiting', attempts: 1, dueAt: 1, firstAt: 1, lastAt: 1, status: 500 },
  ...{ error: 'no', ms: 1 },
});
const { signal } = new AbortController();
const messagesOf = ({ results }: Write): number[] =>
  (results === '' ? [] : (JSON.parse(results) as unknown[][])).map((row) => Number(row[1]));

test('an endpoint that is deleted during a write takes no result of others with it', async (t) => {
  const { db, next } = slowDatabase();
  const progress = new Progress({ db, log: silent });
  for (const id of ['a', 'b']) await progress.of(id);
  await progress.add(resultOf('a', 1), signal);
  await progress.add(resultOf('a', 2), signal);
  await progress.add(resultOf('b', 3), signal);
  const first = progress.flush();
  const one = await next(1);
  progress.forget('a');
  await progress.add(resultOf('b', 4), signal);
  await progress.add(resultOf('b', 5), signal);
  one.end();
  await first;
  const second = progress.flush();
  const other = await next(2);
  other.end();
  await second;
  t.deepEqual(messagesOf(one), [1, 2, 3]);
  t.deepEqual(messagesOf(other), [4, 5]);
});

test('a position is never written before the result of its event', async (t) => {
  const { db, next } = slowDatabase();
  const progress = new Progress({ db, log: silent });
  await progress.of('a');
  const added = Array.from({ length: 510 }, (_, at) => progress.add(resultOf('a', at + 1), signal));
  const one = await next(1);
  t.is(messagesOf(one).length, 510);
  one.end();
  await Promise.all(added);
  await progress.close();
});

test('calls that wait for a write share it', async (t) => {
  const { db, writes, next } = slowDatabase();
  const progress = new Progress({ db, log: silent });
  await progress.of('a');
  await progress.add(resultOf('a', 1), signal);
  const calls = Array.from({ length: 50 }, () => progress.flush());
  const began = performance.now();
  // The pause does not hold up the end of a process.
  const alive = setTimeout(() => undefined, 60_000);
  (await next(1)).end(new Error('the disk is full'));
  await Promise.all(calls);
  clearTimeout(alive);
  t.true(performance.now() - began < 9_000, 'one pause, and not fifty');
  t.is(writes.length, 1);
  const closed = progress.close();
  (await next(2)).end();
  await closed;
});

test('nothing is tried again after the last write', async (t) => {
  const { db, writes, next } = slowDatabase();
  const progress = new Progress({ db, log: silent });
  await progress.of('a');
  await progress.add(resultOf('a', 1), signal);
  const closed = progress.close();
  const began = performance.now();
  (await next(1)).end(new Error('the database is closed'));
  await closed;
  t.true(performance.now() - began < 1_000, 'and there is no pause');
  progress.moved('a');
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.is(writes.length, 1);
});
