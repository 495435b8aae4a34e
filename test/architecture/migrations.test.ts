// Migrations run on every database that Weir knows.
import test from 'ava';
import { mysqlTypes } from '../../drivers/mysql/dialect.js';
import { readPreset } from '../../panel/choose-plugins.js';
import { findPlugins } from '../../panel/find-plugins.js';

/** What is wrong with a statement on MySQL though SQLite takes it. */
function troubles(statement: string): string[] {
  const found: string[] = [];
  // MySQL passes over a reference of a column in silence.
  if (/\bREFERENCES\b/i.test(statement.replace(/FOREIGN\s+KEY\s*\([^)]*\)\s*REFERENCES/gi, '')))
    found.push('REFERENCES of a column: write FOREIGN KEY (column) REFERENCES … at the end of the table');
  if (/\bAUTOINCREMENT\b/i.test(statement)) found.push('AUTOINCREMENT: use the type `id`');
  if (/\bTEXT\b/.test(statement)) found.push('TEXT, which holds 64 KB on MySQL: use the type `text`');
  if (/\b(?:VARCHAR\((?:2[6-9]\d|25[6-9]|[3-9]\d\d|\d{4,})\))[^,]*(?:UNIQUE|PRIMARY KEY)/i.test(statement))
    found.push('a key on more than 255 characters');
  if (/CREATE (?:UNIQUE )?INDEX\b.*\bWHERE\b/is.test(statement)) found.push('an index with WHERE');
  return found;
}

test('every migration is one that MySQL understands as SQLite does', async (t) => {
  let checked = 0;
  for (const { name, migrations } of await findPlugins(await readPreset('full'))) {
    for (const { name: migration, up } of migrations) {
      // As for MySQL, with names in place of its types.
      for (const statement of up({ ...mysqlTypes, id: 'ID', text: 'ANY', json: 'ANY' })) {
        checked++;
        t.deepEqual(troubles(statement), [], `${migration} of plugin ${name}: ${statement}`);
      }
    }
  }
  t.true(checked > 10, 'hardly a migration was found');
});

test('the rule about migrations sees what MySQL would take otherwise', (t) => {
  const bad = [
    'CREATE TABLE a (b BIGINT REFERENCES c (d))',
    'CREATE TABLE a (b INTEGER PRIMARY KEY AUTOINCREMENT)',
    'CREATE TABLE a (b TEXT)',
    'CREATE TABLE a (b VARCHAR(512) UNIQUE)',
    'CREATE INDEX a ON b (c) WHERE c > 0',
  ];
  t.deepEqual(
    bad.filter((statement) => troubles(statement).length !== 1),
    [],
  );
  t.deepEqual(
    troubles(
      'CREATE TABLE a (b BIGINT NOT NULL, e VARCHAR(255) UNIQUE, FOREIGN KEY (b) REFERENCES c (d) ON DELETE CASCADE)',
    ),
    [],
  );
});
