// What plugins hand to each other is nobody's to change: a change would outlive whoever made it.

/** Freezes lists and plain objects, as deep as they go, and returns the value. Instances of classes keep their own rules. */
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
  // Not by reading: a getter may do work.
  for (const { value: inner } of Object.values(Object.getOwnPropertyDescriptors(value))) freeze(inner, done);
}

/** Freezes a payload and the lists in it, which all taps of a hook get: no more than that, for it may hold rows by the thousand that live on. */
export function handedOut<P>(payload: P): P {
  if (typeof payload !== 'object' || payload === null || Object.isFrozen(payload)) return payload;
  if (Array.isArray(payload)) return Object.freeze(payload);
  for (const value of Object.values(payload)) if (Array.isArray(value)) Object.freeze(value);
  return Object.freeze(payload);
}

/** Freezes a value, and the items of a list: no tap changes in place what the next one is given when this one fails. */
export function frozenItems<T>(value: T): T {
  if (Array.isArray(value)) for (const item of value) Object.freeze(item);
  return Object.freeze(value);
}
