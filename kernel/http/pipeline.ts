// The steps of one request, in order: known path, authentication, CSRF, parameters, body, handler, reply.
import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type Joi from 'joi';
import { ANYONE, authenticate, type Principal } from '../auth/principal.js';
import { requireCsrf } from '../auth/csrf.js';
import { cookiesOf } from '../../net/cookies.js';
import { isSafe } from '../../net/same-origin.js';
import { SESSION_COOKIE, type SessionStore } from '../auth/session.js';
import { kernelErrors } from '../errors/errors.js';
import { validate, validateInSlices } from '../errors/invalid.js';
import type { HookRegistry } from '../hooks/registry.js';
import type { Owner } from '../plugin/owner.js';
import type { RequestBody } from '../../net/body.js';
import type { MultipartBody } from '../../net/multipart.js';
import type { Proxies } from '../../net/proxies.js';
import { replyStreamed, type Streamed } from '../../net/streamed-reply.js';
import { isPinnable } from '../../net/transport-security.js';
import { findUnknownKeys, withIgnored } from '../../schema/unknown-keys.js';
import { RequestContext } from './request-context.js';
import { failure, success } from './envelope.js';
import { health } from './health.js';
import { Answer } from './reply.js';
import { bodyOf, uploadOf } from './request-body.js';
import type { ReplyTools, Route } from './route.js';
import type { Log } from '../log/log.js';

/** A reply that does not match the declaration of its route is a bug of the route. */
function check({ method, path }: Route, schema: Joi.Schema, obj: unknown): void {
  try {
    validate(schema, JSON.parse(JSON.stringify(obj ?? null)), { closed: true });
  } catch (cause) {
    throw new Error(
      `the reply of ${method} ${String(path)} does not fit its declaration: ${(cause as Error).message}`,
      { cause },
    );
  }
}

export interface PipelineParts {
  readonly hooks: HookRegistry;
  readonly sessions: SessionStore;
  readonly proxies: Proxies;
  readonly log: Log;
  /** path of the cookies */
  readonly basePath: () => string;
  /** folder that holds uploads until their requests are answered */
  readonly uploads: string;
  /** tests check every reply against its declaration */
  readonly checkReplies: boolean;
  /** failures send an envelope, or only their status (for programs that look at nothing else) */
  readonly errors: 'envelope' | 'status';
  /** on every reply, unless the route sets them: name, value, name, value … */
  readonly headers: readonly string[];
  /** instead of those on replies over TLS to a request under a host name */
  readonly secureHeaders?: readonly string[];
  /** throws for a request under a host that the listener does not serve */
  readonly requireHost?: (request: Request) => void;
}

export class Pipeline {
  readonly #parts: PipelineParts;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  get hasEnvelopes(): boolean {
    return this.#parts.errors === 'envelope';
  }

  handler(owner: Owner, route: Route) {
    return async (request: Request, response: Response): Promise<void> => {
      try {
        if (owner.isOff) throw kernelErrors.PLUGIN_OFF(owner.offReason);
        await this.#run(route, request, response);
      } catch (error) {
        this.fail(error, request, response, (bug) => owner.fault(`${route.method} ${request.path}`, bug));
      }
    };
  }

  async #run(route: Route, request: Request, response: Response): Promise<void> {
    // Watchdogs use any address.
    if (route !== health) this.#parts.requireHost?.(request);
    const cookies = cookiesOf(request, response);
    const context = new RequestContext(request, response, cookies, this.#parts.proxies, (secure) =>
      this.#tools(response, secure),
    );
    response.on('timeout', () => {
      context.abort();
      if (!response.headersSent) response.setHeader('Connection', 'close');
      this.fail(kernelErrors.TIMEOUT(), request, response, () => undefined);
    });
    const body = bodyOf(route, request, response);
    context.who = Object.freeze(await this.#admit(route, request, body, cookies, context.ip));
    if (route.params) context.params = validate(route.params, request.params, { convert: true });
    if (route.query) context.query = validate(route.query, request.query, { convert: true });
    await route.beforeBody?.(context);
    const upload = route.files && uploadOf(route, request, response, this.#parts.uploads);
    try {
      if (upload) await this.#take(route, upload, context);
      else if (route.body) await this.#body(route, request, body, context);
      const result = await route.handle(context as never);
      // Only a stream may still read from an uploaded file.
      if (route.reply.kind !== 'stream') await upload?.remove();
      if (!response.headersSent) await this.#reply(route, response, result, context);
    } finally {
      await upload?.remove();
    }
  }

  async #take(route: Route, upload: MultipartBody, context: RequestContext): Promise<void> {
    const { fields, files } = await upload.read();
    await this.#check(route, { ...fields }, context, true);
    context.files = Object.fromEntries(
      Object.entries(route.files ?? {}).map(([name, { most, least }]) => [
        name,
        most === 1 && least === 1 ? files[name]?.[0] : files[name],
      ]),
    );
  }

  /** Checks whether the route admits the caller. Unsafe calls with a cookie also need the session's CSRF token. */
  async #admit(
    route: Route,
    request: Request,
    body: RequestBody,
    cookies: Record<string, string>,
    ip: string,
  ): Promise<Principal> {
    if (route.auth === 'anyone') return ANYONE;
    const { authorization } = request.headers;
    // A proxy in front may ask for another kind of authorization (Basic), which is not meant for the panel.
    const session = /^bearer\b/i.test(authorization ?? '')
      ? undefined
      : this.#parts.sessions.find(cookies[SESSION_COOKIE], ip);
    if (session) {
      if (!isSafe(request.method)) requireCsrf(session.csrf, await this.#sentCsrf(request, body));
      return { name: session.userName, kind: 'session', session: session.digest };
    }
    const who =
      route.auth === 'session'
        ? undefined
        : await this.#parts.hooks.choose(authenticate, { authorization, cookies, ip });
    if (!who) throw kernelErrors.UNAUTHORIZED();
    return who;
  }

  async #sentCsrf(request: Request, body: RequestBody): Promise<string | undefined> {
    const header = request.headers['x-csrf-token'];
    if (header !== undefined) return String(header);
    return body.isForm ? ((await body.read()) as Record<string, string> | undefined)?.['_csrf'] : undefined;
  }

  async #body(route: Route, request: Request, body: RequestBody, context: RequestContext): Promise<void> {
    if (body.isForm && !route.form) throw kernelErrors.UNSUPPORTED_BODY();
    if (route.stream) {
      body.check();
      context.body = request;
    } else await this.#check(route, await body.read(), context, body.isForm);
  }

  async #check(
    { body }: Route,
    sent: unknown = {},
    context: RequestContext,
    convert: boolean,
  ): Promise<void> {
    if (!body) return;
    context.body = await validateInSlices(body, sent, { convert });
    await findUnknownKeys(body, sent, context.ignored);
    // Read before the body is checked.
    if (convert) context.ignored.delete('_csrf');
  }

  #tools(response: Response, secure: boolean): ReplyTools {
    const path = this.#parts.basePath();
    return {
      status: (code) => void response.status(code),
      header: (name, value) => void response.setHeader(name, value),
      cookie: (name, value, { maxAge, httpOnly = true }) =>
        void response.cookie(name, value, {
          path,
          secure,
          httpOnly,
          sameSite: 'lax',
          ...(maxAge !== undefined && { maxAge }),
        }),
      clearCookie: (name) => void response.clearCookie(name, { path, sameSite: 'lax' }),
    };
  }

  async #reply(route: Route, response: Response, result: unknown, context: RequestContext): Promise<void> {
    const { reply } = route;
    const { obj, msg } = result instanceof Answer ? result : { obj: result, msg: '' };
    const said = withIgnored(reply.kind === 'message' ? obj : msg, context.ignored);
    if (reply.kind === 'stream') {
      const streamed = result as Streamed;
      if (reply.headers && this.#parts.checkReplies) check(route, reply.headers, streamed.headers);
      await replyStreamed(response, reply.mediaType, streamed, context.signal, () =>
        this.#setHeaders(response),
      );
    } else if (reply.kind === 'folder') {
      this.#setHeaders(response);
      const { path } = context.params as { path: string };
      if (!(await reply.folder.send(response.req, response, path))) throw kernelErrors.NOT_FOUND();
    } else if (reply.kind === 'raw')
      this.#send(response, [], response.req.method === 'HEAD' ? undefined : (obj as string | Buffer));
    else if (reply.kind === 'message') this.#json(response, success(said, null));
    else {
      if (this.#parts.checkReplies) check(route, reply.schema, obj);
      if (reply.kind === 'bare') this.#json(response, obj);
      else if (msg === undefined) this.#json(response, obj, reply.unwrappedAs);
      else this.#json(response, success(said, obj));
    }
  }

  #json(response: Response, body: unknown, mediaType = 'application/json; charset=utf-8'): void {
    const text = JSON.stringify(body);
    const length = Buffer.byteLength(text);
    // All ASCII, so characters are bytes; Node sends Latin-1 faster.
    this.#send(
      response,
      ['Content-Type', mediaType, 'Content-Length', String(length), 'Cache-Control', 'no-store'],
      text,
      length === text.length ? 'latin1' : 'utf8',
    );
  }

  #headers(request: Request): readonly string[] {
    const { headers, secureHeaders = headers, proxies } = this.#parts;
    return proxies.isSecure(request) && isPinnable(proxies.requestHost(request)) ? secureHeaders : headers;
  }

  /** The headers of every reply, unless the route has set them. */
  #setHeaders(response: Response): void {
    const headers = this.#headers(response.req);
    for (let i = 0; i < headers.length; i += 2)
      if (!response.hasHeader(headers[i] as string))
        response.setHeader(headers[i] as string, headers[i + 1] as string);
  }

  /** One call with all headers costs a fraction of many `setHeader` calls. Those remain for routes that set headers, and where Node computes the length. */
  #send(
    response: Response,
    own: readonly string[],
    body?: string | Buffer,
    encoding: BufferEncoding = 'utf8',
  ): void {
    const headers = this.#headers(response.req);
    if (own.includes('Content-Length') && response.getHeaderNames().length === 0)
      response.writeHead(response.statusCode, [...headers, ...own]);
    else {
      this.#setHeaders(response);
      for (let i = 0; i < own.length; i += 2) response.setHeader(own[i] as string, own[i + 1] as string);
    }
    response.end(body, encoding);
  }

  /** `blame` is called for errors that no input caused. */
  fail(error: unknown, request: Request, response: Response, blame: (error: unknown) => void): void {
    try {
      this.#fail(error, request, response, blame);
    } catch (unsayable) {
      // The error has an invalid status, header or issue: the caller still needs a reply.
      if (!response.headersSent) for (const name of response.getHeaderNames()) response.removeHeader(name);
      this.#fail(unsayable, request, response, blame);
    }
  }

  #fail(error: unknown, request: Request, response: Response, blame: (error: unknown) => void): void {
    const requestId = randomUUID();
    const { status, headers, body, expected } = failure(error, requestId);
    if (!expected) {
      this.#parts.log.error('request failed', {
        requestId,
        method: request.method,
        path: request.path,
        error,
      });
      if (status === 500) blame(error);
    }
    if (response.headersSent) {
      // Half a reply is already sent: only a broken connection tells the caller that it is incomplete.
      response.destroy();
      return;
    }
    response.status(status);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (this.hasEnvelopes) this.#json(response, body);
    else this.#send(response, ['Cache-Control', 'no-store']);
  }
}
