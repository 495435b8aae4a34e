// When the report is due, as older panels write it.
import { Cron } from 'croner';

const NICKNAME = /^@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)$/;
const EVERY = /^@every ((?:\d{1,5}[hms])+)$/;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };
const LEAST_MS = 60_000;
const LONGEST_MS = 366 * 24 * 3_600_000;
const WRONG = 'it must be like @daily, @every 8h, or a cron expression of five or six fields';

function everyOf(text: string): number | undefined {
  const parts = EVERY.exec(text)?.[1];
  if (parts === undefined) return undefined;
  return [...parts.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, number, unit = 's']) => sum + Number(number) * (UNIT_MS[unit] ?? 0),
    0,
  );
}

/** croner reads other texts as dates, and has more than POSIX. */
function cronOf(text: string, zone: string | undefined): Cron | undefined {
  const fields = text.split(/\s+/).length;
  const isCron = NICKNAME.test(text) || ((fields === 5 || fields === 6) && !text.includes(':'));
  if (!isCron) return undefined;
  try {
    return new Cron(text, { paused: true, ...(zone !== undefined && { timezone: zone }) });
  } catch {
    return undefined;
  }
}

/** Returns what is wrong with a text that is not blank. */
export function runTimeProblem(text: string): string | undefined {
  const every = everyOf(text);
  if (every !== undefined)
    return every < LEAST_MS || every > LONGEST_MS ? 'the interval is from one minute to a year' : undefined;
  const cron = cronOf(text, undefined);
  if (!cron) return WRONG;
  return cron.nextRun(new Date(0)) ? undefined : 'the time never comes';
}

/** The first time after `from`; undefined for a blank text, or one that never comes. */
export function nextRun(text: string, from: number, zone: string | undefined): number | undefined {
  if (text === '') return undefined;
  const every = everyOf(text);
  if (every !== undefined) return from + Math.max(every, LEAST_MS);
  return cronOf(text, zone)?.nextRun(new Date(from))?.getTime();
}
