// The TypeScript client: one typed method per operation of the document. sdk/transport.ts makes the calls.
import type { JsonSchema } from './json-schema.js';
import type { OpenApi, Operation } from './openapi.js';

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const key = (name: string): string => (IDENTIFIER.test(name) ? name : quoted(name));
const quoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
const literal = (value: unknown): string =>
  typeof value === 'string' ? quoted(value) : JSON.stringify(value);
const comment = (text: unknown, indent: string): string =>
  typeof text === 'string'
    ? `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s+/g, ' ')} */\n`
    : '';
const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
/** A literal needs no further description beside its type. */
const union = (types: readonly string[]): string =>
  [...new Set(types)]
    .filter(
      (type) =>
        !(type.startsWith("'") && types.includes('string')) &&
        !(/^-?\d/.test(type) && types.includes('number')),
    )
    .join(' | ');
const bracketed = (type: string): string =>
  /[|&]/.test(type) && !/^\{[\s\S]*\}$/.test(type) ? `(${type})` : type;

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** The TypeScript type of a schema's values. */
export function typeOf(schema: JsonSchema, indent = ''): string {
  if ('const' in schema) return literal(schema['const']);
  if (Array.isArray(schema['enum'])) return union(schema['enum'].map(literal));
  const { type } = schema;
  if (Array.isArray(type)) return union(type.map((one: string) => typeOf({ ...schema, type: one }, indent)));
  if (typeof type === 'string' && SIMPLE[type]) return SIMPLE[type];
  if (type === 'array') return `${bracketed(typeOf((schema['items'] ?? {}) as JsonSchema, indent))}[]`;
  if (type === 'object') return objectType(schema, indent);
  const choices = (schema['anyOf'] ?? schema['oneOf']) as JsonSchema[] | undefined;
  if (choices) {
    const types = choices.map((choice) => bracketed(typeOf(choice, indent)));
    // Beside better alternatives, "or anything else" only describes what is tolerated, not what to send.
    const telling = types.filter((one) => one !== 'unknown');
    return union(telling.some((one) => one !== 'null') ? telling : types);
  }
  const parts = schema['allOf'] as JsonSchema[] | undefined;
  return parts ? parts.map((part) => bracketed(typeOf(part, indent))).join(' & ') : 'unknown';
}

function objectType(
  { properties, required = [], additionalProperties, patternProperties }: JsonSchema,
  indent: string,
): string {
  const others = [
    ...(typeof additionalProperties === 'object' ? [additionalProperties as JsonSchema] : []),
    ...Object.values((patternProperties ?? {}) as Record<string, JsonSchema>),
  ];
  if (!properties)
    return `Record<string, ${others.length > 0 ? union(others.map((other) => typeOf(other, indent))) : 'unknown'}>`;
  const inner = `${indent}  `;
  const lines = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, schema]) =>
      `${comment(schema['description'], inner)}${inner}${key(name)}${(required as string[]).includes(name) ? '' : '?'}: ${typeOf(schema, inner)};\n`,
  );
  return lines.length === 0 ? 'Record<string, never>' : `{\n${lines.join('')}${indent}}`;
}

/** The input of a call: path parameters by name, `query` and `body`. */
function inputOf({
  operationId,
  parameters = [],
  requestBody,
}: Operation): { type: string; optional: boolean } | undefined {
  const fields: string[] = [];
  let optional = true;
  for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'path')) {
    if (name === 'query' || name === 'body')
      throw new Error(
        `${operationId}: a path parameter called ${name} hides the ${name} of the call; give it another name`,
      );
    fields.push(`  ${key(name)}: ${typeOf(schema, '  ')};\n`);
    optional = false;
  }
  const query = parameters.filter((parameter) => parameter.in === 'query');
  if (query.length > 0) {
    const needed = query.filter(({ required }) => required).map(({ name }) => name);
    if (needed.length > 0) optional = false;
    const properties = Object.fromEntries(
      query.map(({ name, schema, description }) => [
        name,
        { ...schema, ...(description !== undefined && { description }) },
      ]),
    );
    fields.push(
      `  query${needed.length > 0 ? '' : '?'}: ${typeOf({ type: 'object', properties, required: needed }, '  ')};\n`,
    );
  }
  const body = requestBody?.content['application/json'];
  if (body) {
    if (requestBody.required) optional = false;
    fields.push(`  body${requestBody.required ? '' : '?'}: ${typeOf(body.schema, '  ')};\n`);
  }
  return fields.length > 0 ? { type: `{\n${fields.join('')}}`, optional } : undefined;
}

function replyOf({ responses }: Operation): { gives: string; type: string } {
  const [done] = Object.entries(responses).flatMap(([status, response]) =>
    /^2/.test(status) ? [response] : [],
  );
  const content = (done?.['content'] ?? {}) as Record<string, { schema?: JsonSchema }>;
  const schema = content['application/json']?.schema;
  if (!schema) return { gives: 'response', type: 'Response' };
  const { success, obj } = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  if (success?.['const'] !== true || !obj) return { gives: 'body', type: typeOf(schema) };
  return obj['type'] === 'null' ? { gives: 'msg', type: 'string' } : { gives: 'obj', type: typeOf(obj) };
}

/** Calls with this header may be sent again. */
const KEY_HEADER = 'Idempotency-Key';
/** Own members of a client; an area of that name would hide them. */
const RESERVED = new Set(['call', 'signIn', 'constructor', 'then', 'toString', 'valueOf']);
/** Methods by their names, in groups within groups. */
interface Group {
  readonly [name: string]: string | Group;
}

function groupText(group: Group, indent: string): string {
  return Object.entries(group)
    .map(([name, inner]) =>
      typeof inner === 'string'
        ? inner.replaceAll(/^(?=.)/gm, indent)
        : `${indent}${name}: {\n${groupText(inner, `${indent}  `)}${indent}},\n`,
    )
    .join('');
}

/** Inserts a method at its name, `['clients', 'groups', 'list']`. */
function put(
  group: Record<string, string | Group>,
  [first = '', ...rest]: readonly string[],
  text: string,
): void {
  if (rest.length === 0) group[first] = text;
  else put((group[first] ??= {}) as Record<string, string | Group>, rest, text);
}

/** Generates the whole file. */
export function clientOf({ paths }: OpenApi): string {
  const types: string[] = [];
  const areas: Record<string, string | Group> = {};
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  for (const { path, method, operation } of operations) {
    const { operationId, parameters = [] } = operation;
    const parts = operationId.split('.');
    if (RESERVED.has(parts[0] ?? ''))
      throw new Error(
        `${operationId}: the client has its own ${parts[0]}; choose another name for the route`,
      );
    const name = parts.map(capital).join('');
    const input = inputOf(operation);
    const { gives, type } = replyOf(operation);
    if (input) types.push(`export type ${name}Input = ${input.type};\n`);
    // Simple types need no name.
    if (type.length > 20) types.push(`export type ${name}Reply = ${type};\n`);
    const isKeyed = parameters.some(
      (parameter) => parameter.in === 'header' && parameter.name === KEY_HEADER,
    );
    const declared = [
      ...(input ? [`input${input.optional ? '?' : ''}: ${name}Input`] : []),
      `options?: ${isKeyed ? 'KeyedCallOptions' : 'CallOptions'}`,
    ].join(', ');
    const endpoint = `{ method: '${method}', path: ${quoted(path)}, gives: '${gives}'${isKeyed ? ', keyed: true' : ''} }`;
    put(
      areas,
      parts,
      `${comment(`${operation.summary} — ${method} ${path}`, '')}${parts.at(-1)}: (${declared}): Promise<${type.length > 20 ? `${name}Reply` : type}> =>\n  this.call(${endpoint}, ${input ? 'input' : '{}'}, options),\n`,
    );
  }
  const fields = Object.entries(areas).map(
    ([area, group]) => `  readonly ${area} = {\n${groupText(group as Group, '    ')}  } as const;\n`,
  );
  return `// Generated by bin/reference.mjs from the routes of the panel; change those and run it again.
import { type CallOptions, type KeyedCallOptions, Transport } from './transport.js';

export type { ErrorCode } from './error-codes.js';
export { type Issue, PanelFailure, PanelUnreachable } from './failure.js';
export type { RetryOptions } from './retry.js';
export type { CallOptions, KeyedCallOptions, TransportOptions } from './transport.js';

${types.join('\n')}
/** Calls to a panel; each resolves with the content of the reply, and rejects with PanelFailure or PanelUnreachable. */
export class Weir extends Transport {
${fields.join('\n')}}
`;
}

/** Generates the type of the codes of errors. */
export const errorCodesOf = (
  codes: readonly string[],
): string => `// Generated by bin/reference.mjs from the errors of the plugins; change those and run it again.

/** Every code that the plugins of Weir answer with; docs/reference/errors.md says what each means. */
export type ErrorCode =
${[...new Set(codes)]
  .sort()
  .map((code) => `  | ${quoted(code)}`)
  .join('\n')};
`;
