// The calls that get recorded changes, and what their replies say.
import { parseDate } from '@internationalized/date';
import type { AuditChangesInput } from '../../../../sdk/index.js';
import type { AuditView } from './audit-view.js';

type AuditQuery = NonNullable<NonNullable<AuditChangesInput>['query']>;

export const PAGE_SIZE = 50;
const HOUR = 3_600_000;

export interface Moment {
  readonly now: number;
  readonly zone: string;
}

/** The first moment of a day that the API takes as well. */
const startOf = (day: string, zone: string, daysLater = 0): number =>
  Math.max(0, parseDate(day).add({ days: daysLater }).toDate(zone).getTime());

/** @param before id of the last change that is shown; undefined for the first page */
export function auditQueryOf(view: AuditView, { now, zone }: Moment, before?: number): AuditQuery {
  const { area, kind, who, name, hours, from, until } = view;
  return {
    limit: PAGE_SIZE,
    ...(area !== undefined && { area }),
    ...(kind !== undefined && { kind }),
    ...(who !== undefined && { who }),
    ...(name !== undefined && { name }),
    ...(hours !== undefined && { from: now - Number(hours) * HOUR }),
    ...(from !== undefined && { from: startOf(from, zone) }),
    ...(until !== undefined && { to: startOf(until, zone, 1) }),
    ...(before !== undefined && { before }),
  };
}

export interface ChangedField {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** Values before and after, as texts; blank where there was none. */
export function changedFields(fields: Readonly<Record<string, unknown>>): ChangedField[] {
  return Object.entries(fields).map(([path, value]) => {
    const [before, after] = Array.isArray(value) ? (value as unknown[]) : [undefined, value];
    return { path, before: textOfValue(before), after: textOfValue(after) };
  });
}

function textOfValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Fields that are not as the entry left them, from the reply of an undo that is refused: `name: fields`. */
export function conflictsOf(reply: unknown): { readonly name: string; readonly fields: ChangedField[] }[] {
  const { conflicts } = (reply ?? {}) as { conflicts?: unknown };
  if (!Array.isArray(conflicts)) return [];
  return (conflicts as { name?: unknown; fields?: Readonly<Record<string, unknown>> }[]).map(
    ({ name, fields }) => ({ name: String(name ?? ''), fields: changedFields(fields ?? {}) }),
  );
}
