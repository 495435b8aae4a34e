// JSON lines, or readable text on a terminal. The message is constant, data goes into fields, secrets are left out.
import { messageOf } from '../kernel/errors/errors.js';
import type { Log } from '../kernel/log/log.js';
import type { LoggedLine, LogLevel } from '../plugins/panel-logs/contract.js';

export type Level = LogLevel;
export const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[];

const SECRET =
  /^(password|token|secret|cookie|authorization|privateKey|apiToken|uuid)$|password$|token$|secret$/i;

function plain(key: string, value: unknown): unknown {
  if (SECRET.test(key) && (typeof value === 'string' || (typeof value === 'object' && value !== null)))
    return '***';
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Error) {
    const { name, message, stack, cause, ...rest } = value as Error & Record<string, unknown>;
    return { name, message, ...rest, stack, ...(cause === undefined ? {} : { cause }) };
  }
  return value;
}

/** Most characters of one line, and of each value in a longer line: one line of megabytes would push out all others. */
const LONGEST = 256 * 1024;
const LONGEST_VALUE = 4096;

/** Copies a value for the log. A log that throws would make a small problem big, so circular references are cut and getters that throw are left out. `fixed` fields cannot be overwritten. */
function written(fixed: object, data: object): string {
  try {
    const record = { ...fixed, ...data, ...fixed };
    const text = textOf(record);
    if (text.length <= LONGEST) return text;
    const short = Object.entries(record).map(([key, value]) => {
      const { length } = textOf({ [key]: value });
      return [key, length > LONGEST_VALUE ? `[${length} characters]` : value] as const;
    });
    return textOf(Object.fromEntries(short.slice(0, LONGEST / LONGEST_VALUE)));
  } catch (error) {
    return JSON.stringify({ ...fixed, unwritable: messageOf(error) });
  }
}
function textOf(record: object): string {
  try {
    return JSON.stringify(record, plain);
  } catch {
    return withoutCycles(record);
  }
}
function withoutCycles(record: object): string {
  try {
    const seen = new WeakSet<object>();
    return JSON.stringify(record, (key, value: unknown) => {
      if (typeof value !== 'object' || value === null) return plain(key, value);
      if (seen.has(value)) return '[again]';
      seen.add(value);
      return plain(key, value);
    });
  } catch (error) {
    // A value threw while it was read: log the line without the values that may do so.
    const texts = Object.entries(record).filter(([, value]) => typeof value !== 'object');
    return JSON.stringify({ ...Object.fromEntries(texts), unwritable: messageOf(error) });
  }
}

export interface LogOptions {
  /** read for each line, so it may change */
  readonly level: Level;
  /** readable text instead of JSON */
  readonly readable: boolean;
  readonly write: (line: string) => void;
  /** receives each line that is written */
  readonly keep?: (line: LoggedLine) => void;
}

export function createLog(options: LogOptions, bound: object = {}): Log {
  const line =
    (level: Level) =>
    (message: string, data: object = {}) => {
      if (levels.indexOf(level) < levels.indexOf(options.level)) return;
      const now = new Date();
      const time = now.toISOString();
      const text = (): string => {
        const details = written(bound, data);
        return details === '{}' ? message : `${message} ${details}`;
      };
      options.write(
        options.readable
          ? `${time.slice(11, 19)} ${level.padEnd(5)} ${text()}\n`
          : `${written({ time, level, msg: message, ...bound }, data)}\n`,
      );
      options.keep?.({ at: now.getTime(), level, text: text() });
    };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (more) => createLog(options, { ...bound, ...more }),
  };
}
