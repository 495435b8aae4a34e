// The steps of one request, in order: known path, authentication, CSRF, permission, parameters, body, handler, reply.
import type { Request, Response } from 'express';
import type Joi from 'joi';
import { ANYONE, authenticate, type Principal } from '../auth/principal.js';
import { requireCsrf } from '../auth/csrf.js';
import { cookiesOf } from '../../net/cookies.js';
import { jsonOf, plainOf } from '../../net/long-list.js';
import { isSafe } from '../../net/same-origin.js';
import type { SessionStore } from '../auth/session.js';
import { SESSION_COOKIE, type SessionCookieNames } from '../auth/session-cookie.js';
import { kernelErrors } from '../errors/errors.js';
import { validate, validateInSlices } from '../errors/invalid.js';
import type { HookRegistry } from '../hooks/registry.js';
import type { Owner } from '../plugin/owner.js';
import type { RequestBody } from '../../net/body.js';
import type { MultipartBody } from '../../net/multipart.js';
import type { Proxies } from '../../net/proxies.js';
import { JSON_TYPE, type ReplyWriter } from '../../net/reply-writer.js';
import { replyStreamed, type Streamed } from '../../net/streamed-reply.js';
import { findUnknownKeys, withIgnored } from '../../schema/unknown-keys.js';
import { RequestContext } from './request-context.js';
import { failure, success } from './envelope.js';
import { Answer } from './reply.js';
import { bodyOf, uploadOf } from './request-body.js';
import type { Route } from './route.js';
import { replyTools } from '../../net/reply-tools.js';
import type { Log } from '../log/log.js';

/** A reply that does not match the declaration of its route is a bug of the route. */
async function check({ method, path }: Route, schema: Joi.Schema, obj: unknown): Promise<void> {
  try {
    validate(schema, await plainOf(obj ?? null), { closed: true });
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
  readonly replies: ReplyWriter;
  readonly cookies: SessionCookieNames;
  /** throws for a request under a host that the listener does not serve */
  readonly requireHost?: (request: Request) => void;
  /** reply for a path without a route, or of which a folder has nothing */
  readonly missing: (path: string) => Error;
}

export class Pipeline {
  readonly #parts: PipelineParts;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  missing(path: string): Error {
    return this.#parts.missing(path);
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
    if (!route.anyHost) this.#parts.requireHost?.(request);
    const cookies = this.#parts.cookies.read(cookiesOf(request, response));
    const context = new RequestContext(request, response, cookies, this.#parts.proxies, (secure) =>
      replyTools(response, this.#parts.basePath(), secure, (name) => this.#parts.cookies.namesOf(name)),
    );
    response.on('timeout', () => {
      context.abort();
      if (!response.headersSent) response.setHeader('Connection', 'close');
      this.fail(kernelErrors.TIMEOUT(), request, response, () => undefined);
    });
    const body = bodyOf(route, request, response);
    context.who = Object.freeze(await this.#admit(route, request, body, cookies, context.ip));
    route.permit?.(context.who);
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
      return { name: session.userName, kind: 'session', session: session.digest, ip };
    }
    const asked = { authorization, cookies, ip, request };
    const who = route.auth !== 'session' && (await this.#parts.hooks.choose(authenticate, asked));
    if (!who) throw kernelErrors.UNAUTHORIZED();
    return { ...who, ip };
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

  async #reply(route: Route, response: Response, result: unknown, context: RequestContext): Promise<void> {
    const { reply } = route;
    const { obj, msg } = result instanceof Answer ? result : { obj: result, msg: '' };
    const said = withIgnored(reply.kind === 'message' ? obj : msg, context.ignored);
    if (reply.kind === 'stream') {
      const streamed = result as Streamed;
      if (reply.headers && this.#parts.checkReplies) await check(route, reply.headers, streamed.headers);
      await this.#stream(response, reply.mediaType, streamed, context.signal);
    } else if (reply.kind === 'folder') {
      this.#parts.replies.setHeaders(response);
      const { path } = context.params as { path: string };
      if (!(await reply.folder.send(response.req, response, path))) throw this.missing(response.req.path);
    } else if (reply.kind === 'raw') {
      const isRead = response.req.method !== 'HEAD';
      this.#parts.replies.send(response, [], isRead ? (obj as string | Buffer) : undefined);
    } else if (reply.kind === 'message')
      this.#parts.replies.json(response, JSON.stringify(success(said, null)));
    else {
      const isDeclared = !(result instanceof Answer) || result.isDeclared;
      if (this.#parts.checkReplies && isDeclared) await check(route, reply.schema, obj);
      const isBare = reply.kind === 'bare' || msg === undefined;
      const json = jsonOf(isBare ? obj : success(said, obj));
      const mediaType = isBare && reply.kind === 'payload' ? reply.unwrappedAs : undefined;
      if (typeof json === 'string') this.#parts.replies.json(response, json, mediaType);
      else await this.#stream(response, JSON_TYPE, { body: json }, context.signal);
    }
  }

  #stream(response: Response, mediaType: string, streamed: Streamed, signal: AbortSignal): Promise<void> {
    return replyStreamed(response, mediaType, streamed, signal, () =>
      this.#parts.replies.setHeaders(response),
    );
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
    const requestId = this.#parts.proxies.requestId(request);
    const { status, headers, body, expected } = failure(error, requestId);
    if (!expected) {
      const { method, path } = request;
      this.#parts.log.error('request failed', { requestId, method, path, error });
      if (status === 500) blame(error);
    }
    if (response.headersSent) {
      // Half a reply is already sent: only a broken connection tells the caller that it is incomplete.
      response.destroy();
      return;
    }
    response.status(status);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (this.hasEnvelopes) this.#parts.replies.json(response, JSON.stringify(body));
    else this.#parts.replies.send(response, ['Cache-Control', 'no-store']);
  }
}
