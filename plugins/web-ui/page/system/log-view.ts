// Which log is shown, and what of it, as it stands in the address.

/** `panel` and `journal` are of the panel; `core`: the connections that users opened. */
export const LOGS = ['panel', 'journal', 'core'] as const;
export type LogName = (typeof LOGS)[number];
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LEVELS)[number];
export const WAYS = ['direct', 'blocked', 'proxied'] as const;
export type Way = (typeof WAYS)[number];
export const COUNTS = ['500', '2000', '10000'] as const;

export interface LogView {
  /** undefined: panel */
  readonly log?: Exclude<LogName, 'panel'> | undefined;
  /** the least severe one; undefined: info */
  readonly level?: Exclude<LogLevel, 'info'> | undefined;
  /** undefined: all connections */
  readonly way?: Way | undefined;
  readonly search?: string | undefined;
  /** undefined: 500 */
  readonly lines?: Exclude<(typeof COUNTS)[number], '500'> | undefined;
}

/** Longest search that the API takes. */
export const LONGEST_SEARCH = 256;

const oneOf = <T extends string>(value: unknown, all: readonly T[]): T | undefined =>
  all.find((one) => one === value);
const but = <T extends string, U extends T>(value: T | undefined, usual: U): Exclude<T, U> | undefined =>
  value === usual ? undefined : (value as Exclude<T, U> | undefined);

/** What an address says; what is usual, or said wrong, is left out. */
export function logViewOf(params: Readonly<Record<string, unknown>>): LogView {
  const log = but(oneOf(params['log'], LOGS), 'panel');
  const { search } = params;
  return {
    log,
    level: log === 'core' ? undefined : but(oneOf(params['level'], LEVELS), 'info'),
    way: log === 'core' ? oneOf(params['way'], WAYS) : undefined,
    search: typeof search === 'string' && search !== '' ? search.slice(0, LONGEST_SEARCH) : undefined,
    lines: but(oneOf(params['lines'], COUNTS), '500'),
  };
}
