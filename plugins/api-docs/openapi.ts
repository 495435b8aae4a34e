// Converts the route table to an OpenAPI 3.1 document. Only the panel's listener: the paths of other listeners are an admin's secrets.
import { type Route, type Schema, type ServedRoute, sizeOf, TimeSlice } from '../../kernel/index.js';
import { idempotencyErrors, LONGEST_KEY, PLAIN_KEY } from '../idempotency/contract.js';
import { IF_MATCH_PATTERN, takesVersions } from '../record-versions/contract.js';
import { failureOf, json, refer, RESPONSES, toldOf } from './failures.js';
import { Describer, type JsonSchema } from './json-schema.js';
import { namesOf } from './operation-names.js';

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description: string;
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, JsonSchema>>;
}
/** An operation without its name, which another one may claim first. */
type Described = Omit<Operation, 'operationId'>;
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
}
/** draft-ietf-httpapi-idempotency-key-header */
const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A key of your own for this call, such as a UUID. For 24 hours a call with the same key gets the reply of the first one, with `Idempotency-Replayed: true`, and is not executed again.',
  schema: { type: 'string', minLength: 1, maxLength: LONGEST_KEY, pattern: PLAIN_KEY.source },
};
/** RFC 9110, section 13.1.1 */
const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The `version` of the record as you have read it, in double quotes. The call is done only if the record still has it; otherwise it is 409, and `obj.current` is what the record is now. `*` is any version.',
  schema: { type: 'string', pattern: IF_MATCH_PATTERN },
};
export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: JsonSchema;
}

export interface Options {
  /** begins and ends with a slash */
  readonly basePath: string;
  readonly version: string;
}

const isSafe = ({ method }: Route): boolean => method === 'GET';
const successes = ({ reply }: Route): readonly number[] =>
  ('statuses' in reply ? reply.statuses : undefined) ?? [200];
/** OpenAPI cannot express a parameter with slashes: `{path*}` becomes `{path}`. */
const templateOf = (path: string): string => path.replace(/\*\}$/, '}');
const envelope = (obj: JsonSchema): JsonSchema => ({
  type: 'object',
  required: ['success', 'msg', 'obj'],
  properties: { success: { const: true }, msg: { type: 'string' }, obj },
});

interface Content {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}
/** A form has only texts: an object is sent as JSON. */
function asForm({ schema, example }: Content): Content {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, JsonSchema>> };
  const textOf = ({ anyOf = [] }: { anyOf?: readonly JsonSchema[] }): JsonSchema | undefined =>
    anyOf.find((one) => one['contentMediaType'] === 'application/json');
  const flat = Object.entries(properties).map(([name, inner]) => [name, textOf(inner) ?? inner]);
  const sent = Object.entries((example ?? {}) as Record<string, unknown>).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  return {
    schema: { ...schema, properties: Object.fromEntries(flat) as JsonSchema },
    ...(example !== undefined && { example: Object.fromEntries(sent) as unknown }),
  };
}

const SCHEMES: JsonSchema = {
  session: { type: 'apiKey', in: 'cookie', name: 'weir_session', description: 'Set by a login.' },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'The token of GET /csrf-token, for every call with a session except GET.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'An API token.' },
};

export class OpenApiWriter {
  readonly #describer: Describer;
  readonly #report: (problem: string) => void;
  /** joi takes milliseconds for each route; a route never changes, but its path may. */
  readonly #written = new WeakMap<Route, { readonly path: string; readonly operation: Described }>();

  /** `report` receives everything that cannot be described. */
  constructor(report: (problem: string) => void) {
    this.#report = report;
    this.#describer = new Describer(report);
  }

  async write(routes: readonly ServedRoute[], { basePath, version }: Options): Promise<OpenApi> {
    // Pages and their files are not API calls.
    const onPanel = routes.filter(({ route }) => route.listener === 'panel' && route.reply.kind !== 'folder');
    const paths: Record<string, Record<string, Operation>> = {};
    for (const [served, operationId] of namesOf(onPanel))
      (paths[templateOf(served.path)] ??= {})[served.route.method.toLowerCase()] = {
        operationId,
        ...(await this.#once(served)),
      };
    const tags = new Map(onPanel.map(({ plugin, about }) => [plugin, about]));
    return {
      openapi: '3.1.0',
      info: {
        title: 'Weir',
        version,
        description:
          'The API of the panel. Replies are `{success, msg, obj}`; failures also have an HTTP status, `code` and `requestId`. It is I-JSON (RFC 7493): texts are valid Unicode, and patterns do not cover halves of surrogate pairs; integers lie within ±9007199254740991. Lengths of texts count UTF-16 code units.',
      },
      servers: [{ url: basePath === '/' ? '/' : basePath.replace(/\/$/, '') }],
      tags: [...tags]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([name, description]) => ({ name, description })),
      paths,
      components: {
        schemas: { Failure: failureOf(toldOf(onPanel, this.#describer)) },
        responses: RESPONSES,
        securitySchemes: SCHEMES,
      },
    };
  }

  async #once(served: ServedRoute): Promise<Described> {
    const known = this.#written.get(served.route);
    if (known?.path === served.path) return known.operation;
    // Yields between routes.
    await new TimeSlice().next();
    const operation = this.#operation(served);
    this.#written.set(served.route, { path: served.path, operation });
    return operation;
  }

  #operation({ plugin, path, route }: ServedRoute): Described {
    const at = `${route.method} ${path}`;
    const parameters = [
      ...this.#parameters(route.params, 'path', at),
      ...this.#parameters(route.query, 'query', at),
      ...(route.idempotent ? [IDEMPOTENCY_KEY] : []),
      ...(takesVersions(route) ? [IF_MATCH] : []),
    ];
    const named = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    const inPath = [...templateOf(path).matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
    for (const name of inPath.filter((wanted) => !named.includes(wanted)))
      this.#report(`${at}: its params do not describe {${name}}`);
    for (const name of named.filter((wanted) => !inPath.includes(wanted)))
      this.#report(`${at}: its params describe ${name}, which is not in the path`);
    return {
      tags: [plugin],
      summary: route.doc,
      security: this.#security(route),
      ...(parameters.length > 0 && { parameters }),
      ...(route.body && !route.files && { requestBody: this.#body(route, route.body, at) }),
      ...(route.files && { requestBody: this.#upload(route, route.files, at) }),
      responses: {
        ...Object.fromEntries(successes(route).map((status) => [status, this.#reply(route, at)])),
        ...this.#failures(route),
        default: refer('Failed'),
      },
    };
  }

  #security(route: Route): Operation['security'] {
    if (route.auth === 'anyone') return [];
    const session = isSafe(route) ? { session: [] } : { session: [], csrf: [] };
    return route.auth === 'session' ? [session] : [{ bearer: [] }, session];
  }

  #parameters(schema: Schema | undefined, where: 'path' | 'query', at: string): Parameter[] {
    if (!schema) return [];
    const { properties = {}, required = [] } = this.#describer.describe(schema, `${at} ${where}`) as {
      properties?: Record<string, JsonSchema>;
      required?: string[];
    };
    return Object.entries(properties).map(([name, { description, ...inner }]) => ({
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(description !== undefined && { description: description as string }),
      schema: inner,
    }));
  }

  #body(route: Route, body: Schema, at: string) {
    // The example of a whole body goes beside its schema, where programs look for one.
    const contentAs = (sentAs: 'json' | 'text') => {
      const { examples, ...schema } = this.#describer.describe(body, `${at} body`, sentAs);
      const [example] = (examples as readonly unknown[] | undefined) ?? [];
      return { schema, ...(example !== undefined && { example }) };
    };
    const content = contentAs('json');
    const { schema } = content;
    const mayBeEmpty = schema['type'] === 'object' && schema['required'] === undefined;
    return {
      description: `At most ${sizeOf(route.bodyLimit)}${route.auth === 'anyone' ? ', not compressed' : ''}.`,
      required: !mayBeEmpty,
      content: {
        'application/json': content,
        ...(route.form && { 'application/x-www-form-urlencoded': asForm(contentAs('text')) }),
      },
    };
  }

  /** OpenAPI 3.1 describes a file as a part whose content has another media type (4.8.14.4). */
  #upload(route: Route, files: NonNullable<Route['files']>, at: string) {
    const { properties, required } = (
      route.body ? this.#describer.describe(route.body, `${at} body`) : {}
    ) as { properties?: Record<string, JsonSchema>; required?: string[] };
    const parts = Object.entries(files).map(([name, { maxBytes, most, least, endings }]) => {
      const ends = endings ? `, its name ends with ${endings.join(' or ')}` : '';
      const part = {
        description: `At most ${sizeOf(maxBytes)}${ends}.`,
        contentMediaType: 'application/octet-stream',
      };
      return [
        name,
        most === 1 && least === 1 ? part : { type: 'array', items: part, maxItems: most },
      ] as const;
    });
    const needed = Object.entries(files).flatMap(([name, { least }]) => (least > 0 ? [name] : []));
    const schema = {
      type: 'object',
      properties: { ...properties, ...Object.fromEntries(parts) },
      ...((required || needed.length > 0) && { required: [...(required ?? []), ...needed] }),
    };
    return {
      description: `Not compressed; the texts at most ${sizeOf(route.bodyLimit)}.`,
      required: schema.required !== undefined,
      content: json(schema, 'multipart/form-data'),
    };
  }

  #reply({ reply }: Route, at: string): JsonSchema {
    if (reply.kind === 'folder') return { description: 'A file.' };
    if (reply.kind === 'stream')
      return {
        description: 'The content itself, as a stream.',
        content: { [reply.mediaType]: {} },
        ...(reply.headers && { headers: this.#headers(reply.headers, at) }),
      };
    if (reply.kind === 'raw') return { description: 'See the summary.', content: { [reply.mediaType]: {} } };
    if (reply.kind === 'message')
      return { description: '`msg` describes what was done.', content: json(envelope({ type: 'null' })) };
    const schema = this.#describer.describe(reply.schema, `${at} reply`);
    if (reply.kind === 'bare')
      return { description: 'The value itself, without an envelope.', content: json(schema) };
    return {
      description: 'The value is `obj`.',
      content: {
        ...json(envelope(schema)),
        ...(reply.unwrappedAs !== undefined && json(schema, reply.unwrappedAs)),
      },
    };
  }

  #headers(schema: Schema, at: string): JsonSchema {
    const { properties = {} } = this.#describer.describe(schema, `${at} headers`) as {
      properties?: Record<string, JsonSchema>;
    };
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, { schema: inner }]));
  }

  /** Errors of the kernel, and those that the route declares, by status. */
  #failures(route: Route): Record<string, JsonSchema> {
    const byStatus = new Map<number, Map<string, string>>();
    const repeated = route.idempotent ? Object.values(idempotencyErrors) : [];
    for (const { status, code, text } of [...route.errors, ...repeated])
      byStatus.set(status, (byStatus.get(status) ?? new Map<string, string>()).set(code, text));
    const own = [...byStatus].map(([status, codes]): [string, JsonSchema] => [
      String(status),
      {
        description: [...codes].map(([code, text]) => `\`${code}\`: ${text}`).join('\n\n'),
        content: json({
          allOf: [
            { $ref: '#/components/schemas/Failure' },
            { properties: { code: { examples: [...codes.keys()] } } },
          ],
        }),
      },
    ]);
    return {
      ...((route.params ?? route.query ?? route.body ?? route.files) && { 400: refer('Invalid') }),
      ...(route.params && { 404: refer('NotFound') }),
      421: refer('OtherHost'),
      431: refer('HeadersTooLarge'),
      ...(route.auth !== 'anyone' && {
        401: refer('Unauthorized'),
        ...(!isSafe(route) && { 403: refer('Csrf') }),
      }),
      ...((route.body ?? route.files) && { 413: refer('TooLarge'), 415: refer('UnsupportedBody') }),
      ...Object.fromEntries(own),
    };
  }
}
