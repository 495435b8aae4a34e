// The skipped clients of a job as a table for a spreadsheet.
import type { Listed, SkippedClients } from './skipped-clients.js';

const COLUMNS = ['id', 'email', 'outcome', 'code', 'reason'] as const;
const PAGE = 1_000;

/** A spreadsheet runs what begins like a formula: an apostrophe makes it a text. */
function cell(value: string | number): string {
  const text = String(value);
  const safe = /^[=+\-@\t\r\n|%]/.test(text) ? `'${text}` : text;
  return /[",\r\n;']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const line = (cells: readonly (string | number)[]): string => `${cells.map(cell).join(',')}\r\n`;
const lineOf = (client: Listed): string => line(COLUMNS.map((name) => client[name]));

export async function* skippedCsv(
  skipped: SkippedClients,
  jobId: number,
  listed: number,
): AsyncGenerator<string> {
  yield line(COLUMNS);
  for (let after = 0; after < listed; after += PAGE) {
    const rows = await skipped.page(jobId, after, Math.min(after + PAGE, listed));
    yield rows.map(lineOf).join('');
  }
}
