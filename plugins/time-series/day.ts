// Calendar days of a time zone as numbers: days since 1970-01-01 on that calendar.
const DAY_MS = 86_400_000;
const calendars = new Map<string, Intl.DateTimeFormat>();

/** Returns the calendar day of the zone at this moment; undefined is the machine's own zone. A day of 23 or 25 hours is one day. */
export function dayOf(at: number, zone: string | undefined): number {
  const key = zone ?? '';
  let calendar = calendars.get(key);
  if (!calendar) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    calendar = new Intl.DateTimeFormat('en-US', {
      ...parts,
      calendar: 'gregory',
      numberingSystem: 'latn',
      timeZone: zone,
    });
    calendars.set(key, calendar);
  }
  const shown = Object.fromEntries(
    calendar.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
  );
  return Date.UTC(shown['year'] ?? 1970, (shown['month'] ?? 1) - 1, shown['day'] ?? 1) / DAY_MS;
}

/** `2026-01-31` */
export const nameOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
