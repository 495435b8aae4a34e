// Fallbacks of an inbound as rows of a form.
import type { InboundsFallbacksReply, InboundsSetFallbacksInput } from '../../../../sdk/index.js';

export interface Row {
  /** id of an inbound, as text; blank where `dest` says it */
  readonly child: string;
  readonly dest: string;
  readonly name: string;
  readonly alpn: '' | 'h2' | 'http/1.1';
  readonly path: string;
  readonly xver: '0' | '1' | '2';
}
export const BLANK: Row = { child: '', dest: '', name: '', alpn: '', path: '', xver: '0' };
export const ALPNS = ['', 'h2', 'http/1.1'] as const;
export const XVERS = ['0', '1', '2'] as const;
/** Most that the panel takes. */
export const MOST_ROWS = 100;

const oneOf = <T extends string>(value: unknown, all: readonly T[], otherwise: T): T =>
  all.find((one) => one === String(value)) ?? otherwise;

export const rowsOf = (stored: InboundsFallbacksReply): Row[] =>
  [...stored]
    .sort((a, b) => a.sortOrder - b.sortOrder)
    .map(({ childId, dest, name, alpn, path, xver }) => ({
      child: childId === 0 ? '' : String(childId),
      // Where a child listens is not for the reader to say.
      dest: childId === 0 ? dest : '',
      name,
      alpn: oneOf(alpn, ALPNS, ''),
      path,
      xver: oneOf(xver, XVERS, '0'),
    }));

/** In the order of the rows. */
export const sentOf = (rows: readonly Row[]): InboundsSetFallbacksInput['body'] => ({
  fallbacks: rows.map(({ child, dest, name, alpn, path, xver }) => ({
    childId: child === '' ? 0 : Number(child),
    dest: child === '' ? dest.trim() : '',
    name: name.trim(),
    alpn,
    path: path.trim(),
    xver: Number(xver),
  })),
});

export function moved<T>(rows: readonly T[], from: number, by: -1 | 1): T[] {
  const to = from + by;
  const next = [...rows];
  const row = next[from];
  if (row === undefined || to < 0 || to >= rows.length) return next;
  next.splice(from, 1);
  next.splice(to, 0, row);
  return next;
}
