// Values as careless callers send them: null and blanks for what they do not set, numbers with fractions or as text.
import { PanelError } from '../../kernel/index.js';

/** More mistakes than these are no carelessness. */
const MOST_REPAIRS = 20;
const NUMBER = /^-?\d{1,15}(?:\.\d+)?$/;
/** Names one thing: its neighbour is another one. */
const NAMES_ONE = /(?:^|\.)(?:id|port|\w*Ids?)(?:\.\d+)?$/;
const SWITCHES = new Map([
  ...['true', 'True', '1'].map((on) => [on, true] as const),
  ...['false', 'False', '0'].map((off) => [off, false] as const),
]);

type Holder = Record<string, unknown>;
const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;
/** The name comes from the caller: `__proto__` must not lead out of the body. */
const hasOwn = (value: unknown, name: string): value is Holder =>
  isHolder(value) && Object.hasOwn(value, name);

/** Without its fraction. What would become 0 stays: 0 means no limit where 0.5 means a small one. */
function wholeOf(value: number, path: string): number | undefined {
  const whole = Math.trunc(value);
  return whole === value || (whole !== 0 && !NAMES_ONE.test(path)) ? whole : undefined;
}

const isWhole = (value: unknown): boolean => Number.isInteger(Number(value));

/** Undefined where nothing is known to be meant. */
function meant(value: unknown, { path, message }: PanelError['issues'][number]): unknown {
  if (typeof value === 'number') {
    if (/boolean/.test(message)) return value === 0 || value === 1 ? value === 1 : undefined;
    // A larger one has lost digits already.
    if (/string/.test(message)) return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : undefined;
    return Number.isInteger(value) ? undefined : wholeOf(value, path);
  }
  if (typeof value !== 'string') return undefined;
  if (/boolean/.test(message)) return SWITCHES.get(value);
  return NUMBER.test(value) && /number|integer/.test(message) ? wholeOf(Number(value), path) : undefined;
}

/** A copy of a refused body in which every value that the error names is what it seems to mean; undefined if one of them means nothing. Null and blank mean that it was not sent. */
export function repaired(body: unknown, error: unknown): unknown {
  if (!(error instanceof PanelError) || !isHolder(body)) return undefined;
  if (error.issues.length === 0 || error.issues.length > MOST_REPAIRS) return undefined;
  const copy = structuredClone(body);
  for (const issue of error.issues) {
    const names = issue.path.split('.');
    const last = names.pop() ?? '';
    const holder = names.reduce<unknown>((at, name) => (hasOwn(at, name) ? at[name] : undefined), copy);
    if (!hasOwn(holder, last)) return undefined;
    const value = holder[last];
    if ((value === null || value === '') && !Array.isArray(holder)) delete holder[last];
    else {
      // A number in a list is an id: a part of it means another inbound.
      const instead = Array.isArray(holder) && !isWhole(value) ? undefined : meant(value, issue);
      if (instead === undefined) return undefined;
      holder[last] = instead;
    }
  }
  return copy;
}
