// The kernel's listeners: the panel, and those that plugins open beside it.
import type { Socket } from 'node:net';
import { type Contributed, token } from '../container/token.js';
import { kernelErrors, messageOf } from '../errors/errors.js';
import type { Proxies } from '../../net/proxies.js';
import { AllowedHosts } from '../../net/allowed-hosts.js';
import type { Certificate } from '../../net/certificate.js';
import { ReplyWriter } from '../../net/reply-writer.js';
import { SessionCookieNames } from '../auth/session-cookie.js';
import { Pipeline, type PipelineParts } from './pipeline.js';
import type { Route } from './route.js';
import { routeProblem } from './route-problem.js';
import { PluginError } from '../plugin/error.js';
import type { Owner } from '../plugin/owner.js';
import { fixedHeaders } from '../../net/fixed-headers.js';
import { type Intercept, Listener } from './server.js';
import { STRICT_TRANSPORT_SECURITY } from '../../net/transport-security.js';
import { isOwnPath, type Mounted, type Owned, type RouteAdapter, RouteTable, strayPath } from './table.js';
import { UpgradeServer } from './upgrade.js';

export interface ListenerApi {
  readonly basePath: string;
  readonly port: number;
  /** May answer a request before the routes. */
  intercept: Intercept | undefined;
  /** Serves everything below this path from now on. */
  mountAt(basePath: string): void;
  /** From now on, closes each connection that `admits` rejects, before anything of it is read. */
  admitOnly(admits: (socket: Socket) => boolean): void;
  /** Uses the current certificate for new connections; open ones keep theirs. */
  renew(): void;
}

export interface ServedRoute {
  readonly plugin: string;
  readonly about: string;
  readonly path: string;
  readonly route: Route;
}

export interface ListenerPlace {
  readonly host: string;
  readonly port: number;
  /** variable that sets the port, for the message about a taken port */
  readonly portVariable?: string;
  /** with it the listener serves HTTPS */
  readonly certificate?: Certificate | undefined;
}

/** The listeners, for plugins; provided by the kernel. */
export interface ListenersApi {
  readonly panel: ListenerApi;
  /** Declares a listener of a plugin, in its start; routes refer to it by name. It opens when they are served. `intercept` may answer a request before the routes. */
  declare(name: string, where: ListenerPlace, intercept?: Intercept): ListenerApi;
  /** Evaluates all route paths again, after a configured path has changed. */
  remount(): void;
  /** The port that a listener is bound to; 0 before it is open. */
  port(name: string): number;
  /** Every listener with its host and port: the bound port, or the configured one before it is open. */
  places(): readonly { readonly name: string; readonly host: string; readonly port: number }[];
  /** Whom the panel trusts with forwarded headers, and what a request asked for through them. */
  readonly proxies: Proxies;
  /** Gives a listener another port, and another host if there is one, before it opens. */
  setPort(name: string, port: number, host?: string): void;
  /** Restricts the panel to these hosts, besides its own host and loopback; an empty list allows all. `wayOut` is the end of the refusal's sentence: how to add a host. */
  allowHosts(hosts: readonly string[], wayOut: string): void;
  /** The first of the hosts `asked` that the panel would refuse if only `hosts` were allowed. */
  refusedHost(hosts: readonly string[], asked: readonly string[]): string | undefined;
  /** From now on, the replies of all listeners close their connections: the panel stops soon. */
  leave(): void;
  /** Every served route, with its plugin; for descriptions of the API. */
  routes(): readonly ServedRoute[];
}
export const Listeners = token<ListenersApi>('kernel', 'Listeners');

export const PANEL = 'panel';

type Parts = Pick<PipelineParts, 'hooks' | 'sessions' | 'proxies' | 'log' | 'checkReplies' | 'uploads'>;

export class ListenerSet implements ListenersApi {
  readonly panel: Listener;
  readonly #parts: Parts;
  readonly #place: ListenerPlace;
  readonly #open = new Map<string, ListenerPlace & { readonly listener: Listener }>();
  readonly proxies: Proxies;
  readonly upgrades: UpgradeServer;
  readonly cookies = new SessionCookieNames();
  adapters: readonly Contributed<RouteAdapter>[] = [];
  readonly #hosts: AllowedHosts;
  #table = new RouteTable();
  #routes: readonly Mounted[] = [];
  #certificateProblem = '';
  /** plugins whose routes are not in the table yet */
  readonly #awaited = new Set<Owner>();

  constructor(parts: Parts, panel: ListenerPlace) {
    this.#parts = parts;
    this.#place = panel;
    this.proxies = parts.proxies;
    this.#hosts = new AllowedHosts(panel.host, parts.proxies, kernelErrors.HOST);
    this.panel = this.#add(PANEL, panel, 'envelope', {
      contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
      // Only over TLS, so not part of the headers that all replies share.
      strictTransportSecurity: false,
      referrerPolicy: { policy: 'no-referrer' },
    });
    this.upgrades = new UpgradeServer({
      sessions: parts.sessions,
      cookies: this.cookies,
      basePath: () => this.panel.basePath,
      requireHost: (request) => this.#hosts.require(request),
      requestId: (request) => parts.proxies.requestId(request),
    });
    this.panel.onUpgrade((request, socket, head) => this.upgrades.take(request, socket, head));
  }

  #add(
    name: string,
    where: ListenerPlace,
    errors: 'envelope' | 'status',
    helmet: Parameters<typeof fixedHeaders>[0] | undefined,
  ): Listener {
    if (this.#open.has(name)) throw new Error(`two plugins declare a listener called ${name}`);
    const headers = helmet ? fixedHeaders(helmet) : [];
    const pipeline = new Pipeline({
      ...this.#parts,
      errors,
      replies: new ReplyWriter({
        proxies: this.proxies,
        headers,
        ...(helmet && { secureHeaders: [...headers, ...STRICT_TRANSPORT_SECURITY] }),
      }),
      cookies: this.cookies,
      ...(name === PANEL && { requireHost: (request) => this.#hosts.require(request) }),
      basePath: () => this.panel.basePath,
      missing: (path) => this.#missing(path),
    });
    const listener = new Listener({ name, pipeline, certificate: where.certificate });
    this.#open.set(name, { listener, ...where });
    return listener;
  }

  /** The address of the panel for an admin, base path included. */
  get panelUrl(): string {
    const { host, certificate } = this.#open.get(PANEL) ?? this.#place;
    return `${certificate ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${this.panel.port}${this.panel.basePath}`;
  }

  declare(name: string, where: ListenerPlace, intercept?: Intercept): Listener {
    // Programs need no policy for pages; the plugin sets the headers it wants.
    return Object.assign(this.#add(name, where, 'status', undefined), { intercept });
  }

  /** Adds routes that the next mount serves; throws when one cannot be served beside the others. */
  check(routes: readonly Owned[], table = this.#table): RouteTable {
    for (const mounted of routes.map((owned) => table.add(owned))) {
      const { owner, route, path } = mounted;
      const problem =
        (this.#open.has(route.listener) ? undefined : `no plugin opens its listener "${route.listener}"`) ??
        (route.listener === owner.name ? undefined : strayPath(owner, path)) ??
        routeProblem(route, path) ??
        table.names.take(mounted);
      if (problem !== undefined)
        throw new PluginError(
          `plugin ${owner.name} declares a route ${route.method} ${path} that cannot be served: ${problem}`,
        );
    }
    return table;
  }

  /** Until its routes are mounted, a third-party plugin answers 503 below its own path. */
  expect(owner: Owner): void {
    this.#awaited.add(owner);
  }

  #missing(path: string): Error {
    for (const owner of this.#awaited)
      if (owner.isOff && isOwnPath(owner.name, path)) return kernelErrors.PLUGIN_OFF(owner.offReason);
    return kernelErrors.NOT_FOUND();
  }

  /** Checks the whole table, then replaces it on every listener. */
  mount(routes: readonly Owned[]): void {
    this.#table = this.check(routes, new RouteTable());
    this.#routes = this.#table.sorted();
    for (const [name, { listener }] of this.#open) {
      const own = this.#routes.filter(({ route }) => route.listener === name);
      listener.mount(own);
      if (name === PANEL) this.#adapt(own);
    }
  }

  /** As the adapters serve them; an adapter that fails changes nothing. */
  #adapt(routes: readonly Mounted[]): void {
    for (const { value: adapt, fault } of this.adapters)
      try {
        const adapted = new RouteTable(adapt(routes)).sorted();
        this.panel.mount(adapted);
        routes = adapted;
      } catch (error) {
        fault('adapter of routes', error);
      }
  }

  remount(): void {
    this.mount(this.#routes);
  }

  port(name: string): number {
    return this.#open.get(name)?.listener.port ?? 0;
  }

  setPort(name: string, port: number, host?: string): void {
    const listener = this.#open.get(name);
    if (listener) this.#open.set(name, { ...listener, port, host: host ?? listener.host });
  }

  places(): { name: string; host: string; port: number }[] {
    const all = [...this.#open];
    return all.map(([name, { listener, host, port }]) => ({ name, host, port: listener.port || port }));
  }

  readonly leave = (): void => this.#open.forEach(({ listener }) => void (listener.isLeaving = true));

  allowHosts(hosts: readonly string[], wayOut: string): void {
    this.#hosts.set(hosts, wayOut);
  }

  refusedHost(hosts: readonly string[], asked: readonly string[]): string | undefined {
    return this.#hosts.refused(hosts, asked);
  }

  routes(): ServedRoute[] {
    const served = this.#routes.filter(({ owner }) => !owner.isOff);
    return served.map(({ owner: { name: plugin, about }, path, route }) => ({ plugin, about, path, route }));
  }

  /** Reloads renewed certificate files. An invalid certificate keeps the previous one; each problem is logged once. */
  async renewCertificate(): Promise<void> {
    const { certificate } = this.#place;
    try {
      if (!(await certificate?.readAgain())) return;
      this.panel.renew();
      this.#parts.log.info('the certificate was renewed', { validTo: certificate?.validTo });
      this.#certificateProblem = '';
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#certificateProblem)
        this.#parts.log.error('the new certificate is invalid; the panel keeps the previous one', {
          problem,
        });
      this.#certificateProblem = problem;
    }
  }

  /** Opens these listeners; all without `names`. */
  async listen(names?: ReadonlySet<string>): Promise<void> {
    for (const [name, { listener, host, port, portVariable }] of this.#open)
      if (!listener.isOpen && (names?.has(name) ?? true)) await listener.listen(host, port, portVariable);
  }

  async close(): Promise<void> {
    this.upgrades.close();
    await Promise.all([...this.#open.values()].map(({ listener }) => listener.close()));
  }
}
