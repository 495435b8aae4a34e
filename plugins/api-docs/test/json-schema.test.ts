// joi in, JSON Schema out: every builder of the kernel, what plugins chain onto them, and what must not pass in silence.
import test from 'ava';
import Joi from 'joi';
import * as kernel from '../../../kernel/index.js';
import type { Schema } from '../../../kernel/index.js';
import { Describer } from '../json-schema.js';
import { patternOf } from '../pattern.js';

const {
  anything,
  bool,
  custom,
  describedAs,
  echoing,
  int,
  jsonObject,
  lenientInt,
  lenientText,
  list,
  mapOf,
  nullable,
  num,
  oneOf,
  openObject,
  optional,
  shape,
  text,
  urlPath,
  withDefault,
  word,
} = kernel;

function described(schema: Schema): { json: unknown; complaints: string[] } {
  const complaints: string[] = [];
  return {
    json: new Describer((problem) => void complaints.push(problem)).describe(schema, 'x'),
    complaints,
  };
}

const CASES: readonly (readonly [name: string, schema: Schema, json: unknown])[] = [
  ['text', text(), { type: 'string' }],
  [
    'a switch with other words for on and off',
    bool().truthy('1').falsy('0'),
    { anyOf: [{ type: 'boolean' }, { type: 'string', enum: ['1', '0'] }] },
  ],
  ['a number that old programs send as text', lenientInt().min(0), { type: 'integer', minimum: 0 }],
  ['a text that old programs send as null', lenientText().max(5), { type: 'string', maxLength: 5 }],
  [
    'a shape with keys that replies have',
    echoing(shape({ a: optional(bool()) }), ['b']),
    { type: 'object', properties: { a: { type: 'boolean' } } },
  ],
  ['text with a limit', text().max(5), { type: 'string', maxLength: 5 }],
  [
    'text that may be empty beside its pattern',
    text().pattern(/^a+$/, 'only a'),
    { anyOf: [{ const: '' }, { type: 'string', pattern: '^a+$' }], description: 'only a' },
  ],
  ['text whose pattern takes the empty one', text().pattern(/^a*$/), { type: 'string', pattern: '^a*$' }],
  ['word', word(), { type: 'string', minLength: 1 }],
  ['word of other rules', word().min(8).trim(), { type: 'string', minLength: 8 }],
  [
    'word with two patterns',
    word().pattern(/a/).pattern(/b/u),
    { type: 'string', minLength: 1, pattern: 'a', allOf: [{ pattern: 'b' }] },
  ],
  [
    'our words win over the name of a pattern',
    word().pattern(/a/, 'name').description('ours'),
    { type: 'string', minLength: 1, pattern: 'a', description: 'ours' },
  ],
  [
    'urlPath',
    urlPath().min(2),
    {
      type: 'string',
      minLength: 2,
      pattern: '^\\/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*\\/)*$',
      description: 'path that begins and ends with a slash',
    },
  ],
  ['word with a custom check', word().custom((value: unknown) => value), { type: 'string', minLength: 1 }],
  [
    'hostname',
    word().hostname(),
    { type: 'string', minLength: 1, anyOf: [{ format: 'hostname' }, { format: 'ipv4' }, { format: 'ipv6' }] },
  ],
  ['uri', word().uri(), { type: 'string', minLength: 1, format: 'uri' }],
  ['valid text', text().valid('', 'a'), { type: 'string', enum: ['', 'a'] }],
  ['int', int().min(1).max(65_535), { type: 'integer', minimum: 1, maximum: 65_535 }],
  ['port', int().port(), { type: 'integer', minimum: 0, maximum: 65_535 }],
  ['num', num().greater(0).less(1), { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }],
  ['bool', bool(), { type: 'boolean' }],
  [
    'list',
    list(int()).min(1).max(3).unique(),
    { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 3, uniqueItems: true },
  ],
  ['oneOf', oneOf('a', 'b'), { type: 'string', enum: ['a', 'b'] }],
  [
    'oneOf of several types',
    oneOf('a', 1, null),
    { type: ['string', 'integer', 'null'], enum: ['a', 1, null] },
  ],
  ['anything', anything(), {}],
  ['anything or null', nullable(anything()), {}],
  [
    'shape',
    shape({ a: text(), b: optional(int()), c: withDefault(bool(), true) }),
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean', default: true } },
      required: ['a'],
    },
  ],
  ['shape of nothing', shape({}), { type: 'object', properties: {} }],
  [
    'shape with more keys',
    shape({ a: int() }).keys({ b: int() }),
    { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } }, required: ['a', 'b'] },
  ],
  ['openObject', openObject(), { type: 'object', additionalProperties: true }],
  [
    'a shape that refuses unknown keys',
    shape({ a: int() }).unknown(false),
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
      additionalProperties: false,
    },
  ],
  [
    'mapOf',
    mapOf(int()),
    {
      type: 'object',
      propertyNames: { type: 'string', minLength: 1 },
      additionalProperties: { type: 'integer' },
    },
  ],
  [
    'keys by pattern',
    custom(Joi.object().pattern(/^x-/, Joi.string())),
    { type: 'object', patternProperties: { '^x-': { type: 'string', minLength: 1 } } },
  ],
  ['nullable', nullable(int().min(1)), { type: ['integer', 'null'], minimum: 1 }],
  [
    'nullable object',
    nullable(shape({ a: int() })),
    { type: ['object', 'null'], properties: { a: { type: 'integer' } }, required: ['a'] },
  ],
  ['nullable choice', nullable(oneOf('a')), { type: ['string', 'null'], enum: ['a', null] }],
  [
    'jsonObject',
    jsonObject(),
    { anyOf: [{ type: 'object' }, { type: 'string', contentMediaType: 'application/json' }] },
  ],
  [
    'describedAs another schema',
    describedAs(anything(), shape({ a: int() })),
    { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
  ],
  [
    'describedAs JSON Schema, with our words',
    describedAs(custom(Joi.any().custom((value: unknown) => value)), { type: 'string' }).description('d'),
    { type: 'string', description: 'd' },
  ],
  [
    'alternatives',
    custom(Joi.alternatives(Joi.number(), Joi.boolean())),
    { anyOf: [{ type: 'number' }, { type: 'boolean' }] },
  ],
  [
    'several kinds of item',
    custom(Joi.array().items(Joi.number(), Joi.boolean())),
    { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'boolean' }] } },
  ],
  [
    'keys that need each other',
    custom(Joi.object({ a: int().optional(), b: int().optional() }).or('a', 'b').with('a', 'b')),
    {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      allOf: [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { dependentRequired: { a: ['b'] } }],
    },
  ],
  ['an example', word().example('ada'), { type: 'string', minLength: 1, examples: ['ada'] }],
];

for (const [name, schema, json] of CASES) {
  test(name, (t) => {
    const result = described(schema);
    t.deepEqual(result.json, json);
    t.deepEqual(result.complaints, []);
  });
}

test('sent as JSON, a switch is true or false: the words for on and off are those of texts', (t) => {
  const of = (sentAs: 'json' | 'text') =>
    new Describer((problem) => t.fail(problem)).describe(bool().truthy('1').falsy('0'), 'x', sentAs);
  t.deepEqual(of('json'), { type: 'boolean' });
  t.deepEqual(of('text'), { anyOf: [{ type: 'boolean' }, { type: 'string', enum: ['1', '0'] }] });
});

test('every builder of the kernel has a case here', (t) => {
  const builders = Object.keys({
    anything,
    bool,
    custom,
    describedAs,
    echoing,
    int,
    jsonObject,
    lenientInt,
    lenientText,
    list,
    mapOf,
    nullable,
    num,
    oneOf,
    openObject,
    optional,
    shape,
    text,
    urlPath,
    withDefault,
    word,
  });
  // What takes nothing, or a schema, and gives a schema, is a builder.
  const tried = Object.entries(kernel).flatMap(([name, value]) => {
    try {
      const made = (value as (schema: Schema) => unknown)(Joi.any());
      // What validates answers later, and refuses.
      if (made instanceof Promise) made.catch(() => undefined);
      return Joi.isSchema(made) ? [name] : [];
    } catch {
      return [];
    }
  });
  t.true(tried.length > 12);
  // `frozen`, `field` and `networkOf` return their argument; no route is declared with the shapes of hooks.
  const others = ['port', 'frozen', 'field', 'networkOf', 'jsonRecord', 'checkedList'];
  // They add to a schema; tests of their own are below.
  others.push('annotate', 'describedWith');
  t.deepEqual(
    tried.filter((name) => !builders.includes(name) && !others.includes(name)),
    [],
  );
});

const UNSAYABLE: readonly (readonly [name: string, schema: Schema, complaint: RegExp])[] = [
  ['a custom check of anything', custom(Joi.any().custom((value: unknown) => value)), /^x: .*describedAs/],
  ['deep inside', shape({ a: list(custom(Joi.any().custom((value: unknown) => value))) }), /^x\.a\[\]: /],
  ['a type', custom(Joi.date()), /joi's type "date"/],
  ['a condition', custom(Joi.any().when('a', { is: 1, otherwise: Joi.number() })), /joi's "whens"/],
  [
    'a conditional alternative',
    custom(Joi.alternatives().conditional('a', { is: 1, otherwise: Joi.number() })),
    /conditions of joi's alternatives/,
  ],
  ['a rule', custom(Joi.string().creditCard()), /joi's rule "creditCard" of a string/],
  [
    'a limit by another field',
    shape({ a: int(), b: int().min(Joi.ref('a') as unknown as number) }),
    /^x\.b: .*"min"/,
  ],
  ['a pattern with a flag', word().pattern(/^a$/m), /joi's rule "pattern"/],
  ['a dependency', custom(Joi.object({ a: int() }).oxor('a', 'b')), /joi's dependency "oxor"/],
  ['values that are not taken', custom(Joi.string().invalid('a')), /joi's "invalid"/],
];
for (const [name, schema, complaint] of UNSAYABLE) {
  test(`what cannot be said is reported: ${name}`, (t) => {
    const { complaints } = described(schema);
    t.is(complaints.length, 1, complaints.join('\n'));
    t.regex(complaints[0] ?? '', complaint);
  });
}

test('patterns without regard to case take both cases, and nothing else', (t) => {
  for (const [source, yes, no] of [
    [/^[0-9a-f]{2}-x$/i, ['0a-x', 'FF-X'], ['gg-x', '0a-y']],
    [/^(?:ab|[^c])z$/i, ['AbZ', 'dz'], ['Cz', 'az?']],
    [/^(?<name>q)\w\.x$/i, ['Qa.X'], ['Qa_x']],
    [/^\p{Lu}a-b$/iu, ['XA-B'], ['1a-b']],
  ] as const) {
    const pattern = patternOf(String(source));
    t.truthy(pattern, String(source));
    for (const text of yes) t.regex(text, new RegExp(pattern ?? '', 'u'), `${String(source)} → ${pattern}`);
    for (const text of no) t.notRegex(text, new RegExp(pattern ?? '', 'u'), `${String(source)} → ${pattern}`);
  }
});

const forForms = (schema: Schema) => new Describer(() => undefined, { forms: true }).describe(schema, 'x');

test('forms get titles, places and annotations; other descriptions have none of them', (t) => {
  const schema = shape({
    ...kernel.inSection('TLS', {
      serverName: kernel.annotate(word(), { unit: 'x', readOnly: true }),
      maxTCPSeg: kernel.annotate(int(), { title: 'Ours', level: 'advanced' }),
    }),
    'acme.isOn': bool(),
  });
  t.deepEqual(forForms(schema), {
    type: 'object',
    properties: {
      serverName: {
        title: 'Server name',
        type: 'string',
        minLength: 1,
        readOnly: true,
        'x-weir': { order: 1, level: 'basic', section: 'TLS', unit: 'x' },
      },
      maxTCPSeg: {
        title: 'Ours',
        type: 'integer',
        'x-weir': { order: 2, level: 'advanced', section: 'TLS' },
      },
      'acme.isOn': { title: 'Is on', type: 'boolean', 'x-weir': { order: 3 } },
    },
    required: ['serverName', 'maxTCPSeg', 'acme.isOn'],
  });
  t.notRegex(JSON.stringify(described(schema).json), /x-weir|title/);
});

test('a form may leave out what is generated, or send it blank', (t) => {
  const schema = shape({ key: kernel.annotate(word().description('a key'), { generated: true }) });
  t.deepEqual(forForms(schema), {
    type: 'object',
    properties: {
      key: {
        title: 'Key',
        anyOf: [{ type: 'string', minLength: 1 }, { enum: ['', null] }],
        description: 'a key',
        'x-weir': { order: 1, generated: true },
      },
    },
  });
  t.deepEqual((described(schema).json as { required: string[] }).required, ['key']);
});

test('what code checks besides can be said as JSON Schema, and what is removed is not described', (t) => {
  const { json, complaints } = described(
    kernel.describedWith(shape({ a: int(), gone: Joi.any().strip() }).or('a', 'b'), { maxProperties: 1 }),
  );
  t.deepEqual(json, {
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a'],
    allOf: [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { maxProperties: 1 }],
  });
  t.deepEqual(complaints, []);
});
