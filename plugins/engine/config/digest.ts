// Digests by which what should run is compared with what runs.
import { createHash } from 'node:crypto';
import type { Json } from '../driver.js';

const canonical = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner as Json)]),
  );
};
/** 32 hexadecimal digits; the order of keys does not matter. */
export const digestOf = (value: Json): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(value)))
    .digest('hex')
    .slice(0, 32);
