// One route as older programs need it: bodies that they send are read, replies have what they look for, and failures are
// replies with status 200, as they read nothing of another one. For all others it is the same route.
import { randomUUID } from 'node:crypto';
import {
  Answer,
  anything,
  findUnknownKeys,
  kernelErrors,
  PanelError,
  payload,
  type RequestInfo,
  type Route,
  type Schema,
  validate,
  validateInSlices,
  withMessage,
} from '../../kernel/index.js';
import type { BodyHashes } from './body-hashes.js';
import { isCentral } from './centrals.js';
import type { OldPrograms } from './old-program.js';
import { repaired } from './repair.js';

export type Values = Readonly<Record<string, unknown>>;
export type Input = RequestInfo & { params: Values; query: unknown; body: unknown };

export interface Change {
  /** Returns the body of an older program as the strict route takes it, or a promise of that. */
  readonly read?: (body: unknown, input: Input) => unknown;
  /** Returns `obj` of a reply to an older program. */
  readonly shape?: (obj: unknown, input: Input) => unknown;
}

/** Later is another answer, with the same call. */
const TOO_MANY = 429;
const NOT_FOUND = 404;
/** These tell a program to log in again, so they keep their status. */
const KEEPS_STATUS: readonly string[] = [
  kernelErrors.UNAUTHORIZED.code,
  kernelErrors.CSRF.code,
  kernelErrors.PLUGIN_OFF.code,
];

export const handlerOf = ({ handle }: Pick<Route, 'handle'>) =>
  handle as unknown as (input: Input) => unknown;

/** A failure as the reply that an older program reads; a failure that no input caused stays one. */
export function refusal(error: unknown, { reply }: Input): Answer<unknown> {
  if (!(error instanceof PanelError) || error.status >= 500 || error.status === TOO_MANY) throw error;
  if (KEEPS_STATUS.includes(error.code)) throw error;
  for (const [name, value] of Object.entries(error.headers)) reply.header(name, value);
  const told = {
    success: false,
    msg: error.message,
    obj: error.issues.length > 0 ? { issues: error.issues } : null,
    code: error.code,
    requestId: randomUUID(),
  };
  return new Answer<unknown>(told, undefined, false);
}

/** What a handler says that replies with a message; a repeated call gives it as an Answer. */
export const sentenceOf = (result: unknown): string =>
  ((result instanceof Answer ? result.obj : result) as string | undefined) ?? '';

const isForm = ({ headers }: Input): boolean =>
  headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';

/** The body as the strict route takes it. */
export async function bodyOf(
  { body: schema, form }: Route,
  read: Change['read'],
  input: Input,
  isOld: boolean,
): Promise<unknown> {
  if (!schema) return input.body;
  const convert = isForm(input);
  if (convert && !form && !isOld) throw kernelErrors.UNSUPPORTED_BODY();
  let sent = isOld ? (input.body ?? {}) : input.body;
  if (isOld && read) sent = await read(sent, input);
  const checked = await validateInSlices(schema, sent, { convert }).catch((error: unknown) => {
    const again = isOld ? repaired(sent, error) : undefined;
    if (again === undefined) throw error;
    sent = again;
    return validateInSlices(schema, sent, { convert });
  });
  await findUnknownKeys(schema, sent, input.ignored);
  if (convert) input.ignored.delete('_csrf');
  return checked;
}

/** Parameters or a query that the route refuses. */
class Unfit {
  readonly sent: unknown;
  constructor(sent: unknown) {
    this.sent = sent;
  }
}
/** Leaves the refusal to the handler, which knows how to tell it. Costs nothing where the schema is met. */
const orUnfit = (schema: Schema): Schema =>
  schema.failover(
    (_: unknown, { original }: { readonly original: unknown }) => new Unfit(original),
  ) as Schema;

function refuseUnfit(schema: Schema | undefined, value: unknown): void {
  if (schema && value instanceof Unfit) validate(schema, value.sent, { convert: true });
}

/** `programs` recognises callers; `all` where only older programs call it. */
export function adapted(
  route: Route,
  { read, shape }: Change,
  programs: OldPrograms | 'all',
  hashes: BodyHashes,
): Route {
  const { reply } = route;
  if (reply.kind !== 'payload' && reply.kind !== 'message') return route;
  const handle = handlerOf(route);
  const reads = route.body !== undefined && !route.stream && route.files === undefined;
  const { params, query } = route as { readonly params?: Schema; readonly query?: Schema };
  const answer = async (input: Input): Promise<unknown> => {
    refuseUnfit(params, input.params);
    refuseUnfit(query, input.query);
    const isOld = programs === 'all' || ((reads || shape !== undefined) && programs.mayBeOne(input));
    if (reads) input.body = await bodyOf(route, read, input, isOld);
    const result = await handle(input);
    if (reply.kind === 'message') return withMessage(sentenceOf(result), null);
    if (!shape || !isOld) return result;
    const { obj, msg } = result instanceof Answer ? result : { obj: result, msg: '' };
    return new Answer<unknown>(await shape(obj, input), msg, false);
  };
  const refuse = (error: unknown, input: Input): Answer<unknown> => {
    const isOld = programs === 'all' || programs.isOne(input);
    // A central reads the sentence, and looks at its list again after a 404.
    const isForCentral = isCentral(input) && (error as { readonly status?: unknown }).status !== NOT_FOUND;
    if (!isOld && !isForCentral) throw error;
    return refusal(error, input);
  };
  return {
    ...route,
    ...(!route.beforeBody && { params: params && orUnfit(params), query: query && orUnfit(query) }),
    ...(reads && { body: anything(), form: true }),
    ...(reply.kind === 'message' && { reply: payload(anything()) }),
    handle: (async (input: Input) => {
      await hashes.require(input);
      return answer(input).catch((error: unknown) => refuse(error, input));
    }) as unknown as Route['handle'],
  };
}
