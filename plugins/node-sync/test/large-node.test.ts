// Runs on every database.
// A node with very many clients: what an edit costs depends on the edit.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { Database } from '../../../kernel/index.js';
import type { DesiredRecords, Mark } from '../desired-records.js';
import nodeSync from '../index.js';

test('storing what a node answers costs what it answers, not what it has', async (t) => {
  const observed = servicesOf(nodeSync);
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, observed.plugin],
  });
  const { records, db } = observed.services as unknown as { records: DesiredRecords; db: Database };
  const marks = Array.from(
    { length: 12_000 },
    (_, i): Mark => ({ nodeId: 77, kind: 'client', id: i + 1, isGone: i >= 11_000 }),
  );
  await db.write((tx) => records.mark(tx, marks));
  const version = (await records.page(77, 'client', 0, 1))[0]?.version ?? 0;
  const since = performance.now();
  const told = marks.slice(10_750, 11_250).map(({ kind, id }, i) => ({
    kind,
    id,
    version: i === 0 ? version - 1 : version,
    refused: i === 1 ? 'no' : '',
  }));
  await records.told(77, told);
  t.true(performance.now() - since < 2_000, `${Math.round(performance.now() - since)} ms`);
  const counts = (await records.counts()).get(77);
  // Of 500, one was told of another version, 250 were deletions.
  t.deepEqual(counts, { pending: 12_000 - 499, refused: 1 });
  t.is((await records.page(77, 'client', 10_999, 50_000)).length, 12_000 - 11_250 + 1);
  t.deepEqual(
    (await records.refused(77, 10)).map(({ id }) => id),
    [10_752],
  );
  t.deepEqual(panel.faults, []);
});
