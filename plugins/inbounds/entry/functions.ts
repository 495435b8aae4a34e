// Registers the functions of templates that protocols made. Functions run for every fetch: what other
// plugins make of an entry may keep these functions, but not add any.
import type { EntryTemplate } from './entry.js';

type Value = (client: never) => unknown;
const ours = new WeakSet<Value>();

const isFunction = (value: unknown): value is Value => typeof value === 'function';
export const isOurs = (value: unknown): boolean => isFunction(value) && ours.has(value);

type Security = Pick<EntryTemplate, 'security'>;
const functionsOf = (fields: object): Value[] => Object.values(fields).filter(isFunction);

/** Notes the functions of a template or of its base as ours, and returns it. */
export function noteFunctions<T extends Security & Partial<Pick<EntryTemplate, 'account'>>>(template: T): T {
  for (const value of [...functionsOf(template.account ?? {}), ...functionsOf(template.security)])
    ours.add(value);
  return template;
}

const mapped = (fields: object, make: (value: Value) => Value): object =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      isFunction(value) && !ours.has(value) ? make(value) : value,
    ]),
  );

/** Puts another function in the place of each that is not ours. */
export function withFunctions(
  template: EntryTemplate,
  make: (value: (client: never) => unknown) => (client: never) => unknown,
): EntryTemplate {
  return {
    ...template,
    account: mapped(template.account, make) as EntryTemplate['account'],
    security: mapped(template.security, make) as EntryTemplate['security'],
  };
}
