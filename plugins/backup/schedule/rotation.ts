// Which backups are kept. Periods are counted that have a backup, not days of the calendar: a clock that jumps a year, or a
// panel that was off for a month, deletes nothing more.
export interface Kept {
  readonly last: number;
  readonly days: number;
  readonly weeks: number;
  readonly months: number;
}
export interface Rotated {
  readonly name: string;
  /** Unix ms */
  readonly createdAt: number;
  /** verified, and its file has the right size */
  readonly isGood: boolean;
}

/** Enough to find out why; a new one comes every hour while the cause lasts. */
const FAILED_KEPT = 3;
const DAY_MS = 86_400_000;
const clocks = new Map<string, Intl.DateTimeFormat>();

/** `2026-11-23`, in the time zone. */
function dayOf(at: number, zone: string | undefined): string {
  const key = zone ?? '';
  let clock = clocks.get(key);
  if (!clock) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    clock = new Intl.DateTimeFormat('en-CA', { ...parts, calendar: 'gregory', timeZone: zone });
    clocks.set(key, clock);
  }
  return clock.format(at);
}

/** The Monday with which the week of this day begins. */
function weekOf(day: string): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  const sinceMonday = (new Date(at).getUTCDay() + 6) % 7;
  return new Date(at - sinceMonday * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Names of the backups to delete. Only good ones count and are kept for a period; the newest good one always stays. One that
 * is not good stays until a later one is good.
 */
export function superfluous(
  backups: readonly Rotated[],
  { last, days, weeks, months }: Kept,
  zone?: string,
): string[] {
  const good = backups.filter(({ isGood }) => isGood).sort((a, b) => b.createdAt - a.createdAt);
  const [newest] = good;
  if (!newest) return [];
  const kept = new Set(good.slice(0, Math.max(1, last)).map(({ name }) => name));
  const keepNewestOf = (most: number, periodOf: (day: string) => string): void => {
    const periods = new Set<string>();
    for (const { name, createdAt } of good) {
      const period = periodOf(dayOf(createdAt, zone));
      if (periods.has(period)) continue;
      if (periods.size >= most) return;
      periods.add(period);
      kept.add(name);
    }
  };
  keepNewestOf(days, (day) => day);
  keepNewestOf(weeks, weekOf);
  keepNewestOf(months, (day) => day.slice(0, 7));
  return backups
    .filter(({ name, createdAt, isGood }) => (isGood ? !kept.has(name) : createdAt < newest.createdAt))
    .map(({ name }) => name);
}

/**
 * Names of backups to delete that could not be restored: all but the newest three of those made since the newest good one.
 * Otherwise a mistake in the database fills the disk within days, a copy of it each hour. A file that changed later is not
 * one of them, as another disk or another program may still read it.
 */
export function superfluousFailed(backups: readonly (Rotated & { readonly hasFailed: boolean })[]): string[] {
  const sinceGood: string[] = [];
  for (const { name, isGood, hasFailed } of [...backups].sort((a, b) => b.createdAt - a.createdAt)) {
    if (isGood) break;
    if (hasFailed) sinceGood.push(name);
  }
  return sinceGood.slice(FAILED_KEPT);
}
