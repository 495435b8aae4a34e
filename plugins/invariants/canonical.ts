// Values as texts: equal values have equal texts, whatever the order of keys and of entries.

/** Things that are the same only if they are one: functions, and instances of classes that hide their parts. */
const numbers = new WeakMap<object, number>();
let last = 0;
function reference(value: object): string {
  const known = numbers.get(value) ?? ++last;
  numbers.set(value, known);
  return `#${known}`;
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

export function canonical(value: unknown): string {
  if (typeof value === 'function') return reference(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value instanceof Set) return `{${[...value].map(canonical).sort().join()}}`;
  if (value instanceof Map)
    return `{${[...value]
      .map(([key, own]) => `${canonical(key)}:${canonical(own)}`)
      .sort()
      .join()}}`;
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (value instanceof Date) return String(value.getTime());
  // Rows of Sequelize and other instances without hidden parts.
  if (!isPlain(value) && Object.keys(value).length === 0) return reference(value);
  const entries = Object.entries(value).filter(([, own]) => own !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, own]) => `${JSON.stringify(key)}:${canonical(own)}`)
    .join()}}`;
}
