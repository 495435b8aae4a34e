// What an import did with each row: nothing is dropped in silence.

/** Different reasons of one table, and names for each. */
const MOST_REASONS = 40;
const MOST_NAMES = 10;
const LONGEST_NAME = 100;
const LONGEST_WHY = 500;

export interface Reason {
  readonly why: string;
  readonly count: number;
  /** the first rows with it */
  readonly names: readonly string[];
}
export interface TableReport {
  readonly table: string;
  /** rows in the file */
  readonly found: number;
  /** rows that are new here */
  readonly taken: number;
  /** rows that this panel has already; they stay as they are */
  readonly present: number;
  /** what of the taken rows is not as it was */
  readonly changed: readonly Reason[];
  /** rows that are not here */
  readonly left: readonly Reason[];
}
/** A sum over the rows that were taken, in the file and here. */
export interface Sum {
  readonly name: string;
  readonly there: number;
  readonly here: number;
}
export interface ImportReport {
  readonly dryRun: boolean;
  readonly tables: readonly TableReport[];
  /** none in a dry run */
  readonly sums: readonly Sum[];
}

class Reasons {
  readonly #reasons = new Map<string, { count: number; names: string[] }>();

  add(why: string, name: string, count: number): void {
    const text = printable(why, LONGEST_WHY);
    const key = this.#reasons.has(text) || this.#reasons.size < MOST_REASONS ? text : 'for other reasons';
    const reason = this.#reasons.get(key) ?? { count: 0, names: [] };
    reason.count += count;
    if (name !== '' && reason.names.length < MOST_NAMES) reason.names.push(printable(name, LONGEST_NAME));
    this.#reasons.set(key, reason);
  }
  list(): Reason[] {
    return [...this.#reasons].map(([why, reason]) => ({ why, ...reason }));
  }
}
/** A file may hold what moves the cursor of a terminal. */
const printable = (text: string, longest: number): string =>
  text.slice(0, longest).replaceAll(/[\p{Cc}\p{Cs}]/gu, '?');

class Table {
  found = 0;
  taken = 0;
  present = 0;
  readonly changed = new Reasons();
  readonly left = new Reasons();
}

export class Report {
  readonly #tables = new Map<string, Table>();
  readonly #sums = new Map<string, { there: number; here: number }>();

  #table(name: string): Table {
    const table = this.#tables.get(name) ?? new Table();
    this.#tables.set(name, table);
    return table;
  }

  found(table: string, count: number): void {
    this.#table(table).found += count;
  }
  taken(table: string, count = 1): void {
    this.#table(table).taken += count;
  }
  present(table: string, count = 1): void {
    this.#table(table).present += count;
  }
  /** Of a row that is taken: how it differs. */
  changed(table: string, how: string, name = '', count = 1): void {
    this.#table(table).changed.add(how, name, count);
  }
  left(table: string, why: string, name = '', count = 1): void {
    if (count > 0) this.#table(table).left.add(why, name, count);
  }
  sum(name: string, there: number, here: number): void {
    const sum = this.#sums.get(name) ?? { there: 0, here: 0 };
    this.#sums.set(name, { there: sum.there + there, here: sum.here + here });
  }

  of(dryRun: boolean): ImportReport {
    return {
      dryRun,
      tables: [...this.#tables].map(([table, { changed, left, ...counts }]) => ({
        table,
        ...counts,
        changed: changed.list(),
        left: left.list(),
      })),
      sums: [...this.#sums].map(([name, sum]) => ({ name, ...sum })),
    };
  }
}

const reasonLine = (word: string, { why, count, names }: Reason): string =>
  `    ${word} ${count}: ${why}${names.length > 0 ? ` (${names.join(', ')}${count > names.length ? ', …' : ''})` : ''}`;

/** For a terminal. */
export function linesOf({ dryRun, tables, sums }: ImportReport): string[] {
  const lines = tables
    .filter(({ found }) => found > 0)
    .flatMap(({ table, found, taken, present, changed, left }) => [
      `${table}: ${found} found, ${taken} ${dryRun ? 'would be taken' : 'taken'}${present > 0 ? `, ${present} here already` : ''}`,
      ...changed.map((reason) => reasonLine('changed', reason)),
      ...left.map((reason) => reasonLine('left', reason)),
    ]);
  const compared = sums.map(
    ({ name, there, here }) =>
      `${name}: ${there} in the file, ${here} here${there === here ? '' : '  <- DIFFERENT'}`,
  );
  return [...lines, ...(compared.length > 0 ? ['Of what was taken:', ...compared] : [])];
}

/** Whether all sums are equal. */
export const isEqual = ({ sums }: ImportReport): boolean => sums.every(({ there, here }) => there === here);
