// One line of `journalctl --output=json`.
import type { LoggedLine, LogLevel } from './contract.js';
import { ofSeverity } from './levels.js';

const OWN_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

interface Entry {
  /** journald writes bytes that are not UTF-8 as a list of numbers, and a very long text as null */
  readonly MESSAGE?: string | readonly number[] | null;
  readonly PRIORITY?: string;
  /** µs since 1970 */
  readonly __REALTIME_TIMESTAMP?: string;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The panel's own lines are JSON with their level; the journal has the same priority for all of them. Undefined for a line that is no entry. */
export function entryOf(text: string): LoggedLine | undefined {
  const entry = parsed(text);
  if (!isRecord(entry)) return undefined;
  const { MESSAGE, PRIORITY, __REALTIME_TIMESTAMP: time } = entry as Entry;
  const at = Math.floor(Number(time) / 1000) || 0;
  const words = Array.isArray(MESSAGE) ? Buffer.from(MESSAGE as number[]).toString('utf8') : MESSAGE;
  if (typeof words !== 'string') return { at, level: ofSeverity(Number(PRIORITY ?? 6)), text: '[too long]' };
  const own = words.startsWith('{') ? parsed(words) : undefined;
  if (isRecord(own) && OWN_LEVELS.includes(own['level'] as LogLevel) && typeof own['msg'] === 'string') {
    const { time: written, level, msg, ...fields } = own;
    const details = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : '';
    return {
      at: Date.parse(String(written)) || at,
      level: level as LogLevel,
      text: `${String(msg)}${details}`,
    };
  }
  return { at, level: ofSeverity(Number(PRIORITY ?? 6)), text: words };
}
