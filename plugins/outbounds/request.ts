// Reads the outbounds of a request: JSON as text, as forms send it, or as it is.
import {
  custom,
  describedAs,
  inspect,
  type Issue,
  jsonObject,
  kernelErrors,
  text,
} from '../../kernel/index.js';
import Joi from 'joi';
import type { JsonObject } from '../engine/contract.js';
import { MOST_VALUES, tagOf, valuesIn } from './outbound-json.js';

/** An outbound with certificates in it has some KiB. */
const LONGEST_TEXT = 2_000_000;
export const MOST_TESTED = 50;
/** as many as a template may have, and those of other plugins */
const MOST_OUTBOUNDS = 5_000;
/** tags in an error */
const MOST_NAMED = 20;
const LONGEST_SHOWN = 100;

const anyJson = <T>(json: Joi.Schema, description: string, type: 'object' | 'array') =>
  describedAs(custom<T>(Joi.alternatives(text().max(LONGEST_TEXT), json)), {
    anyOf: [{ type: 'string' }, { type }],
    description,
  });

export const OutboundField = () =>
  anyJson<string | object>(
    Joi.object().unknown(true),
    'an outbound of the core, as JSON text or as an object; or the tag of one of the config',
    'object',
  );
export const OutboundsField = (description: string) =>
  anyJson<string | readonly unknown[]>(Joi.array().items(Joi.any()), description, 'array');

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const refuse = (path: string, message: string) => {
  const issues: Issue[] = [{ path, message: `${path}: ${message}` }];
  return kernelErrors.INVALID(`${path}: ${message}`, { issues });
};

const WRAPPED = jsonObject();

/** A text has the limits of a body: nothing else runs while it is parsed. */
function parsed(value: unknown, path: string): unknown {
  if (typeof value !== 'string') return value;
  const read = inspect(WRAPPED, `{"sent":${value}}`, { first: true });
  if ('value' in read) return read.value['sent'];
  throw refuse(path, (read.issues[0]?.message ?? '').replace(/^.*?\bit /, 'it '));
}

function checked(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw refuse(path, 'it must be a JSON object, an outbound of the core');
  if (valuesIn(value) > MOST_VALUES) throw refuse(path, `it holds more than ${MOST_VALUES} values`);
  return value;
}

/** @param known outbounds that may be named by their tags. Throws KERNEL_INVALID. */
export function readOutbound(sent: unknown, path: string, known: readonly JsonObject[]): JsonObject {
  if (typeof sent !== 'string' || sent.trimStart().startsWith('{')) return checked(parsed(sent, path), path);
  const found = known.find((outbound) => tagOf(outbound) === sent.trim());
  if (found) return found;
  const tags = known.slice(0, MOST_NAMED).map(tagOf).join(', ');
  throw refuse(
    path,
    `no outbound of the config has the tag ${JSON.stringify(sent.slice(0, LONGEST_SHOWN))}; there ${known.length === 0 ? 'are none' : `are ${tags}`}. To test another one, send it as JSON`,
  );
}

function listIn(sent: unknown, path: string, most: number): readonly unknown[] {
  const list = parsed(sent, path);
  if (!Array.isArray(list)) throw refuse(path, 'it must be a list of outbounds of the core');
  if (list.length > most) throw refuse(path, `it has ${list.length} entries; the most are ${most}`);
  return list;
}

/** As `readOutbound`. Throws KERNEL_INVALID. */
export const readTested = (sent: unknown, path: string, known: readonly JsonObject[]): JsonObject[] =>
  listIn(sent, path, MOST_TESTED).map((entry, at) => readOutbound(entry, `${path}.${at}`, known));

/** Throws KERNEL_INVALID. */
export const readOutbounds = (sent: unknown, path: string): JsonObject[] =>
  listIn(sent, path, MOST_OUTBOUNDS).map((outbound, at) => checked(outbound, `${path}.${at}`));
