// Values that a schema allows by name, beside the rules of its type.
export type Draft = Record<string, unknown>;

export const isJson = (value: unknown): boolean =>
  value !== undefined &&
  typeof value !== 'function' &&
  !(typeof value === 'object' && value !== null && ('special' in value || 'override' in value));

/** Whether the empty text, which joi allows by name, fits the rules of the type anyway. */
export function takesEmpty({
  minLength = 0,
  pattern = '',
  format,
  anyOf,
  contentEncoding,
  not,
  allOf,
}: Draft): boolean {
  return (
    minLength === 0 &&
    new RegExp(pattern as string, 'u').test('') &&
    ![format, anyOf, contentEncoding, not, allOf].some((part) => part !== undefined)
  );
}

export function typeOfAll(values: readonly unknown[]): Draft {
  const types = [
    ...new Set(
      values.map((value) => (value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value)),
    ),
  ];
  return types.includes('object') ? {} : { type: types.length === 1 ? types[0] : types };
}
