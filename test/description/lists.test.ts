// The lists of decisions, differences and weak spots are complete, and the tests that they name are there.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { sourceRoot } from '../harness/source-root.js';

const numbers = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`);
/** The numbers of each list. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  'weak-spots-of-accounts.md': [...numbers('W', 20), ...numbers('R', 20), ...numbers('B', 20)],
  'weak-spots-of-panel.md': numbers('', 64),
  'weak-spots-of-engine.md': numbers('', 52),
  'weak-spots-of-subscription.md': [...numbers('Q', 14), ...numbers('S', 21), ...numbers('P', 8)],
  'weak-spots-of-core.md': numbers('X', 10),
};
const DECISIONS = 'decisions.md';
const DIFFERENCES = 'differences.md';
const LEAST = { [DECISIONS]: 60, [DIFFERENCES]: 8 };

interface Row {
  readonly cells: readonly string[];
  /** path of the test and its title, or why there is none */
  readonly file: string;
  readonly title: string;
  readonly reason: string;
}

async function rowsOf(name: string): Promise<Row[]> {
  const text = await readFile(new URL(`test/description/${name}`, await sourceRoot()), 'utf8');
  return text
    .split('\n')
    .filter((line) => /^\| (?!\||---|Point|Description)/.test(line))
    .map((line) => {
      const cells = line.slice(2, -2).split(' | ');
      const held = cells.at(-1) ?? '';
      const [, file = '', title = ''] = /^`([^`]+\.test\.ts)` (.+)$/.exec(held) ?? [];
      return { cells, file, title, reason: /^none: (.{20,})$/.exec(held)?.[1] ?? '' };
    });
}
/** Titles in sources may be escaped or broken into lines. */
const plain = (text: string): string => text.replaceAll('\\', '').replaceAll(/\s+/g, ' ');

const held = async (name: string, { cells, file, title, reason }: Row): Promise<string> => {
  const label = `${name}, ${cells[0]}`;
  if (reason !== '') return '';
  if (file === '') return `${label}: names neither a test nor a reason`;
  const source = await readFile(new URL(file, await sourceRoot()), 'utf8').catch(() => undefined);
  if (source === undefined) return `${label}: there is no ${file}`;
  const quoted = ["'", '"', '`'].map((quote) => quote + plain(title) + quote);
  return quoted.some((literal) => plain(source).includes(literal))
    ? ''
    : `${label}: ${file} has no "${title}"`;
};

for (const name of [...Object.keys(LISTS), DECISIONS, DIFFERENCES])
  test(`${name}: each row names a test that is there, or a reason`, async (t) => {
    const rows = await rowsOf(name);
    t.deepEqual((await Promise.all(rows.map((row) => held(name, row)))).filter(Boolean), []);
    const wanted = LISTS[name];
    if (wanted)
      t.deepEqual(
        rows.map(({ cells }) => cells[0] ?? ''),
        [...wanted],
      );
    else t.true(rows.length >= LEAST[name as keyof typeof LEAST], `${rows.length} rows`);
    t.log(`${rows.length} rows, ${rows.filter(({ reason }) => reason !== '').length} with a reason`);
  });

test('a row without a test, and one with a title that is not there, are found', async (t) => {
  const row = { cells: ['1'], file: '', title: '', reason: '' };
  t.regex(await held('x.md', row), /names neither/);
  t.regex(await held('x.md', { ...row, file: 'test/none.test.ts', title: 'x' }), /there is no/);
  const here = 'test/description/lists.test.ts';
  t.regex(await held('x.md', { ...row, file: here, title: ['no', 'such', 'title'].join(' ') }), /has no/);
});
