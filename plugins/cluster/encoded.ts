// Changes of memory as JSON. They are plain data, and some of them are maps and sets, which JSON does not have.

const TAG = '$weir';
type Tagged = { readonly [TAG]: 'map' | 'set'; readonly of: unknown };

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

function encoded(this: unknown, _key: string, value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    throw new TypeError(`a change holds a ${typeof value}`);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`a change holds ${value}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (value instanceof Map) return { [TAG]: 'map', of: [...(value as Map<unknown, unknown>)] };
  if (value instanceof Set) return { [TAG]: 'set', of: [...(value as Set<unknown>)] };
  if (!isPlain(value)) throw new TypeError(`a change holds a ${value.constructor.name}`);
  return value;
}

function decoded(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(TAG in value)) return value;
  const { [TAG]: kind, of } = value as Tagged;
  if (kind === 'map') return new Map(of as [unknown, unknown][]);
  if (kind === 'set') return new Set(of as unknown[]);
  return value;
}

/** Throws for what JSON would lose, such as an instance of a class. */
export const encode = (value: unknown): string => JSON.stringify(value, encoded);
export const decode = (text: string): unknown => JSON.parse(text, decoded);
