// When the report is due: the setting msgBotRunTime.
import { Cron } from 'croner';

const EVERY = /^@every (?:(\d{1,4})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?$/;
const NAMES = ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'];
const MINUTE_MS = 60_000;
const LONGEST_MS = 366 * 24 * 60 * MINUTE_MS;

function intervalOf(runTime: string): number | undefined {
  const parts = EVERY.exec(runTime);
  if (!parts) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
}

const cronOf = (runTime: string, zone?: string): Cron =>
  new Cron(runTime, {
    mode: runTime.startsWith('@') || runTime.split(/\s+/).length === 5 ? '5-part' : '6-part',
    paused: true,
    ...(zone !== undefined && { timezone: zone }),
  });

/** Why the setting is not valid; undefined if it is. */
export function runTimeProblem(runTime: string): string | undefined {
  if (runTime.startsWith('@every')) {
    const interval = intervalOf(runTime);
    return interval === undefined || interval < MINUTE_MS || interval > LONGEST_MS
      ? 'an interval is written like @every 8h or @every 1d12h, and is between a minute and a year'
      : undefined;
  }
  const hint =
    'it must be @hourly, @daily, @weekly, @monthly, @every 8h, or a cron expression of five or six fields';
  if (runTime.startsWith('@') ? !NAMES.includes(runTime) : ![5, 6].includes(runTime.split(/\s+/).length))
    return hint;
  try {
    return cronOf(runTime).nextRun() === null ? 'this time never comes' : undefined;
  } catch {
    return hint;
  }
}

/** Unix ms of the first time after `from`. Without a zone, times are those of the machine. */
export function nextRun(runTime: string, from: number, zone: string | undefined): number {
  const interval = intervalOf(runTime);
  if (interval !== undefined) return from + interval;
  return cronOf(runTime, zone).nextRun(new Date(from))?.getTime() ?? Number.POSITIVE_INFINITY;
}
