// What of the record of changes is shown.
import type { AuditChangesInput } from '../../../../sdk/index.js';

export type AuditQuery = NonNullable<NonNullable<AuditChangesInput>['query']>;

export interface AuditFilter {
  readonly who: string;
  readonly area: string;
  readonly name: string;
  /** hours back from now; blank: all that is recorded */
  readonly hours: string;
}
export const NO_FILTER: AuditFilter = { who: '', area: '', name: '', hours: '' };
export const HOURS = [1, 24, 7 * 24, 30 * 24] as const;
export const PAGE_SIZE = 50;
const HOUR = 3_600_000;

/** Kinds of records that have an own text; others are shown by their name. */
export const AREAS = [
  'client',
  'clientJob',
  'group',
  'inbound',
  'host',
  'setting',
  'coreTemplate',
  'certificate',
  'admin',
  'token',
  'session',
  'core',
  'panel',
  'plugin',
  'backup',
  'download',
] as const;
type Area = (typeof AREAS)[number];
export const isKnownArea = (area: string): area is Area => (AREAS as readonly string[]).includes(area);

/** @param before id of the last change that is shown; undefined for the first page */
export function queryOf({ who, area, name, hours }: AuditFilter, now: number, before?: number): AuditQuery {
  return {
    limit: PAGE_SIZE,
    ...(who.trim() !== '' && { who: who.trim() }),
    ...(area !== '' && { area }),
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(hours !== '' && { from: now - Number(hours) * HOUR }),
    ...(before !== undefined && { before }),
  };
}

export interface ChangedField {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** A value before and after, as text; blank where there was none. */
export function changedFields(fields: Readonly<Record<string, unknown>>): ChangedField[] {
  return Object.entries(fields).map(([path, value]) => {
    const [before, after] = Array.isArray(value) ? (value as unknown[]) : [undefined, value];
    return { path, before: textOf(before), after: textOf(after) };
  });
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** How many of the listed changes are of one call: an undo takes all of them. */
export const sizeOf = (changes: readonly { readonly entry: number }[], entry: number): number =>
  changes.filter((change) => change.entry === entry).length;
