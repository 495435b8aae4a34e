// Two paths to the same reply. The fast path is a plain function before Express, for requests it fully understands.
// All others, and every fetch while a plugin taps the fetch hooks, take the slow path through routes and hooks.
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Clock,
  type Hooks,
  isLoopback,
  type ListenersApi,
  type LiveSettings,
} from '../../kernel/index.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { Chooser } from './choice.js';
import type { Compiled } from './compiled.js';
import { beforeSubscription, type Format, type GateDecision, subscriptionHeaders } from './contract.js';
import type { Gates } from './gates.js';
import type { Info } from './info.js';
import type { Misses } from './misses.js';
import { OneWrite } from './one-write.js';
import type { Renderer } from './renderer.js';
import type { subscriptionSettings } from './settings.js';
import { isKnown, listOf } from './slow-fetch.js';
import { subscriberOf } from './subscriber.js';
import { acceptsHtml, targetOf } from './target.js';

/** No route has this path: a request that is sent there is answered as any other for what is not there. */
const NOWHERE = '/.';

export class FetchHandler {
  readonly #compiled: Compiled;
  readonly #renderer: Renderer;
  readonly #gates: Gates;
  readonly #clients: ClientsApi;
  readonly #hooks: Hooks;
  readonly #clock: Clock;
  readonly #listeners: ListenersApi;
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #chooser: Chooser;
  readonly #info: Info;
  readonly #misses: Misses;
  readonly #oneWrite = new OneWrite();

  constructor(needs: {
    compiled: Compiled;
    renderer: Renderer;
    gates: Gates;
    clients: ClientsApi;
    hooks: Hooks;
    clock: Clock;
    listeners: ListenersApi;
    settings: LiveSettings<typeof subscriptionSettings>;
    chooser: Chooser;
    info: Info;
    misses: Misses;
  }) {
    this.#compiled = needs.compiled;
    this.#renderer = needs.renderer;
    this.#gates = needs.gates;
    this.#clients = needs.clients;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#listeners = needs.listeners;
    this.#settings = needs.settings;
    this.#chooser = needs.chooser;
    this.#info = needs.info;
    this.#misses = needs.misses;
  }

  /** Runs before Express; false passes the request on. */
  readonly fast = (request: IncomingMessage, response: ServerResponse): boolean => {
    const wait = this.#misses.waitOf(request, this.#clock.now());
    if (wait > 0) {
      refuse(response, 429, [['Retry-After', String(wait)]]);
      return true;
    }
    if (this.#isOtherHost(request)) {
      refuse(response, 403, []);
      return true;
    }
    const { method, url = '' } = request;
    if (method === 'GET' || method === 'HEAD')
      for (const [prefix, format] of this.#compiled.served)
        if (url.startsWith(prefix)) return this.#below(request, response, format, url.slice(prefix.length));
    this.#countMiss(request, response);
    return false;
  };

  /** Requests for other hosts are not for subscriptions: programs that scan addresses send them. */
  #isOtherHost(request: IncomingMessage): boolean {
    const { subDomain } = this.#settings.read();
    if (subDomain === '') return false;
    const host = this.#listeners.proxies.requestHost(request);
    return host.toLowerCase() !== subDomain.toLowerCase() && !isLoopback(host);
  }

  #below(request: IncomingMessage, response: ServerResponse, format: Format, rest: string): boolean {
    const target = targetOf(rest);
    if (target === 'elsewhere') {
      this.#countMiss(request, response);
      return false;
    }
    const client = target && this.#clients.bySubId(target.id);
    if (!client) {
      // As fast as any other path, byte by byte the same reply.
      request.url = NOWHERE;
      this.#countMiss(request, response);
      return false;
    }
    const { query, isDeviceStatus } = target;
    const isSlow =
      isDeviceStatus ||
      query !== undefined ||
      this.#hooks.isUsed(beforeSubscription) ||
      this.#hooks.isUsed(subscriptionHeaders) ||
      (acceptsHtml(request.headers.accept) && this.#info.hasPage);
    // Routes have the path of the format; an alias has none.
    if (isSlow) request.url = (this.#compiled.pathOf(format) ?? '') + rest;
    return this.#answer(request, response, format, client, isSlow);
  }

  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    format: Format,
    client: ClientRow,
    isSlow: boolean,
  ): boolean {
    const { headers, method } = request;
    const choice = this.#chooser.of(format, headers['user-agent'] ?? '', undefined);
    if (choice.isBlocked) {
      request.url = NOWHERE;
      this.#countMiss(request, response);
      return false;
    }
    if (isSlow) {
      this.#countMiss(request, response);
      return false;
    }
    const now = this.#clock.now();
    const subscriber = subscriberOf(this.#clients, client, now);
    const decision = this.#gates.check(subscriber.client, headers);
    const host = this.#listeners.proxies.requestHost(request);
    const answer = decision?.refused
      ? this.#renderer.overLimit(choice.wanted, subscriber, host)
      : this.#renderer.render(choice.wanted, subscriber, host);
    if (!answer) {
      refuse(response, 404, decision?.headers ?? []);
      return true;
    }
    if (decision) answer.own.push(...decision.headers.flat());
    answer.own.push(...choice.headers);
    const status = isKnown(answer.etag, headers['if-none-match']) ? 304 : 200;
    if (method === 'GET') this.#oneWrite.send(request, response, status, answer, now);
    else if (status === 304) response.writeHead(304, listOf(answer)).end();
    else
      response
        .writeHead(200, [...listOf(answer), 'Content-Length', String(Buffer.byteLength(answer.body))])
        .end();
    if (method === 'GET' && !decision?.refused) {
      if (!subscriber.sharing) this.#clients.fetched(client.id, now);
      else for (const { id } of subscriber.sharing) this.#clients.fetched(id, now);
    }
    return true;
  }

  #countMiss(request: IncomingMessage, response: ServerResponse): void {
    response.once('finish', () => {
      if (response.statusCode === 404) this.#misses.record(request, this.#clock.now());
    });
  }
}

/** Sends exactly the bytes of the slow path's refusal, with the same order of headers: any difference would reveal the secret prefix. */
function refuse(response: ServerResponse, status: number, headers: GateDecision['headers']): void {
  response.statusCode = status;
  for (const [name, value] of headers) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-store');
  response.end();
}
