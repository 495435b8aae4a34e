// Finds keys that a caller sent and no schema knows: a program must learn that they had no effect.
import type Joi from 'joi';
import { term } from './slices.js';
import { TimeSlice } from './time-slice.js';

/** Most names to collect and to say, and characters of each. */
const MOST_FOUND = 50;
const MOST_SAID = 10;
const LONGEST = 60;

type Meta = { readonly echoed?: readonly string[]; readonly describedAs?: Joi.Schema };

const fieldOf = (schema: Joi.Schema, name: string): Joi.Schema | undefined =>
  term<{ key: string; schema: Joi.Schema }>(schema, 'keys').find(({ key }) => key === name)?.schema;
/** Whether a schema keeps keys that it does not list. */
const isOpen = (schema: Joi.Schema): boolean =>
  !schema.$_terms['keys'] || schema._flags['unknown'] === true || term(schema, 'patterns').length > 0;
const isEchoed = (schema: Joi.Schema, key: string): boolean =>
  term<Meta>(schema, 'metas').some(({ echoed }) => echoed?.includes(key));

/** The schema of objects, where a schema is described by another one or has alternatives. */
function resolve(schema: Joi.Schema): Joi.Schema {
  const described = term<Meta>(schema, 'metas').find(({ describedAs }) => describedAs)?.describedAs;
  if (described) return resolve(described);
  const [first] = term<{ readonly schema?: Joi.Schema }>(schema, 'matches');
  return first?.schema ? resolve(first.schema) : schema;
}

/** Whether a value says something; programs that send every field send blank ones, in forms as text. */
function carries(value: unknown): boolean {
  if (value === '0' || value === 'false') return false;
  if (typeof value !== 'object' || value === null) return Boolean(value);
  for (const key in value) if (carries((value as Record<string, unknown>)[key])) return true;
  return false;
}

/** Marks keys that replies have and callers send back: they are dropped, and not reported as unknown. */
export const echoing = <S extends Joi.Schema>(schema: S, echoed: readonly string[]): S =>
  schema.meta({ echoed }) as S;

/** Adds the paths of unknown keys with a value to `into`, as `fooBar` or `list[].fooBar`; the first 50. */
export async function findUnknownKeys(
  schema: Joi.Schema,
  value: unknown,
  into: Set<string>,
  at = '',
): Promise<void> {
  const slice = new TimeSlice();
  const look = async (described: Joi.Schema, part: unknown, path: string): Promise<void> => {
    if (typeof part !== 'object' || part === null) return;
    const known = resolve(described);
    const [item] = term<Joi.Schema>(known, 'items');
    for (const key in part) {
      if (into.size >= MOST_FOUND) return;
      if (slice.isOver) await slice.next();
      const inner = (part as Record<string, unknown>)[key];
      const own = Array.isArray(part) ? item : fieldOf(known, key);
      const whole = Array.isArray(part) ? `${path}[]` : path && `${path}.${key}`;
      if (own && typeof inner === 'object') await look(own, inner, whole || key);
      else if (!own && !isOpen(known) && !isEchoed(known, key) && carries(inner)) into.add(whole || key);
    }
  };
  await look(schema, value, at);
}

const printable = (name: string): string => name.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, LONGEST);

/** The message with the names of keys that had no effect. */
export function withIgnored(sentence: unknown, ignored: ReadonlySet<string>): string {
  const message = typeof sentence === 'string' ? sentence : '';
  if (ignored.size === 0) return message;
  const said = [...ignored].slice(0, MOST_SAID).map(printable).join(', ');
  const rest = ignored.size - MOST_SAID;
  return `${message}${message && '; '}ignored: ${said}${rest > 0 ? ` and ${rest} more` : ''}`;
}
