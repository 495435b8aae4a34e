// A route as data: validation, types and the API description come from this one declaration.
import type Joi from 'joi';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../auth/principal.js';
import type { ErrorFactory } from '../errors/errors.js';
import type { Permit } from './permits.js';
import { sizeOf } from '../../net/body.js';
import type { ReplyTools } from '../../net/reply-tools.js';
import { fileBytes, type FileRule } from '../../net/multipart.js';
import type { Files, Given } from '../../net/upload-fields.js';
import type { Static } from '../../schema/shape.js';
import type { ReplyKind, Returned } from './reply.js';

export interface RequestInfo {
  /** kind `anyone`, without a name, where the route needs no login */
  readonly who: Principal;
  readonly ip: string;
  /** host that the caller asked for, without port */
  readonly host: string;
  readonly secure: boolean;
  readonly method: string;
  /** path and query below the listener's base path */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly cookies: Readonly<Record<string, string>>;
  /** aborts when the caller disconnects or the time limit is over */
  readonly signal: AbortSignal;
  readonly reply: ReplyTools;
  /** Keys of the body that carry a value and that no schema knows, as `a` or `list[].b`; `msg` names them. A handler may add and remove names. */
  readonly ignored: Set<string>;
  /** Only of a call with an `Idempotency-Key`. Call it inside the write: stores these facts (JSON) with the change, so that a repetition after a crash is answered from them. */
  readonly note?: (facts: unknown) => void;
  /** What the first call with this key has noted and committed before it was cut off: reply from it, and write nothing. */
  readonly noted?: unknown;
}

/** Most bytes of a body: without a login, of most routes, for lists of 10,000 names, for lists of thousands of objects. */
export const PUBLIC_BODY = 16 * 1024;
export const USUAL_BODY = 1024 * 1024;
export const LIST_BODY = 4 * USUAL_BODY;
export const LARGE_BODY = 10 * USUAL_BODY;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route {
  readonly method: Method;
  /** `/panel/api/x/hello/{name}`; `{name*}` at its end matches the rest of the path, slashes included, or nothing. A function if an admin configures it: called again at every remount */
  readonly path: string | (() => string);
  /** admin: session or token (the default); session: cookie only; anyone: public */
  readonly auth: 'admin' | 'session' | 'anyone';
  readonly listener: string;
  /** answers under every host: watchdogs and load balancers use any address */
  readonly anyHost?: boolean;
  /** Name for clients, `clients.list`: unique; for a third-party plugin it begins with the plugin's name. Without it, the name is derived from method and path. */
  readonly name?: string;
  readonly doc: string;
  readonly params?: Joi.Schema | undefined;
  readonly query?: Joi.Schema | undefined;
  readonly body?: Joi.Schema | undefined;
  /** also accepts application/x-www-form-urlencoded */
  readonly form: boolean;
  /** the body is only described: the handler receives the request (IncomingMessage) instead */
  readonly stream: boolean;
  /** Callers may send `Idempotency-Key`: a repetition gets the first reply and is not handled again. By default each POST that can be repeated: one that asks for a login, takes no stream and no files, and sends no stream. */
  readonly idempotent: boolean;
  /**
   * Most bytes of the body after decompression. By default 16 KiB where `auth` is `anyone` (and never more there), else
   * 1 MiB. A JSON body may hold 20,000 separators (`,` `:` `[` `{`), with `LARGE_BODY` 200,000.
   */
  readonly bodyLimit: number;
  /** The body is multipart/form-data: these files, and texts that match `body`. `bodyLimit` applies to the texts only. */
  readonly files?: Readonly<Record<string, FileRule>> | undefined;
  /** Refuses a request with an error before its body is read; knows the caller, its address and the parameters. */
  readonly beforeBody?: ((input: RequestInfo) => void | Promise<void>) | undefined;
  /** Set by the kernel, before `beforeBody`: see Permits. */
  readonly permit?: Permit | undefined;
  readonly reply: ReplyKind;
  readonly errors: readonly ErrorFactory[];
  readonly handle: (input: never) => unknown;
}

type Needed = 'method' | 'path' | 'doc';
/** with types that follow from the schemas of the route */
type Narrowed = 'params' | 'query' | 'body' | 'files' | 'reply' | 'handle';

interface Declared<
  P extends Joi.Schema,
  Q extends Joi.Schema,
  B extends Joi.Schema,
  R extends ReplyKind,
  F extends Files,
> extends Pick<Route, Needed>,
    Partial<Omit<Route, Needed | Narrowed | 'permit'>> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly files?: F;
  readonly reply: R;
  readonly handle: (
    input: RequestInfo & {
      readonly params: Static<P>;
      readonly query: Static<Q>;
      readonly body: Static<B>;
      readonly files: Given<F>;
    },
  ) => Returned<R> | Promise<Returned<R>>;
}

export function route<
  P extends Joi.Schema = never,
  Q extends Joi.Schema = never,
  B extends Joi.Schema = never,
  R extends ReplyKind = { kind: 'message' },
  F extends Files = never,
>(declared: Declared<P, Q, B, R, F>): Route {
  const { auth = 'admin', files, stream = false, ...rest } = declared;
  const { bodyLimit = auth === 'anyone' ? PUBLIC_BODY : USUAL_BODY } = declared;
  if (auth === 'anyone' && Math.max(bodyLimit, fileBytes(files ?? {})) > PUBLIC_BODY)
    throw new Error(
      `${rest.method} ${String(rest.path)}: a route that asks for no login takes a body of at most ${sizeOf(PUBLIC_BODY)}`,
    );
  // A plugin in JavaScript may give none; the table refuses the route then, and names the plugin.
  const replyKind = (rest.reply as ReplyKind | undefined)?.kind;
  const isRead = !stream && !files && replyKind !== 'stream' && replyKind !== 'folder';
  return {
    idempotent: rest.method === 'POST' && auth !== 'anyone' && isRead,
    listener: 'panel',
    form: false,
    errors: [],
    ...rest,
    auth,
    stream,
    files,
    bodyLimit,
    handle: rest.handle as Route['handle'],
  };
}
