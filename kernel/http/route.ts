// A route as data: from this one declaration come validation, types and the API description.
import type Joi from 'joi';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../auth/principal.js';
import type { ErrorFactory } from '../errors/errors.js';
import type { Static } from '../../schema/shape.js';

/** How the value that a handler returns is sent. */
export type ReplyKind =
  | { readonly kind: 'payload'; readonly schema: Joi.Schema; readonly unwrappedAs?: string }
  | { readonly kind: 'message' }
  | { readonly kind: 'bare'; readonly schema: Joi.Schema }
  | { readonly kind: 'raw'; readonly mediaType: string };

/** The value goes into `obj` of the envelope; a handler that returns `unwrapped(value)` sends it without one, under the media type that is given here. */
export const payload = <S extends Joi.Schema>(schema: S, options: { readonly unwrappedAs?: string } = {}) =>
  ({ kind: 'payload', schema, ...options }) as const;
/** The handler returns a sentence (or nothing); `obj` is null. */
export const message = () => ({ kind: 'message' }) as const;
/** The value is the whole body. */
export const bare = <S extends Joi.Schema>(schema: S) => ({ kind: 'bare', schema }) as const;
/** The handler returns the body's text and sets the headers itself; the media type is for descriptions. */
export const raw = (mediaType = '*/*') => ({ kind: 'raw', mediaType }) as const;

/** A value that says how it is sent; without a `msg` there is no envelope. */
export class Answer<T> {
  readonly obj: T;
  readonly msg: string | undefined;
  constructor(obj: T, msg?: string) {
    this.obj = obj;
    this.msg = msg;
  }
}
/** An `obj` together with a `msg`, for payload routes that have something to say. */
export const said = <T>(msg: string, obj: T): Answer<T> => new Answer(obj, msg);
/** An `obj` without its envelope, for callers that asked for it so. */
export const unwrapped = <T>(obj: T): Answer<T> => new Answer(obj);

// biome-ignore lint/suspicious/noConfusingVoidType: a handler with nothing to say has no return
type Sentence = string | void;
type Returned<R> = R extends { kind: 'payload'; schema: infer S }
  ? Static<S> | Answer<Static<S>>
  : R extends { kind: 'bare'; schema: infer S }
    ? Static<S>
    : R extends { kind: 'message' }
      ? Sentence
      : string;

export interface CookieOptions {
  readonly maxAge?: number;
  readonly httpOnly?: boolean;
}

/** What a handler may do to its reply besides returning a value. */
export interface ReplyTools {
  status(code: number): void;
  header(name: string, value: string): void;
  /** SameSite=Lax, path and Secure are set by the kernel; `maxAge` in ms. */
  cookie(name: string, value: string, options: CookieOptions): void;
  clearCookie(name: string): void;
}

export interface RequestInfo {
  /** of the kind `anyone`, without a name, where the route asks for no login */
  readonly who: Principal;
  readonly ip: string;
  /** host the caller asked for, without port */
  readonly host: string;
  readonly secure: boolean;
  readonly method: string;
  /** path and query below the listener's base path */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly cookies: Readonly<Record<string, string>>;
  /** ends when the caller is gone or its time is up */
  readonly signal: AbortSignal;
  readonly reply: ReplyTools;
}

/** Bytes of a body: without a login, of most routes, of lists of 10,000 names, of lists of thousands of objects. */
export const PUBLIC_BODY = 16 * 1024;
export const USUAL_BODY = 1024 * 1024;
export const LIST_BODY = 4 * USUAL_BODY;
export const LARGE_BODY = 10 * USUAL_BODY;

/** For people: `16 KiB`, `10 MiB`. */
export const sizeOf = (bytes: number): string =>
  bytes % USUAL_BODY === 0 ? `${bytes / USUAL_BODY} MiB` : `${Math.round(bytes / 1024)} KiB`;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route {
  readonly method: Method;
  /** `/panel/api/x/hello/{name}`; a function where an admin configures it: it is read again at every remount */
  readonly path: string | (() => string);
  /** admin: session or token (the default); session: cookie only; anyone: public */
  readonly auth: 'admin' | 'session' | 'anyone';
  readonly listener: string;
  readonly doc: string;
  readonly params: Joi.Schema | undefined;
  readonly query: Joi.Schema | undefined;
  readonly body: Joi.Schema | undefined;
  /** also takes application/x-www-form-urlencoded */
  readonly form: boolean;
  /** the body is described and not read: the handler is given the request (IncomingMessage) in its place */
  readonly stream: boolean;
  /**
   * Bytes of the body, after it is unpacked. By default 16 KiB where `auth` is `anyone` (and never more there), else
   * 1 MiB. A JSON body may hold 20,000 separators (`,` `:` `[` `{`), with `LARGE_BODY` 200,000.
   */
  readonly bodyLimit: number;
  /** Refuses a request by an error, before anything of its body is read: it knows who asks, from where and for what. */
  readonly beforeBody: ((input: RequestInfo) => void | Promise<void>) | undefined;
  readonly reply: ReplyKind;
  readonly errors: readonly ErrorFactory[];
  readonly handle: (input: never) => unknown;
}

interface Declared<P extends Joi.Schema, Q extends Joi.Schema, B extends Joi.Schema, R extends ReplyKind>
  extends Pick<Route, 'method' | 'path' | 'doc'>,
    Partial<Pick<Route, 'auth' | 'listener' | 'form' | 'stream' | 'bodyLimit' | 'beforeBody' | 'errors'>> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly reply: R;
  readonly handle: (
    input: RequestInfo & { readonly params: Static<P>; readonly query: Static<Q>; readonly body: Static<B> },
  ) => Returned<R> | Promise<Returned<R>>;
}

export function route<
  P extends Joi.Schema = never,
  Q extends Joi.Schema = never,
  B extends Joi.Schema = never,
  R extends ReplyKind = { kind: 'message' },
>(declared: Declared<P, Q, B, R>): Route {
  const {
    params,
    query,
    body,
    handle,
    auth = 'admin',
    listener = 'panel',
    form = false,
    stream = false,
    bodyLimit = auth === 'anyone' ? PUBLIC_BODY : USUAL_BODY,
    beforeBody,
    errors = [],
    ...rest
  } = declared;
  if (auth === 'anyone' && bodyLimit > PUBLIC_BODY)
    throw new Error(
      `${rest.method} ${String(rest.path)}: a route that asks for no login takes a body of at most ${sizeOf(PUBLIC_BODY)}`,
    );
  return {
    ...rest,
    auth,
    listener,
    form,
    stream,
    bodyLimit,
    beforeBody,
    errors,
    params,
    query,
    body,
    handle: handle as Route['handle'],
  };
}
