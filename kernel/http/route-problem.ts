// Checks a declared route at run time; for TypeScript authors the compiler reports the same mistakes.
import Joi from 'joi';
import { isPathPattern } from '../../net/path-router.js';
import { didYouMean } from '../../schema/suggest.js';
import type { ReplyKind } from './reply.js';
import type { Method, Route } from './route.js';

const KEYS = Object.keys({
  method: true,
  path: true,
  auth: true,
  listener: true,
  anyHost: true,
  name: true,
  doc: true,
  params: true,
  query: true,
  body: true,
  form: true,
  stream: true,
  idempotent: true,
  bodyLimit: true,
  files: true,
  beforeBody: true,
  permit: true,
  reply: true,
  errors: true,
  handle: true,
} satisfies Record<keyof Route, true>);
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies Method[];
const AUTHS: readonly string[] = ['admin', 'session', 'anyone'] satisfies Route['auth'][];
const REPLIES: readonly string[] = [
  'payload',
  'message',
  'bare',
  'raw',
  'stream',
  'folder',
] satisfies ReplyKind['kind'][];

/** The mistake in this route that would break all routes, as the end of a sentence. */
export function routeProblem(route: Route, path: string): string | undefined {
  const stranger = Object.keys(route).find((key) => !KEYS.includes(key));
  if (stranger !== undefined)
    return `it has \`${stranger}\`, which routes do not have${didYouMean(stranger, KEYS)}`;
  const { method, auth, params, query, body, files, reply, handle } = route;
  if (!METHODS.includes(method)) return `its method must be one of ${METHODS.join(', ')}`;
  if (!AUTHS.includes(auth)) return `its auth must be one of ${AUTHS.join(', ')}`;
  if (!isPathPattern(path))
    return 'its path must be of segments of letters, digits, - _ . ~ @, or of a {parameter} each; {rest*} may be the last';
  if (typeof handle !== 'function') return 'its handle must be a function';
  if (!REPLIES.includes(reply?.kind))
    return 'its reply must say how it replies, such as payload(shape({ … })) or message()';
  if (files && method === 'GET') return 'a GET takes no files';
  for (const [name, rule] of Object.entries(files ?? {}))
    if (![rule?.maxBytes, rule?.most].every((limit) => Number.isInteger(limit) && limit > 0))
      return `its file ${name} has an invalid maxBytes or most; use file({ maxBytes: … }) or fileList({ maxBytes: …, most: … })`;
  const schemas = Object.entries({
    params,
    query,
    body,
    reply: 'schema' in reply ? reply.schema : undefined,
    'headers of the reply': 'headers' in reply ? reply.headers : undefined,
  });
  const [wrong] = schemas.find(([, schema]) => schema !== undefined && !Joi.isSchema(schema)) ?? [];
  return wrong && `its ${wrong} must be a schema, such as shape({ … })`;
}
