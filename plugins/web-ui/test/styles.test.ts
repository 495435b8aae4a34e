// Sheets of pages are loaded one after the other and stay: a class that two of them mean differently looks as the last one says.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { sourceRoot } from '../../../test/harness/source-root.js';

/** Classes that a rule is about alone, such as `.card`; not `.card h2` and not `.page.client`. */
const classesOf = (css: string): string[] =>
  css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split(/[{}]/)
    .flatMap((part) => part.split(','))
    .map((part) => part.trim())
    .filter((part) => /^\.[\w-]+$/.test(part));

test('each class belongs to one sheet', async (t) => {
  const folder = new URL('plugins/web-ui/page/', await sourceRoot());
  const sheets = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.css'),
  );
  t.true(sheets.length > 10);
  const owners = new Map<string, Set<string>>();
  for (const sheet of sheets)
    for (const name of classesOf(readFileSync(new URL(sheet, folder), 'utf8')))
      owners.set(name, (owners.get(name) ?? new Set()).add(sheet));
  t.true(owners.has('.card'));
  t.deepEqual(
    [...owners].filter(([, own]) => own.size > 1).map(([name, own]) => `${name}: ${[...own].join(', ')}`),
    [],
  );
});
