// docs/formats.md: its text is written by hand, its tables from what the formats say and the tests prove.
import { readFile } from 'node:fs/promises';
import { type Cell, cellOf, COLUMNS, type Column } from './columns.js';
import { refusals } from './refusals.js';
import { nameOf, type Way } from './ways.js';

export const PAGE = 'docs/formats.md';
const [FROM, TO] = ['<!-- matrix: written by node bin/reference.mjs -->', '<!-- end of the matrix -->'];

export interface Row {
  readonly way: Way;
  readonly cells: ReadonlyMap<Column, Cell>;
}

/** The whole matrix, as it is to be. */
export async function expectedRows(): Promise<Row[]> {
  const { ways, refusals: found } = await refusals();
  return ways.map((way) => ({
    way,
    cells: new Map(
      COLUMNS.map((column) => [column, cellOf(column, way, found.get(column.format)?.get(nameOf(way)))]),
    ),
  }));
}

const WORDS = { accepted: 'text', refused: 'no', 'not applicable': '—' } as const;
const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

export function tablesOf(rows: readonly Row[]): string {
  const reasons: string[] = [];
  const noted = (reason: string): string => {
    if (!reasons.includes(reason)) reasons.push(reason);
    return `(${reasons.indexOf(reason) + 1})`;
  };
  const shown = (cell: Cell | undefined): string => {
    if (cell === undefined) return '';
    if (cell.kind === 'carried') return 'yes';
    return `${WORDS[cell.kind]} ${noted(cell.reason)}`;
  };
  const body = rows.map(({ way: { protocol, transport, security }, cells }) => {
    const shownCells = COLUMNS.map((column) => shown(cells.get(column)));
    return `| ${[protocol, transport, security, ...shownCells].join(' | ')} |`;
  });
  const titles = ['Protocol', 'Transport', 'Security', ...COLUMNS.map(({ title }) => title)];
  return [
    `| ${titles.join(' | ')} |`,
    `|${' --- |'.repeat(titles.length)}`,
    ...body,
    '',
    ...reasons.map((reason, i) => `${i + 1}. ${escaped(reason)}`),
    '',
  ].join('\n');
}

/** The page as it is, with the tables as they are to be. */
export async function formatsPage(root: URL): Promise<string> {
  const page = await readFile(new URL(PAGE, root), 'utf8');
  const [before, after] = [page.indexOf(FROM), page.indexOf(TO)];
  if (before < 0 || after < before) throw new Error(`${PAGE} must have a line ${FROM} and, below it, ${TO}`);
  return `${page.slice(0, before)}${FROM}\n\n${tablesOf(await expectedRows())}\n${page.slice(after)}`;
}
