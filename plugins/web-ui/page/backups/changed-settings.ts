// Which settings a form has changed, as the panel takes them: what was cleared is sent as blank.
import type { JsonSchema, Values } from '../forms/schema.js';

const blankOf = (before: unknown): unknown =>
  Array.isArray(before) ? [] : typeof before === 'string' ? '' : undefined;

export function changedSettings(schema: JsonSchema, before: Values, after: Values): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const name of Object.keys(schema.properties ?? {})) {
    const value = after[name] ?? blankOf(before[name]);
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(before[name])) changed[name] = value;
  }
  return changed;
}
