// The kernel's listeners: the panel, and those that plugins open beside it.
import type { IncomingMessage } from 'node:http';
import { token } from '../container/token.js';
import { messageOf } from '../errors/errors.js';
import type { HookRegistry } from '../hooks/registry.js';
import type { Log } from '../log/log.js';
import type { SessionStore } from '../auth/session.js';
import type { Proxies } from './address.js';
import type { Certificate } from './certificate.js';
import { Pipeline } from './pipeline.js';
import type { Route } from './route.js';
import { PluginError } from '../plugin/order.js';
import { fixedHeaders, type Intercept, Listener } from './server.js';
import { type Mounted, type Owned, sortRoutes, strayPath } from './table.js';
import { UpgradeDoor } from './upgrade.js';

export interface ListenerApi {
  readonly basePath: string;
  readonly port: number;
  /** Serves everything below this path from now on. */
  mountAt(basePath: string): void;
}

export interface ServedRoute {
  readonly plugin: string;
  readonly about: string;
  readonly path: string;
  readonly route: Route;
}

/** What plugins do with listeners; provided by the kernel. */
export interface ListenersApi {
  readonly panel: ListenerApi;
  /** Declares a listener of a plugin; routes name it. It opens after all plugins have started. `intercept` may answer a request before its routes are looked at. */
  declare(name: string, where: { host: string; port: number }, intercept?: Intercept): ListenerApi;
  /** Reads all route paths again, after a path that an admin configures has changed. */
  remount(): void;
  /** The port that a listener is bound to; 0 before it is open. */
  port(name: string): number;
  /** Every listener with its port: the one it is bound to, or the configured one before it is open. */
  places(): readonly { readonly name: string; readonly port: number }[];
  /** Host a request asked for, without port; forwarded names count from trusted proxies only. */
  requestHost(request: IncomingMessage): string;
  /** Whether this address is one of the trusted proxies. */
  trusts(address: string): boolean;
  /** Every route that is served, with its plugin and what that is for; for descriptions of the API. */
  routes(): readonly ServedRoute[];
}
export const Listeners = token<ListenersApi>('kernel', 'listeners');

export const PANEL = 'panel';

interface Parts {
  readonly hooks: HookRegistry;
  readonly sessions: SessionStore;
  readonly proxies: Proxies;
  readonly log: Log;
  readonly checkReplies: boolean;
}
interface Place {
  readonly host: string;
  readonly port: number;
  readonly certificate?: Certificate | undefined;
}

export class ListenerSet implements ListenersApi {
  readonly #parts: Parts;
  readonly #open = new Map<string, Place & { readonly listener: Listener }>();
  readonly upgrades: UpgradeDoor;
  #routes: readonly Mounted[] = [];
  #certificateProblem = '';

  constructor(parts: Parts, panel: Place) {
    this.#parts = parts;
    this.#add(PANEL, panel, 'envelope', {
      contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
      strictTransportSecurity: false,
      referrerPolicy: { policy: 'no-referrer' },
    });
    this.upgrades = new UpgradeDoor(parts.sessions, () => this.panel.basePath);
    this.panel.onUpgrade((request, socket, head) => this.upgrades.take(request, socket, head));
  }

  #add(
    name: string,
    where: Place,
    errors: 'envelope' | 'status',
    helmet: Parameters<typeof fixedHeaders>[0] | undefined,
  ): Listener {
    if (this.#open.has(name)) throw new Error(`two plugins declare a listener called ${name}`);
    const pipeline = new Pipeline({
      ...this.#parts,
      errors,
      headers: helmet ? fixedHeaders(helmet) : [],
      basePath: () => this.panel.basePath,
    });
    const listener = new Listener({ name, pipeline, certificate: where.certificate });
    this.#open.set(name, { listener, ...where });
    return listener;
  }

  get panel(): Listener {
    return (this.#open.get(PANEL) as { listener: Listener }).listener;
  }

  /** Where an admin finds the panel, base path included. */
  get panelUrl(): string {
    const { listener, host, certificate } = this.#open.get(PANEL) as Place & { listener: Listener };
    return `${certificate ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${listener.port}${listener.basePath}`;
  }

  declare(name: string, where: { host: string; port: number }, intercept?: Intercept): Listener {
    // What programs fetch needs no policy for pages; the plugin sets the headers it wants.
    const listener = this.#add(name, where, 'status', undefined);
    listener.intercept = intercept;
    return listener;
  }

  /** The whole table, sorted; throws when something of it cannot be served. */
  check(routes: readonly Owned[]): Mounted[] {
    const sorted = sortRoutes(routes);
    for (const { owner, route, path } of sorted) {
      const stray = route.listener === owner.name ? undefined : strayPath(owner, path);
      if (stray)
        throw new PluginError(
          `plugin ${owner.name} declares a route at a path of others: ${stray}; move it there`,
        );
      if (!this.#open.has(route.listener))
        throw new PluginError(
          `plugin ${owner.name} declares ${route.method} ${String(route.path)} for a listener "${route.listener}" that nobody opens`,
        );
    }
    return sorted;
  }

  /** Checks the whole table, then swaps it in on every listener. */
  mount(routes: readonly Owned[]): void {
    this.#routes = this.check(routes);
    for (const [name, { listener }] of this.#open)
      listener.mount(this.#routes.filter(({ route }) => route.listener === name));
  }

  remount(): void {
    this.mount(this.#routes);
  }

  port(name: string): number {
    return this.#open.get(name)?.listener.port ?? 0;
  }

  places(): { name: string; port: number }[] {
    return [...this.#open].map(([name, { listener, port }]) => ({ name, port: listener.port || port }));
  }

  requestHost(request: IncomingMessage): string {
    return this.#parts.proxies.requestHost(request);
  }

  trusts(address: string): boolean {
    return this.#parts.proxies.trusts(address);
  }

  routes(): ServedRoute[] {
    const served = this.#routes.filter(({ owner }) => !owner.faulty);
    return served.map(({ owner: { name: plugin, about }, path, route }) => ({ plugin, about, path, route }));
  }

  /** For a certificate whose files were renewed. One that cannot be used leaves the former in place, and is told of once. */
  async renewCertificate(): Promise<void> {
    const { listener, certificate } = this.#open.get(PANEL) as Place & { listener: Listener };
    try {
      if (!(await certificate?.readAgain())) return;
      listener.renew();
      this.#parts.log.info('the certificate was renewed', { validTo: certificate?.validTo });
      this.#certificateProblem = '';
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#certificateProblem)
        this.#parts.log.error('the new certificate cannot be used; the panel goes on with the former one', {
          problem,
        });
      this.#certificateProblem = problem;
    }
  }

  async listen(): Promise<void> {
    for (const { listener, host, port } of this.#open.values()) await listener.listen(host, port);
  }

  async close(): Promise<void> {
    this.upgrades.close();
    await Promise.all([...this.#open.values()].map(({ listener }) => listener.close()));
  }
}
