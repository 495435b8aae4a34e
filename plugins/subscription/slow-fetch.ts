// The slow path of a fetch: routes and hooks, queries, the status and the page.
import {
  bare,
  bool,
  type Clock,
  type Hooks,
  int,
  kernelErrors,
  PanelError,
  raw,
  type RequestInfo,
  type Route,
  route,
  shape,
  word,
} from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { Chooser } from './choice.js';
import type { Compiled } from './compiled.js';
import { beforeSubscription, type Format, subscriptionHeaders } from './contract.js';
import type { Gates } from './gates.js';
import type { Info } from './info.js';
import type { Rendered, Renderer } from './renderer.js';
import { sizeProblem } from './shapes.js';
import { type Subscriber, subscriberOf } from './subscriber.js';
import { asksForFile, asksForPage, asksForStatus } from './target.js';

const PLACES = shape({ active: bool(), full: bool(), limit: int(), registered: int(), remaining: int() });
/** Of what people read. */
const NOT_STORED = [
  ['Cache-Control', 'no-cache, no-store, must-revalidate'],
  ['Pragma', 'no-cache'],
  ['Expires', '0'],
  ['X-Content-Type-Options', 'nosniff'],
] as const;

/** Whether the caller has this body already (RFC 9110, section 13.1.2). */
export const isKnown = (etag: string, sent: string | undefined): boolean =>
  sent !== undefined &&
  (sent === etag ||
    sent
      .slice(0, 2000)
      .split(',')
      .some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))));

export const pairsOf = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] as string, flat[2 * i + 1] as string]);
export const listOf = ({ fixed, own }: Rendered): string[] => [...fixed.list, ...own];

export class SlowFetch {
  readonly #compiled: Compiled;
  readonly #renderer: Renderer;
  readonly #gates: Gates;
  readonly #clients: ClientsApi;
  readonly #hooks: Hooks;
  readonly #clock: Clock;
  readonly #chooser: Chooser;
  readonly #info: Info;

  constructor(needs: {
    compiled: Compiled;
    renderer: Renderer;
    gates: Gates;
    clients: ClientsApi;
    hooks: Hooks;
    clock: Clock;
    chooser: Chooser;
    info: Info;
  }) {
    this.#compiled = needs.compiled;
    this.#renderer = needs.renderer;
    this.#gates = needs.gates;
    this.#clients = needs.clients;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#chooser = needs.chooser;
    this.#info = needs.info;
  }

  /** Two routes per format, with every hook. */
  routes(): Route[] {
    return this.#compiled.formats.flatMap((format, i) => {
      const path = () => `${this.#compiled.pathOf(format) ?? `/off/${format.name}/`}{subid}`;
      const common = { method: 'GET', listener: 'subscription', auth: 'anyone' } as const;
      const params = shape({ subid: word() });
      return [
        route({
          ...common,
          path,
          doc: `Returns a subscription in the format ${format.name}.`,
          params,
          reply: raw(),
          handle: (input) => this.#fetch(format, input.params.subid, input),
        }),
        route({
          ...common,
          path: () => `${path()}/hwid-status`,
          ...(i === 0 && { name: 'subscription.deviceStatus' }),
          doc: 'Returns how many devices may still fetch a subscription. It registers none.',
          params,
          reply: bare(PLACES),
          handle: ({ params: { subid }, reply }) => {
            const subscriber = this.#find(format, subid);
            const places = subscriber.client.enable ? this.#info.places(subscriber) : undefined;
            if (!places) throw kernelErrors.NOT_FOUND();
            this.#setHeaders(subscriber, reply);
            return places;
          },
        }),
      ];
    });
  }

  #find(format: Format, subId: string): Subscriber {
    const client = this.#compiled.pathOf(format) === undefined ? undefined : this.#clients.bySubId(subId);
    if (!client) throw kernelErrors.NOT_FOUND();
    return subscriberOf(this.#clients, client, this.#clock.now());
  }

  async #fetch(format: Format, subId: string, input: RequestInfo): Promise<string> {
    const { ip, host, method, headers: sent, reply, url } = input;
    const subscriber = this.#find(format, subId);
    const { client, sharing } = subscriber;
    const agent = sent['user-agent'] ?? '';
    try {
      await this.#hooks.check(beforeSubscription, { subId, email: client.email, ip, agent, headers: sent });
    } catch (cause) {
      // Client programs only look at the status, and only know this one. 503 is for failures.
      throw cause instanceof PanelError && cause.status < 500
        ? kernelErrors.NOT_FOUND(undefined, { cause, headers: cause.headers })
        : cause;
    }
    const query = url.includes('?') ? new URLSearchParams(url.slice(url.indexOf('?') + 1)) : undefined;
    if (asksForStatus(query)) return this.#status(subscriber, input);
    if (this.#info.hasPage && asksForPage(query, sent.accept)) return this.#page(subscriber, input, query);
    const { wanted, headers: further } = this.#chooser.of(format, agent, query);
    const decision = this.#gates.check(client, sent);
    const answer = decision?.refused
      ? this.#renderer.overLimit(wanted, subscriber, host)
      : this.#renderer.render(wanted, subscriber, host);
    if (!answer)
      throw kernelErrors.NOT_FOUND(undefined, { headers: Object.fromEntries(decision?.headers ?? []) });
    const own = pairsOf(listOf(answer));
    if (decision) for (const [name, value] of decision.headers) own.push([name, value]);
    own.push(...pairsOf(further));
    const headers = this.#hooks.refine(subscriptionHeaders, own, { client }, sizeProblem);
    for (const [name, value] of headers) reply.header(name, value);
    const [{ fileName }] = wanted.formats;
    if (asksForFile(query) && fileName !== undefined)
      reply.header('Content-Disposition', `attachment; filename="${fileName}"`);
    if (method === 'GET' && !decision?.refused)
      for (const { id } of sharing ?? [client]) this.#clients.fetched(id, this.#clock.now());
    if (isKnown(answer.etag, sent['if-none-match'])) {
      reply.status(304);
      return '';
    }
    reply.header('Content-Length', String(Buffer.byteLength(answer.body)));
    return answer.body;
  }

  /** Of what is no list: programs read traffic and expiry from these replies too. */
  #setHeaders({ client }: Subscriber, reply: RequestInfo['reply']): void {
    for (const [name, value] of [...NOT_STORED, this.#renderer.usage(client)]) reply.header(name, value);
  }

  #status(subscriber: Subscriber, { host, reply }: RequestInfo): string {
    const body = JSON.stringify(this.#info.status(subscriber, host));
    this.#setHeaders(subscriber, reply);
    reply.header('Content-Type', 'application/json; charset=utf-8');
    reply.header('Content-Length', String(Buffer.byteLength(body)));
    return body;
  }

  #page(subscriber: Subscriber, input: RequestInfo, query: URLSearchParams | undefined): string {
    const { host, reply, headers } = input;
    const page = this.#info.page(subscriber, host, headers, query);
    if (!page) throw kernelErrors.NOT_FOUND();
    for (const [name, value] of page.headers) reply.header(name, value);
    this.#setHeaders(subscriber, reply);
    reply.header('Content-Type', 'text/html; charset=utf-8');
    // The path is the secret: it goes to no other site.
    reply.header('Referrer-Policy', 'no-referrer');
    reply.header('Content-Length', String(Buffer.byteLength(page.html)));
    return page.html;
  }
}
