// Runs on every database.
// Rows of a server are those of one moment, whatever is written meanwhile.
import { onlyOn } from '../../test/harness/left-out.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { databaseOf, dropDatabase, onSqlite } from '../../test/harness/database.js';
import type { RowSource } from '../restore/copy-rows.js';

interface Driver {
  readonly MysqlRows: { snapshot(url: URL): Promise<RowSource & { close(): Promise<void> }> };
}

onlyOn(!onSqlite, 'a database server')('rows that are written after the snapshot are not read', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const address = (await databaseOf(directory)) ?? '';
  const writer = await createConnection(address);
  t.teardown(async () => {
    await writer.end();
    await dropDatabase(directory);
    await rm(directory, { recursive: true, force: true });
  });
  await writer.query(
    'CREATE TABLE counters (id BIGINT PRIMARY KEY, n BIGINT NOT NULL, twice BIGINT GENERATED ALWAYS AS (n * 2) VIRTUAL)',
  );
  await writer.query('INSERT INTO counters (id, n) VALUES (1, 10), (2, 9007199254740993)');
  const { MysqlRows } = (await import('../../drivers/mysql/rows.js' as string)) as Driver;
  const source = await MysqlRows.snapshot(new URL(address));
  try {
    await writer.query('UPDATE counters SET n = 11 WHERE id = 1');
    await writer.query('INSERT INTO counters (id, n) VALUES (3, 1)');
    const [table] = await source.tables();
    t.deepEqual(
      table?.columns.map(({ name }) => name),
      ['id', 'n'],
      'without computed columns',
    );
    const rows: unknown[] = [];
    if (table) for await (const slice of source.slices(table)) rows.push(...slice.map((row) => ({ ...row })));
    // A number that JavaScript cannot hold comes as text, which the copy refuses.
    t.deepEqual(rows, [
      { id: 1, n: 10 },
      { id: 2, n: '9007199254740993' },
    ]);
    t.is(await source.count('counters'), 2);
  } finally {
    await source.close();
  }
});
