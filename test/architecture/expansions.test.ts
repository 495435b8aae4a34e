// Panels of two versions can share a database while they are upgraded one after another: a migration only adds, or says
// since which version nothing uses what it takes away.
import test from 'ava';
import { mysqlTypes } from '../../drivers/mysql/dialect.js';
import { sqliteTypes } from '../../drivers/sqlite/dialect.js';
import { sessionMigrations } from '../../kernel/auth/session.js';
import { readPreset } from '../../panel/choose-plugins.js';
import { findPlugins } from '../../panel/find-plugins.js';
import { isOlder, PANEL_VERSION } from '../../plugins/cluster/contract.js';
import { BASELINE } from './baseline-migrations.js';
import { contractions } from './expansions.js';

const all = async () => [
  { name: 'kernel', migrations: sessionMigrations },
  ...(await findPlugins(await readPreset('full'))),
];

test('every migration since the baseline only adds, or names the version since which nothing uses the rest', async (t) => {
  let checked = 0;
  for (const { name: plugin, migrations } of await all())
    for (const { name, up, unusedSince } of migrations) {
      if (BASELINE[plugin]?.includes(name)) continue;
      checked++;
      if (unusedSince !== undefined) {
        // A panel of the version before must be able to run beside this one.
        t.true(isOlder(unusedSince, PANEL_VERSION), `${plugin} ${name}: unusedSince is no earlier release`);
        continue;
      }
      for (const types of [mysqlTypes, sqliteTypes])
        t.deepEqual(
          contractions(up(types)),
          [],
          `${plugin} ${name}: set unusedSince, and see docs/cluster.md`,
        );
    }
  t.true(checked > 0);
});

test('the baseline names migrations that exist', async (t) => {
  const known = new Set(
    (await all()).flatMap(({ name, migrations }) => migrations.map((one) => `${name} ${one.name}`)),
  );
  const named = Object.entries(BASELINE).flatMap(([plugin, names]) =>
    names.map((name) => `${plugin} ${name}`),
  );
  t.deepEqual(
    named.filter((migration) => !known.has(migration)),
    [],
  );
});

test('the rule tells what adds from what takes away', (t) => {
  const adds = [
    ['CREATE TABLE a (b BIGINT NOT NULL)', 'INSERT INTO a (b) VALUES (1)', 'CREATE UNIQUE INDEX i ON a (b)'],
    ['ALTER TABLE old ADD COLUMN c VARCHAR(9)', 'UPDATE old SET c = lower(d)'],
    ["ALTER TABLE old ADD COLUMN c VARCHAR(9) NOT NULL DEFAULT ''"],
    ['CREATE INDEX i ON old (c)'],
    ['CREATE TABLE a (b BIGINT, FOREIGN KEY (b) REFERENCES old (id) ON DELETE CASCADE)'],
    ['CREATE TABLE a (b BIGINT PRIMARY KEY)', 'CREATE TABLE c (b BIGINT, FOREIGN KEY (b) REFERENCES a (b))'],
  ];
  for (const statements of adds) t.deepEqual(contractions(statements), []);
  const takes = [
    'DROP TABLE old',
    'ALTER TABLE old DROP COLUMN c',
    'ALTER TABLE old RENAME COLUMN c TO d',
    'ALTER TABLE old RENAME TO other',
    'ALTER TABLE old MODIFY c VARCHAR(9)',
    'ALTER TABLE old ADD COLUMN c BIGINT NOT NULL',
    'ALTER TABLE old ADD COLUMN c BIGINT UNIQUE',
    'CREATE UNIQUE INDEX i ON old (c)',
    'DROP INDEX i ON old',
    'UPDATE old SET c = 1',
    'DELETE FROM old',
    'INSERT INTO old (c) VALUES (1)',
    'CREATE TABLE a (b BIGINT, FOREIGN KEY (b) REFERENCES old (id))',
    'ALTER TABLE old ADD CONSTRAINT x UNIQUE (c)',
    'ALTER TABLE old ADD UNIQUE (c)',
    'ALTER TABLE old ADD FOREIGN KEY (c) REFERENCES other (id)',
  ];
  t.deepEqual(
    takes.filter((statement) => contractions([statement]).length !== 1),
    [],
  );
  // What another migration has added is used by a panel that has only that one.
  t.is(contractions(['ALTER TABLE old ADD COLUMN c BIGINT', 'UPDATE old SET c = 1, d = 2']).length, 1);
});
