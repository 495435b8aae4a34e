// A version is a digest of what people can change of a record: the same after a restart, and no column has to follow.
import { hash } from 'node:crypto';
import { VERSION_LENGTH } from './if-match.js';

/** Whether the keys of an object in it may have another order; a list of plain values is told at once. */
const hasKeys = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (!Array.isArray(value) || value.some(hasKeys));

/** JSON whose objects have their keys in order: a database may return them in another one than it was given. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value) && !value.some(hasKeys)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`)
    .join()}}`;
}

export const digestOf = (facts: unknown): string =>
  hash('sha256', canonical(facts), 'hex').slice(0, VERSION_LENGTH);
