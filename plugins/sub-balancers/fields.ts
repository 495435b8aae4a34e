// The fields of a balancer, each declared once, and how programs send them: as JSON or as a form, where everything is text.
import {
  anything,
  bool,
  column,
  custom,
  describedAs,
  field,
  Fields,
  int,
  list,
  mapOf,
  num,
  oneOf,
  optional,
  shape,
  type Static,
  text,
  type Values,
} from '../../kernel/index.js';
import { version } from '../record-versions/contract.js';

export const STRATEGIES = ['random', 'roundRobin', 'leastPing', 'leastLoad'] as const;
export type Strategy = (typeof STRATEGIES)[number];
/** by the id of an inbound */
export type Weights = Readonly<Record<string, number>>;

const MOST_INBOUNDS = 1000;
const LARGEST_WEIGHT = 1_000_000;

const balancerFields = {
  remark: field({ column: column.text(), schema: text(), initial: '' }),
  strategy: field({ column: column.text<Strategy>(), schema: oneOf(...STRATEGIES), initial: 'random' }),
  inboundIds: field({
    column: column.json<readonly number[]>(),
    schema: list(int()),
    initial: (): readonly number[] => [],
  }),
  memberWeights: field({
    column: column.json<Weights>(),
    schema: mapOf(num()),
    initial: (): Weights => ({}),
  }),
  sortOrder: field({ column: column.integer(), schema: int(), initial: 1 }),
  enabled: field({ column: column.bool(), schema: bool(), initial: true }),
  createdAt: field({ column: column.integer(), schema: int(), initial: 0 }),
  updatedAt: field({ column: column.integer(), schema: int(), initial: 0 }),
};
export const balancerRecord = new Fields(balancerFields);
export type BalancerFields = Values<typeof balancerFields>;
export interface Balancer extends Readonly<BalancerFields> {
  readonly id: number;
}

/** Of one item of a list. */
class ItemError extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/** Reads a value however it was sent; null and blank mean `blank`, which is nothing unless given. */
const read = <T>(description: Readonly<Record<string, unknown>>, reader: (value: unknown) => T, blank?: T) =>
  optional(
    custom<T | undefined>(
      describedAs(anything(), description)
        // The function below never sees null; `changedFields` reads it as blank.
        .allow(null)
        .custom((value: unknown, state) => {
          if (value === '') return blank;
          try {
            return reader(value);
          } catch (error) {
            const here = state.state;
            const path = [...(here.path ?? []), ...(error instanceof ItemError ? [error.index] : [])];
            return state.error('any.custom', { error: error as Error }, here.localize?.(path));
          }
        }),
    ),
  );

function fromJson(value: string, what: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw new Error(`it is not ${what} in JSON`);
  }
}
const numberOf = (value: unknown): number =>
  typeof value === 'string' && value.trim() !== ''
    ? Number(value)
    : typeof value === 'number'
      ? value
      : Number.NaN;
function idOf(value: unknown): number {
  const id = numberOf(value);
  if (!Number.isSafeInteger(id) || id < 1)
    throw new Error(`${JSON.stringify(value)} is not the id of an inbound`);
  return id;
}

/** A list, a key that is repeated, one id, or a text with commas or JSON. */
function idsOf(value: unknown): number[] {
  const items = (Array.isArray(value) ? value : [value]).flatMap((item: unknown): unknown[] => {
    if (typeof item !== 'string') return [item];
    const trimmed = item.trim();
    return trimmed.startsWith('[')
      ? [fromJson(trimmed, 'a list')].flat()
      : trimmed.split(',').filter((part) => part.trim() !== '');
  });
  if (items.length > MOST_INBOUNDS) throw new Error(`it has more than ${MOST_INBOUNDS} inbounds`);
  const ids = items.map((item, i) => {
    try {
      return idOf(item);
    } catch (error) {
      throw new ItemError(i, (error as Error).message);
    }
  });
  return [...new Set(ids)];
}

function weightsOf(value: unknown): Weights {
  const given = typeof value === 'string' ? fromJson(value, 'an object') : value;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Error('it must map ids of inbounds to weights, like {"3": 0.5}');
  const entries = Object.entries(given);
  if (entries.length > MOST_INBOUNDS) throw new Error(`it has more than ${MOST_INBOUNDS} weights`);
  return Object.fromEntries(
    entries.map(([id, weight]) => {
      const number = numberOf(weight);
      if (!(number > 0 && number <= LARGEST_WEIGHT))
        throw new Error(`the weight of ${idOf(id)} must be a number above 0 and up to ${LARGEST_WEIGHT}`);
      return [String(idOf(id)), number];
    }),
  );
}

/** 1-based; what is lower is 1. */
function placeOf(value: unknown): number {
  const place = numberOf(value);
  if (!Number.isSafeInteger(place)) throw new Error('it must be an integer');
  return Math.max(place, 1);
}

function flagOf(value: unknown): boolean {
  const text = String(value).toLowerCase();
  if (['true', '1', 'on'].includes(text)) return true;
  if (['false', '0', 'off'].includes(text)) return false;
  throw new Error('it must be true or false');
}

function strategyOf(value: unknown): Strategy {
  const known = STRATEGIES.find((name) => name === value);
  if (known === undefined) throw new Error(`it must be one of ${STRATEGIES.join(', ')}`);
  return known;
}

export const SentBalancer = shape({
  remark: optional(
    text()
      .trim()
      .prefs({ convert: true })
      .max(256)
      .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters')
      .description('name of the document'),
  ),
  // A blank one is the initial one, which is not the same as none.
  strategy: read({ type: 'string', enum: STRATEGIES, default: 'random' }, strategyOf, 'random'),
  inboundIds: read(
    {
      anyOf: [{ type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1 }, { type: 'string' }],
      description: 'at least one; in a form the key is repeated; a text with commas or JSON is taken as well',
    },
    idsOf,
  ),
  memberWeights: read(
    {
      anyOf: [
        {
          type: 'object',
          propertyNames: { pattern: '^[1-9][0-9]{0,14}$' },
          additionalProperties: { type: 'number', exclusiveMinimum: 0, maximum: LARGEST_WEIGHT },
        },
        { type: 'string' },
      ],
      description:
        'weight above 0 by the id of an inbound, also as JSON text; for leastLoad, 1 for the others',
    },
    weightsOf,
  ),
  sortOrder: read(
    { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, default: 1 },
    placeOf,
  ),
  enabled: read({ type: 'boolean', default: true }, flagOf),
}).example({ remark: 'Fastest', strategy: 'leastLoad', inboundIds: [1], memberWeights: { 1: 3 } });
export type SentBalancer = Static<typeof SentBalancer>;
/** Of a new one. */
export const NewBalancer = SentBalancer.fork(['remark', 'inboundIds'], (schema) => schema.required());

export const BalancerId = shape({ id: int().min(1).example(1) });
export const BalancerReply = shape({ id: int(), ...balancerRecord.schemas, version: version() });
