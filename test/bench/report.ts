// Collects what the scenes measure, and prints it as tables of Markdown with the goals beside.
type Values = ReadonlyMap<number, number>;

export interface Goal {
  readonly text: string;
  /** `values` by the number of clients */
  readonly isMet: (values: Values) => boolean;
}
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: 'ms' | 's' | '/s' | 'KiB' | 'MiB' | 'MB' | 'µs' | '%' | '×' | '';
  readonly goal?: Goal | undefined;
}

const DIGITS: Readonly<Record<Figure['unit'], number>> = {
  ms: 1,
  s: 1,
  '/s': 0,
  KiB: 2,
  MiB: 0,
  MB: 2,
  µs: 1,
  '%': 0,
  '×': 1,
  '': 0,
};
const shown = (value: number, unit: Figure['unit']): string =>
  `${value.toLocaleString('en', { minimumFractionDigits: DIGITS[unit], maximumFractionDigits: DIGITS[unit] })}${unit === '/s' ? '' : ' '}${unit}`.trimEnd();
const say = (text: string) => void process.stdout.write(`${text}\n`);

const last = (values: Values): number => values.get(Math.max(...values.keys())) ?? Number.NaN;
const ratioOf = (values: Values): number =>
  last(values) / (values.get(Math.min(...values.keys())) ?? Number.NaN);

export const atMost = (most: number, unit: Figure['unit']): Goal => ({
  text: `≤ ${shown(most, unit)}`,
  isMet: (values) => last(values) <= most,
});
export const atLeast = (least: number, unit: Figure['unit']): Goal => ({
  text: `≥ ${shown(least, unit)}`,
  isMet: (values) => last(values) >= least,
});
/** The same with the most clients as with the fewest. */
export const flat = (most: number): Goal => ({
  text: `ratio ≤ ${most}`,
  isMet: (values) => ratioOf(values) <= most,
});
/** By the number of clients; other numbers have none. */
export const upTo = (most: Readonly<Record<number, number>>, unit: Figure['unit']): Goal => ({
  text: Object.values(most)
    .map((value) => `≤ ${shown(value, unit)}`)
    .join(', '),
  isMet: (values) => [...values].every(([size, value]) => value <= (most[size] ?? Infinity)),
});

interface Line extends Omit<Figure, 'value'> {
  readonly values: Map<number, number>;
}

/** A table of Markdown, its columns aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(3, ...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, i) => (i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width))).join(' | ')} |`;
  return [
    line(head),
    `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

export class Report {
  readonly #tables = new Map<string, Map<string, Line>>();

  /** Notes what a scene has measured with so many clients, and says it at once: a run may be cut short. */
  add(title: string, size: number, figures: readonly Figure[]): void {
    const lines = this.#tables.get(title) ?? new Map<string, Line>();
    this.#tables.set(title, lines);
    for (const { what, value, unit, goal } of figures) {
      const line = lines.get(what) ?? { what, unit, goal, values: new Map<number, number>() };
      line.values.set(size, value);
      lines.set(what, line);
      process.stderr.write(`  ${size} clients, ${title}: ${what}: ${shown(value, unit)}\n`);
    }
  }

  /** Returns how many goals were missed. */
  print(): number {
    let missed = 0;
    for (const [title, lines] of this.#tables) {
      const sizes = [...new Set([...lines.values()].flatMap(({ values }) => [...values.keys()]))].sort(
        (a, b) => a - b,
      );
      const several = sizes.length > 1;
      const rows = [...lines.values()].map(({ what, unit, goal, values }) => {
        const isMet = goal?.isMet(values) ?? true;
        if (!isMet) missed++;
        return [
          what,
          ...sizes.map((size) => (values.has(size) ? shown(values.get(size) ?? 0, unit) : '')),
          ...(several
            ? [values.size > 1 && Number.isFinite(ratioOf(values)) ? ratioOf(values).toFixed(2) : '']
            : []),
          goal?.text ?? '',
          goal ? (isMet ? 'met' : '**missed**') : '',
        ];
      });
      const head = [
        title,
        ...sizes.map((size) => size.toLocaleString('en')),
        ...(several ? ['ratio'] : []),
        'goal',
        '',
      ];
      say(`\n${table(head, rows)}`);
    }
    return missed;
  }
}
