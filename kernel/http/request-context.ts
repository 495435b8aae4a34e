// A request as its handler is told of it.
import type { Request, Response } from 'express';
import { ANYONE, type Principal } from '../auth/principal.js';
import type { Proxies } from '../../net/proxies.js';
import type { ReplyTools, RequestInfo } from './route.js';

/**
 * What a handler is told. A class, because of its getter: a literal with one gets a hidden class of its own each time,
 * which V8 keeps for several collections with all that it reaches, request and response included (measured: 60 MiB of
 * them at times, and seven times as long a collection).
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

  /** Making one and setting it off costs a fifth of a short call, so it is made for who asks. */
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
