// Runs on every database in test:full.
// What a caller is told when another program writes the same rows at the same moment.
import test from 'ava';
import { createConnection } from 'mysql2/promise';
import { definePlugin, type Database } from '../index.js';
import { databaseOf, onSqlite } from '../../test/harness/database.js';
import { until, World } from './world.js';

const onServer = onSqlite ? test.skip : test;

onServer(
  'a deadlock with another program is refused, saves nothing, and is no failure of the database',
  async (t) => {
    const inner: { db?: Database } = {};
    const pairs = definePlugin({
      name: 'pairs',
      version: '1.0.0',
      api: 1,
      about: 'Keeps pairs.',
      migrations: [
        {
          name: '0001-pairs',
          up: ({ integer }) => [
            `CREATE TABLE pairs (id ${integer} PRIMARY KEY, n ${integer} NOT NULL)`,
            'INSERT INTO pairs (id, n) VALUES (1, 0), (2, 0)',
          ],
        },
      ],
      start: ({ db }) => void (inner.db = db),
    });
    await using world = await World.boot([pairs]);
    const { db } = inner;
    if (!db) throw new Error('the plugin did not start');
    const other = await createConnection((await databaseOf(world.folder)) ?? '');
    t.teardown(() => other.end());
    // The server rolls back the one that has changed less.
    await other.query('CREATE TABLE weight (id BIGINT PRIMARY KEY AUTO_INCREMENT, n BIGINT)');
    await other.query('START TRANSACTION');
    await other.query(`INSERT INTO weight (n) VALUES ${Array.from({ length: 200 }, () => '(1)').join(', ')}`);
    await other.query('UPDATE pairs SET n = 1 WHERE id = 2');
    let theirs: Promise<unknown> = Promise.resolve();
    const ours = db.write(async (tx) => {
      await tx.run('UPDATE pairs SET n = 7 WHERE id = 1');
      theirs = other.query('UPDATE pairs SET n = 1 WHERE id = 1');
      const waiting = 'SELECT COUNT(*) AS n FROM information_schema.innodb_trx WHERE trx_state = :state';
      await until(
        async () => Number((await db.query<{ n: number }>(waiting, { state: 'LOCK WAIT' }))[0]?.n) > 0,
        'the other program waits for our row',
      );
      await tx.run('UPDATE pairs SET n = 7 WHERE id = 2');
    });
    await t.throwsAsync(ours, { code: 'KERNEL_DATABASE_BUSY' });
    await theirs;
    await other.query('COMMIT');
    t.false(db.isFailing);
    t.deepEqual(await db.query('SELECT id, n FROM pairs ORDER BY id'), [
      { id: 1, n: 1 },
      { id: 2, n: 1 },
    ]);
    await db.write((tx) => tx.run('UPDATE pairs SET n = 8 WHERE id = 1'));
    t.deepEqual(await db.query('SELECT n FROM pairs WHERE id = 1'), [{ n: 8 }]);
  },
);
