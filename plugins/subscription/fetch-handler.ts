// Two paths to the same reply. The fast path is a plain function before Express, for requests it fully understands.
// All others, and every fetch while a plugin taps the fetch hooks, take the slow path through routes and hooks.
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Clock,
  type Hooks,
  kernelErrors,
  type ListenersApi,
  PanelError,
  raw,
  type RequestInfo,
  type Route,
  route,
  shape,
  word,
} from '../../kernel/index.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { Compiled } from './compiled.js';
import { beforeSubscription, type Format, type GateDecision, subscriptionHeaders } from './contract.js';
import type { Gates } from './gates.js';
import { OneWrite } from './one-write.js';
import { headersProblem } from './shapes.js';
import type { Rendered, Renderer } from './renderer.js';

/** Characters that need no escape in a path; ids with others take the slow path. */
const PLAIN_ID = /^[A-Za-z0-9._~@+-]+$/;
export class FetchHandler {
  readonly #compiled: Compiled;
  readonly #renderer: Renderer;
  readonly #gates: Gates;
  readonly #clients: ClientsApi;
  readonly #hooks: Hooks;
  readonly #clock: Clock;
  readonly #listeners: ListenersApi;
  readonly #oneWrite = new OneWrite();
  /** Rendered for unknown ids too, so that these take as long as known ones. */
  #decoy: ClientRow | undefined;

  constructor(needs: {
    compiled: Compiled;
    renderer: Renderer;
    gates: Gates;
    clients: ClientsApi;
    hooks: Hooks;
    clock: Clock;
    listeners: ListenersApi;
  }) {
    this.#compiled = needs.compiled;
    this.#renderer = needs.renderer;
    this.#gates = needs.gates;
    this.#clients = needs.clients;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#listeners = needs.listeners;
  }

  /** Runs before Express; false passes the request on. */
  readonly fast = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, url = '' } = request;
    if (
      (method !== 'GET' && method !== 'HEAD') ||
      this.#hooks.isUsed(beforeSubscription) ||
      this.#hooks.isUsed(subscriptionHeaders)
    )
      return false;
    for (const [prefix, format] of this.#compiled.served) {
      if (!url.startsWith(prefix)) continue;
      const id = url.slice(prefix.length);
      if (PLAIN_ID.test(id)) return this.#answer(request, response, format, id);
    }
    return false;
  };

  #answer(request: IncomingMessage, response: ServerResponse, format: Format, id: string): boolean {
    const client = this.#clients.bySubId(id);
    const shown = client ?? this.#decoy;
    if (!shown) return false;
    this.#decoy = shown;
    const decision = client && this.#gates.check(client, request.headers);
    if (decision?.refused) {
      notFound(response, decision.headers);
      return true;
    }
    const answer = this.#renderer.render(format, shown, this.#listeners.proxies.requestHost(request));
    if (decision) answer.own.push(...decision.headers.flat());
    const isHead = request.method === 'HEAD';
    if (!client) {
      notFound(response, []);
    } else if (isHead) {
      response
        .writeHead(200, [...listOf(answer), 'Content-Length', String(Buffer.byteLength(answer.body))])
        .end();
    } else {
      const now = this.#clock.now();
      this.#oneWrite.send(request, response, answer, now);
      this.#clients.fetched(client.id, now);
    }
    return true;
  }

  /** One route per format, with every hook. */
  routes(): Route[] {
    return this.#compiled.formats.map((format) =>
      route({
        method: 'GET',
        listener: 'subscription',
        auth: 'anyone',
        path: () => `${this.#compiled.pathOf(format) ?? `/off/${format.name}/`}{subid}`,
        doc: `Returns a subscription in the format ${format.name}.`,
        params: shape({ subid: word() }),
        reply: raw(),
        handle: (input) => this.#slow(format, input.params.subid, input),
      }),
    );
  }

  async #slow(
    format: Format,
    subId: string,
    { ip, host, method, headers: sent, reply }: RequestInfo,
  ): Promise<string> {
    const client = this.#compiled.pathOf(format) === undefined ? undefined : this.#clients.bySubId(subId);
    if (!client) throw kernelErrors.NOT_FOUND();
    try {
      await this.#hooks.check(beforeSubscription, {
        subId,
        email: client.email,
        ip,
        agent: sent['user-agent'] ?? '',
        headers: sent,
      });
    } catch (cause) {
      // Client programs only look at the status, and only know this one. 503 is for failures.
      throw cause instanceof PanelError && cause.status < 500
        ? kernelErrors.NOT_FOUND(undefined, { cause, headers: cause.headers })
        : cause;
    }
    const decision = this.#gates.check(client, sent);
    if (decision?.refused)
      throw kernelErrors.NOT_FOUND(undefined, { headers: Object.fromEntries(decision.headers) });
    const answer = this.#renderer.render(format, client, host);
    const own = pairsOf(listOf(answer));
    if (decision) for (const [name, value] of decision.headers) own.push([name, value]);
    const headers = this.#hooks.refine(subscriptionHeaders, own, { client }, headersProblem);
    for (const [name, value] of headers) reply.header(name, value);
    reply.header('Content-Length', String(Buffer.byteLength(answer.body)));
    if (method === 'GET') this.#clients.fetched(client.id, this.#clock.now());
    return answer.body;
  }
}

/** Sends exactly the bytes of the slow path's 404, with the same order of headers: any difference would reveal the secret prefix. */
function notFound(response: ServerResponse, headers: GateDecision['headers']): void {
  response.statusCode = 404;
  for (const [name, value] of headers) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-store');
  response.end();
}
const listOf = ({ fixed, own }: Rendered): string[] => [...fixed.list, ...own];
const pairsOf = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] as string, flat[2 * i + 1] as string]);
