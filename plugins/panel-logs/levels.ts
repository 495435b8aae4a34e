// Names of levels: those of syslog (RFC 5424), which older programs send, and those of the panel.
import type { LogLevel } from './contract.js';

/** The number of a name is its severity in syslog. */
const SYSLOG = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;
const BY_SEVERITY: readonly LogLevel[] = [
  'error',
  'error',
  'error',
  'error',
  'warn',
  'info',
  'info',
  'debug',
];

const LEVELS: ReadonlyMap<string, LogLevel> = new Map<string, LogLevel>([
  ...SYSLOG.flatMap((name, severity) => {
    const level = ofSeverity(severity);
    return [[name, level] as const, [String(severity), level] as const];
  }),
  ['error', 'error'],
  ['warn', 'warn'],
]);

export const LEVEL_NAMES: readonly string[] = [...LEVELS.keys()];

/** Returns the panel's level for a name of `LEVEL_NAMES`. */
export const levelOf = (name: string): LogLevel => LEVELS.get(name) ?? 'info';
/** Returns the panel's level for a priority of the journal. */
export function ofSeverity(severity: number): LogLevel {
  return BY_SEVERITY[severity] ?? 'info';
}
