// Freezes values that plugins pass to each other: a change by one plugin would affect all others.

/** Freezes lists and plain objects at all levels, and returns the value. Instances of classes are left alone. */
export function frozen<T>(value: T): T {
  freeze(value, new WeakSet());
  return value;
}

function freeze(value: unknown, done: WeakSet<object>): void {
  if (typeof value !== 'object' || value === null || done.has(value)) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return;
  done.add(value);
  Object.freeze(value);
  // Does not read the property: a getter may do work.
  for (const { value: inner } of Object.values(Object.getOwnPropertyDescriptors(value))) freeze(inner, done);
}

/** Freezes a payload and the lists in it, which all taps of a hook receive. Not deeper: it may hold thousands of rows that stay in use. */
export function handedOut<P>(payload: P): P {
  if (typeof payload !== 'object' || payload === null || Object.isFrozen(payload)) return payload;
  if (Array.isArray(payload)) return Object.freeze(payload);
  for (const value of Object.values(payload)) if (Array.isArray(value)) Object.freeze(value);
  return Object.freeze(payload);
}

/** Freezes a value, and the items of a list, so that a failing tap cannot change what the next one receives. */
export function frozenItems<T>(value: T): T {
  if (Array.isArray(value)) for (const item of value) Object.freeze(item);
  return Object.freeze(value);
}
