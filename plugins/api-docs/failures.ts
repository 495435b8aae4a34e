// Error responses in OpenAPI: one envelope for all of them.
import type { ServedRoute } from '../../kernel/index.js';
import type { Describer, JsonSchema } from './json-schema.js';

export const json = (schema: JsonSchema, mediaType = 'application/json') => ({ [mediaType]: { schema } });

/** What `obj` is where an error says it, once for each error. */
export function toldOf(routes: readonly ServedRoute[], describer: Describer): JsonSchema[] {
  const schemas = new Map(
    routes.flatMap(({ route }) => route.errors.flatMap(({ code, obj }) => (obj ? [[code, obj]] : []))),
  );
  return [...schemas]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([code, obj]) => ({
      description: `of \`${code}\``,
      ...describer.describe(obj, `${code} obj`),
    }));
}

/** The envelope of every failure; `told` are the forms of `obj` that errors have of their own. */
export const failureOf = (told: readonly JsonSchema[]): JsonSchema => ({
  type: 'object',
  required: ['success', 'msg', 'obj', 'code', 'requestId'],
  properties: {
    success: { const: false },
    msg: { type: 'string', description: 'a sentence for display' },
    obj: {
      anyOf: [
        { type: 'null' },
        {
          type: 'object',
          required: ['issues'],
          properties: {
            issues: {
              type: 'array',
              items: {
                type: 'object',
                required: ['path', 'message'],
                properties: {
                  path: { type: 'string', description: 'the field at fault, dotted, as it was sent' },
                  message: { type: 'string' },
                },
              },
            },
          },
        },
        ...told,
      ],
    },
    code: { type: 'string', description: 'stable; for programs' },
    requestId: {
      type: 'string',
      description: 'search the log for it: a UUID, or `X-Request-Id` of a trusted proxy',
    },
  },
});
const failing = (description: string): JsonSchema => ({
  description,
  content: json({ $ref: '#/components/schemas/Failure' }),
});
/** Errors that the kernel itself returns. */
export const RESPONSES = {
  Invalid: failing('The request does not fit its description; `obj.issues` names the fields.'),
  Unauthorized: failing('Neither a valid session nor a valid token.'),
  Csrf: failing('A session without the right X-CSRF-Token.'),
  NotFound: failing('There is nothing at this path: a part of it is not percent-encoded UTF-8.'),
  OtherHost: failing('The panel does not answer under this host; see the setting allowedHosts.'),
  HeadersTooLarge: failing('Address and headers are larger than 16 KiB.'),
  TooLarge: failing('The body is too large.'),
  UnsupportedBody: failing('The media type or encoding of the body is not supported here.'),
  Failed: failing('Anything else.'),
} as const;
export const refer = (name: keyof typeof RESPONSES): JsonSchema => ({
  $ref: `#/components/responses/${name}`,
});
