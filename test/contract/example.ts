// Values that a JSON Schema takes, made without chance: the same schema gives the same value.

type JsonSchema = { readonly [key: string]: unknown };

/** Texts that fit most patterns; a schema whose rules none fits says one by `.example(…)`. */
const TEXTS = [
  'example',
  'example.org',
  '1',
  'a',
  'example-text',
  'https://example.org/',
  '/example/',
  '192.0.2.1',
  '192.0.2.0/24',
  'example@example.org',
  '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  '2030-01-01T00:00:00Z',
  '0 0 * * *',
  'ZXhhbXBsZQ==',
  '00',
  '00:00',
  '0'.repeat(32),
  '0'.repeat(64),
  '',
];
const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  uri: 'https://example.org/',
  email: 'example@example.org',
  'date-time': '2030-01-01T00:00:00Z',
  hostname: 'example.org',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

function textFor(schema: JsonSchema, at: string): string {
  const {
    minLength = 0,
    maxLength = Infinity,
    format,
    contentEncoding,
    not,
    allOf = [],
    anyOf = [],
  } = schema as {
    minLength?: number;
    maxLength?: number;
    format?: string;
    contentEncoding?: string;
    not?: { pattern?: string };
    allOf?: { pattern?: string }[];
    anyOf?: { format?: string }[];
  };
  const patterns = [schema['pattern'] as string | undefined, ...allOf.map(({ pattern }) => pattern)]
    .filter((pattern) => pattern !== undefined)
    .map((pattern) => new RegExp(pattern, 'u'));
  const wanted = format ?? anyOf.find((choice) => choice.format !== undefined)?.format;
  const candidates =
    wanted !== undefined && BY_FORMAT[wanted]
      ? [BY_FORMAT[wanted]]
      : contentEncoding === 'base64'
        ? ['ZXhhbXBsZQ==']
        : [...TEXTS, 'x'.repeat(minLength)];
  const fitting = candidates
    .map((text) => (text === 'example' ? text.padEnd(minLength, '-text') : text))
    .find(
      (text) =>
        text.length >= minLength &&
        text.length <= maxLength &&
        patterns.every((pattern) => pattern.test(text)) &&
        !(not?.pattern !== undefined && new RegExp(not.pattern, 'u').test(text)),
    );
  if (fitting === undefined)
    throw new Error(
      `${at}: no text at hand fits ${JSON.stringify(schema)}; give its schema one with .example(…)`,
    );
  return fitting;
}

function numberFor({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonSchema): number {
  const low =
    (minimum as number | undefined) ??
    (exclusiveMinimum === undefined ? -Infinity : (exclusiveMinimum as number) + 1);
  const high =
    (maximum as number | undefined) ??
    (exclusiveMaximum === undefined ? Infinity : (exclusiveMaximum as number) - 1);
  const value = Math.min(Math.max(1, low), high);
  return multipleOf === undefined
    ? value
    : Math.ceil(value / (multipleOf as number)) * (multipleOf as number);
}

/** `whole`: with everything that may be left out. */
export function exampleOf(schema: JsonSchema, at: string, whole = true): unknown {
  const {
    examples,
    type,
    properties,
    required = [],
    items,
    minItems = 0,
  } = schema as {
    examples?: unknown[];
    type?: string | string[];
    properties?: Record<string, JsonSchema>;
    required?: string[];
    items?: JsonSchema;
    minItems?: number;
  };
  if (examples?.length) return examples[0];
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum']))
    return schema['enum'].find((value) => value !== '' && value !== null) ?? schema['enum'][0];
  switch (Array.isArray(type) ? type.find((one) => one !== 'null') : type) {
    case 'string':
      return textFor(schema, at);
    case 'integer':
    case 'number':
      return numberFor(schema);
    case 'boolean':
      return true;
    case 'array':
      return Array.from({ length: Math.max(minItems, whole ? 1 : 0) }, () =>
        exampleOf(items ?? {}, `${at}[]`, whole),
      );
    case 'object':
      return Object.fromEntries(
        Object.entries(properties ?? {})
          .filter(([name]) => whole || required.includes(name))
          .map(([name, inner]) => [name, exampleOf(inner, `${at}.${name}`, whole)]),
      );
    case 'null':
      return null;
  }
  const choices = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as JsonSchema[] | undefined;
  if (!choices) return 'example';
  const telling = choices.find((choice) => choice['type'] !== 'null' && !('const' in choice)) ?? choices[0];
  return exampleOf(telling ?? {}, at, whole);
}
