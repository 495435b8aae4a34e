// The lines of a log that is read again and again: only those that are new are added.

export interface LogLine {
  /** stays the same while the line is shown */
  readonly id: number;
  /** shown one after another, each with a direction of its own */
  readonly parts: readonly string[];
  readonly text: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** it stands for so many lines that are not here */
  readonly leftOut?: number;
}
export type Entry = Omit<LogLine, 'id'>;
export interface Log {
  /** oldest first */
  readonly lines: readonly LogLine[];
  readonly nextId: number;
}

/** What the panel is asked for when it is asked again, until the answer goes on where the known lines end. */
const ASKED = [100, 1_000, 10_000] as const;
/** Lines that the page has at most. */
export const MOST_LINES = 20_000;

export const NO_LINES: Log = { lines: [], nextId: 1 };

export const withLines = (known: Log, entries: readonly Entry[]): Log => ({
  lines: [...known.lines, ...entries.map((entry, index) => ({ ...entry, id: known.nextId + index }))].slice(
    -MOST_LINES,
  ),
  nextId: known.nextId + entries.length,
});

/**
 * How many of the last entries of `tail` come after the known lines; undefined if the two do not touch. Equal lines follow
 * each other in logs: of all places that fit, it is the one with the fewest new lines.
 */
export function newIn(
  known: readonly { readonly text: string }[],
  tail: readonly Entry[],
): number | undefined {
  const last = known.length - 1;
  for (let end = tail.length - 1; end >= 0; end--) {
    let back = 0;
    while (back <= end && back <= last && tail[end - back]?.text === known[last - back]?.text) back++;
    if (back > end || back > last) return tail.length - 1 - end;
  }
  return undefined;
}

/**
 * The log with what was written since it was known, or read from its end if that is too much, or if it began again. The same
 * object if nothing was written.
 * @param load gets the last lines, oldest first
 */
export async function grown(
  known: Log | undefined,
  first: number,
  load: (count: number) => Promise<readonly Entry[]>,
): Promise<Log> {
  const blank: Log = { lines: [], nextId: known?.nextId ?? 1 };
  if (!known || known.lines.length === 0) {
    const entries = await load(first);
    return known && entries.length === 0 ? known : withLines(blank, entries);
  }
  for (const count of ASKED) {
    const tail = await load(count);
    const added = newIn(known.lines, tail);
    if (added === 0) return known;
    if (added !== undefined) return withLines(known, tail.slice(-added));
    if (tail.length < count) return withLines(blank, tail);
    if (count === ASKED.at(-1)) return withLines(blank, tail);
  }
  return known;
}

/** Stands in the log where lines are not here; its text is for copies. */
export const gapOf = (leftOut: number): Entry => ({
  parts: [],
  text: `[${leftOut} lines left out]`,
  level: 'warn',
  leftOut,
});

const LEVEL = /^\S+ \S+ (DEBUG|INFO|WARNING|ERROR) - /;
const LEVELS: Readonly<Record<string, LogLine['level']>> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
};

/** A line such as `2026/11/23 08:15:04 WARNING - message {"field":1}`. */
export function entryOfPanel(text: string): Entry {
  return { parts: [text], text, level: LEVELS[LEVEL.exec(text)?.[1] ?? ''] ?? 'info' };
}

export interface Connection {
  readonly DateTime: string;
  readonly FromAddress: string;
  readonly ToAddress: string;
  readonly Inbound: string;
  readonly Outbound: string;
  readonly Email: string;
  readonly Event: number;
}
const BLOCKED = 1;
const EVENTS = { direct: 0, blocked: 1, proxied: 2 } as const;

/** Whether the filters of the panel would show a connection: by the way, and by a text in a field, in any case. */
export function isWanted(
  connection: Connection,
  {
    way,
    search = '',
  }: { readonly way?: keyof typeof EVENTS | undefined; readonly search?: string | undefined },
): boolean {
  const { Event, ...fields } = connection;
  if (way !== undefined && Event !== EVENTS[way]) return false;
  const wanted = search.toLowerCase();
  return (
    wanted === String(Event) || Object.values(fields).some((text) => text.toLowerCase().includes(wanted))
  );
}

export function entryOfConnection(connection: Connection): Entry {
  const { DateTime, Email, FromAddress, ToAddress, Inbound, Outbound, Event } = connection;
  const time = DateTime.replace('T', ' ').replace(/\.000Z$/, 'Z');
  const parts = [time, Email, FromAddress, '→', ToAddress, `[${Inbound}`, '→', `${Outbound}]`];
  return { parts, text: parts.join(' '), level: Event === BLOCKED ? 'warn' : 'info' };
}

/** Lines that have the text, in any case. */
export function found(lines: readonly LogLine[], search: string): readonly LogLine[] {
  const wanted = search.trim().toLowerCase();
  return wanted === '' ? lines : lines.filter(({ text }) => text.toLowerCase().includes(wanted));
}
