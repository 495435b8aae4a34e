// Which settings a form has changed, as the panel takes them: what was cleared is sent as blank.
import { fieldsOf, type JsonSchema, type Values } from '../forms/schema.js';

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

/** The values that may wait in the storage of the browser, and the secrets, which may not. */
export function apart(
  schema: JsonSchema,
  values: Values,
): { readonly open: Values; readonly secret: Values } {
  const isSecret = new Set(
    fieldsOf(schema)
      .filter(({ words }) => words.secret)
      .map(({ name }) => name),
  );
  const of = (wanted: boolean): Values =>
    Object.fromEntries(Object.entries(values).filter(([name]) => isSecret.has(name) === wanted));
  return { open: of(false), secret: of(true) };
}
