// The context of a request, for its handler.
import type { Request, Response } from 'express';
import { ANYONE, type Principal } from '../auth/principal.js';
import type { Proxies } from '../../net/proxies.js';
import type { ReplyTools } from '../../net/reply-tools.js';
import type { RequestInfo } from './route.js';

/**
 * The argument of a handler. A class because of its getter: a literal with a getter gets its own hidden class each time,
 * which V8 keeps for several collections together with request and response (measured: up to 60 MiB, and seven times as
 * long a collection).
 */
export class RequestContext implements RequestInfo {
  readonly ip: string;
  readonly host: string;
  readonly method: string;
  readonly url: string;
  readonly secure: boolean;
  readonly headers: RequestInfo['headers'];
  readonly cookies: RequestInfo['cookies'];
  readonly reply: ReplyTools;
  who: Principal = ANYONE;
  params: unknown = {};
  query: unknown = {};
  body: unknown = {};
  files: unknown = {};
  readonly #response: Response;
  #ignored: Set<string> | undefined;
  #controller: AbortController | undefined;
  #over = false;

  constructor(
    request: Request,
    response: Response,
    cookies: RequestInfo['cookies'],
    proxies: Proxies,
    reply: (secure: boolean) => ReplyTools,
  ) {
    this.ip = proxies.callerAddress(request);
    this.host = proxies.requestHost(request);
    this.secure = proxies.isSecure(request);
    ({ method: this.method, url: this.url, headers: this.headers } = request);
    this.cookies = cookies;
    this.reply = reply(this.secure);
    this.#response = response;
  }

  get ignored(): Set<string> {
    return (this.#ignored ??= new Set());
  }
  /** Creating and aborting a signal takes a fifth of a short call, so it is created on demand. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#over || this.#response.closed) this.#controller.abort();
      else this.#response.on('close', () => this.abort());
    }
    return this.#controller.signal;
  }
  abort(): void {
    this.#over = true;
    this.#controller?.abort();
  }
}
