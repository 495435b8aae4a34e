// Prints tables as plain text, for a terminal, a file and the README.
const MIB = 1024 * 1024;

export const mib = (bytes: number): string => `${(bytes / MIB).toFixed(2)} MiB`;
/** Difference of `counted` to `moved` in percent, signed. */
export const percent = (counted: number, moved: number): number =>
  moved === 0 ? (counted === 0 ? 0 : Infinity) : ((counted - moved) / moved) * 100;
export const percentText = (value: number): string =>
  `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3)} %`;

/** First column to the left, all others to the right; a rule under the head. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('   ')}`.trimEnd();
  return [line(head), `  ${widths.map((width) => '-'.repeat(width)).join('   ')}`, ...rows.map(line)].join(
    '\n',
  );
}
