// JSON Schema as TypeScript types.
import test from 'ava';
import { clientOf, typeOf } from '../client.js';
import { OpenApiWriter } from '../openapi.js';
import { int, raw, route, shape } from '../../../kernel/index.js';

test('types say what schemas take', (t) => {
  for (const [schema, type] of [
    [{}, 'unknown'],
    [{ type: 'string', anyOf: [{ format: 'ipv4' }] }, 'string'],
    [{ type: ['integer', 'null'] }, 'number | null'],
    [{ enum: ['a', "it's", 1, null] }, "'a' | 'it\\'s' | 1 | null"],
    [{ anyOf: [{ const: '' }, { type: 'string' }] }, 'string'],
    [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
    [{ type: 'object', additionalProperties: true }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object', properties: {} }, 'Record<string, never>'],
    [
      {
        type: 'object',
        properties: { a: { type: 'string' }, 'b-c': { type: 'number', description: 'a */ b' } },
        required: ['a'],
      },
      "{\n  a: string;\n  /** a *\\/ b */\n  'b-c'?: number;\n}",
    ],
    [
      { allOf: [{ type: 'string' }, { anyOf: [{ type: 'number' }, { type: 'null' }] }] },
      'string & (number | null)',
    ],
  ] as const)
    t.is(typeOf(schema as Record<string, unknown>), type);
});

test('a file to download is given as the response, and a parameter that hides a body is refused', async (t) => {
  const served = (path: string, params: ReturnType<typeof shape>) => [
    {
      plugin: 'x',
      about: 'x',
      path,
      route: route({ method: 'GET', path, doc: 'x', params, reply: raw('text/plain'), handle: () => '' }),
    },
  ];
  const make = (path: string, params: ReturnType<typeof shape>) =>
    new OpenApiWriter((problem) => t.fail(problem))
      .write(served(path, params), { basePath: '/', version: '1' })
      .then(clientOf);
  t.regex(
    await make('/panel/api/file/{id}', shape({ id: int() })),
    /getById: \(input: FileGetByIdInput, options\?: CallOptions\): Promise<Response>/,
  );
  await t.throwsAsync(make('/panel/api/file/{body}', shape({ body: int() })), { message: /called body/ });
});
