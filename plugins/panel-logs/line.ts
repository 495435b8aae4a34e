// A line of the log as programs for 3x-ui read it: `2026/11/23 08:15:04 WARNING - message {"field":1}`
import type { LoggedLine, LogLevel } from './contract.js';

const NAMES: Readonly<Record<LogLevel, string>> = {
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
};

/** @param zone IANA time zone; the machine's without it */
export function lineWriter(zone: string | undefined): (line: LoggedLine) => string {
  // Sweden writes dates as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    ...(zone !== undefined && { timeZone: zone }),
  });
  /** Most lines of a list are of a few seconds. */
  let last = { second: Number.NaN, text: '' };
  return ({ at, level, text }) => {
    const second = Math.floor(at / 1000);
    if (second !== last.second) last = { second, text: format.format(at).replaceAll('-', '/') };
    return `${last.text} ${NAMES[level]} - ${text}`;
  };
}
