// Limits of one call: those of the plugin's access or of the call, within fixed bounds.
import type { CallLimits } from './contract.js';

interface Limit {
  readonly usual: number;
  readonly least: number;
  readonly most: number;
}
const HOUR_MS = 3_600_000;
const LIMITS: { readonly [K in keyof CallLimits]: Limit } = {
  connectMs: { usual: 10_000, least: 1, most: HOUR_MS },
  firstByteMs: { usual: 30_000, least: 1, most: HOUR_MS },
  wholeMs: { usual: 60_000, least: 1, most: HOUR_MS },
  maxBytes: { usual: 10 * 1024 * 1024, least: 0, most: 1024 * 1024 * 1024 },
  redirects: { usual: 5, least: 0, most: 20 },
};

export function limitProblem(limits: unknown): string | undefined {
  if (typeof limits !== 'object' || limits === null) return 'limits must be an object';
  for (const [name, value] of Object.entries(limits)) {
    const limit = (LIMITS as Readonly<Record<string, Limit | undefined>>)[name];
    if (!limit) return `there is no limit ${name}; there are ${Object.keys(LIMITS).join(', ')}`;
    if (!Number.isSafeInteger(value) || value < limit.least || value > limit.most)
      return `the limit ${name} must be an integer from ${limit.least} to ${limit.most}`;
  }
  return undefined;
}

const usual = Object.fromEntries(
  Object.entries(LIMITS).map(([name, limit]) => [name, limit.usual]),
) as unknown as CallLimits;

export const limitsOf = (...given: readonly (Partial<CallLimits> | undefined)[]): CallLimits =>
  Object.assign({}, usual, ...given) as CallLimits;
