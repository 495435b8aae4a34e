// The calls of all plugins: checks and sends one hop after another.
import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  type Clock,
  type Contributed,
  type ListenersApi,
  messageOf,
  type PluginContext,
} from '../../kernel/index.js';
import { reachOf } from '../core-guard/contract.js';
import { hostProblem, isHost } from './access-problem.js';
import { AddressGuard, type Allowed, type Resolve } from './address-guard.js';
import {
  type CallOptions,
  type HandshakeOptions,
  type OutgoingAccess,
  type OutgoingApi,
  OutgoingError,
  type OutgoingFetch,
  OutgoingHosts,
  WaysOut,
} from './contract.js';
import { type Destination, fits, hostPatternOf, nameOf } from './destination.js';
import { exchange, type Sent, type Way } from './exchange.js';
import { shakeHands } from './handshake.js';
import { KeptConnections } from './kept-connections.js';
import { limitProblem, limitsOf } from './limits.js';
import { Lookups } from './lookups.js';
import { type ProxyServer, proxyOf, resolvesNames } from './proxy.js';
import { Quota } from './quota.js';
import { redirected, targetOf } from './redirect.js';
import { responseOf } from './reply.js';
import { headersOf, methodOf, packed, readUrl, urlOf } from './request.js';

export interface OutgoingConfig {
  readonly allow: readonly Allowed[];
  readonly proxy?: ProxyServer | undefined;
}
interface Needs {
  readonly listeners: Pick<ListenersApi, 'places'>;
  readonly contributions: PluginContext['contributions'];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly config: OutgoingConfig;
}

export class OutgoingCalls implements OutgoingApi {
  readonly #needs: Needs;
  readonly #lookups: Lookups;
  readonly #kept = new KeptConnections();
  readonly #quotas = new Map<string | OutgoingAccess, Quota>();

  /** `resolve` is for tests: what the name server answers. */
  constructor({ listeners, contributions, clock, signal, config }: Needs, resolve: Resolve = lookup) {
    this.#needs = { listeners, contributions, clock, signal, config };
    this.#lookups = new Lookups(resolve);
  }

  for(access: OutgoingAccess): OutgoingFetch {
    return (url, options = {}) => this.#call(access, url, options);
  }

  async handshake(
    access: OutgoingAccess,
    server: string,
    options: HandshakeOptions = {},
  ): Promise<TLSSocket> {
    const entry = this.#entryOf(access);
    // An IPv6 address may stand without its brackets when it has no port.
    const url = urlOf(`https://${isIP(server) === 6 ? `[${server}]` : server}/`);
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
      throw new OutgoingError('url', `${JSON.stringify(server).slice(0, 300)} is no host with a port`);
    const destination = this.#permitted(entry, url);
    const proxy = await this.#proxyOf(options);
    const { way, over } = await this.#admit(entry, destination, options, proxy);
    try {
      if (destination.isAddress) way.guard.check(destination.host, destination.host, destination.port);
      const socket = await shakeHands(destination, way, options);
      return socket.once('close', over);
    } catch (error) {
      over();
      throw error;
    }
  }

  async #call(access: OutgoingAccess, given: string | URL, options: CallOptions): Promise<Response> {
    const entry = this.#entryOf(access);
    const method = methodOf(options.method);
    const url = urlOf(given);
    const destination = this.#permitted(entry, url);
    const { body, type } = await packed(options.body, method);
    const sent: Sent = { url, destination, method, body, headers: headersOf(options.headers, type) };

    const proxy = await this.#proxyOf(options);
    const { way, over } = await this.#admit(entry, destination, options, proxy);
    const proxyFor = (to: Destination) => way.proxy ?? this.#wayOut(to, options);
    try {
      return await this.#follow(entry, sent, { way, proxyFor }, options.redirect ?? 'follow', over);
    } catch (error) {
      over();
      throw error;
    }
  }

  /** The proxy of the call, of its outbound or of the environment; undefined when ways of plugins are asked. */
  async #proxyOf({
    proxy = '',
    outboundTag = '',
  }: Pick<CallOptions, 'proxy' | 'outboundTag'>): Promise<ProxyServer | undefined> {
    if (proxy !== '') {
      const own = proxyOf(proxy);
      if (own) return own;
      throw new OutgoingError('url', 'the proxy of the call is not valid');
    }
    return outboundTag === '' ? this.#needs.config.proxy : this.#through(outboundTag);
  }

  /** The way of another plugin to this destination; undefined when the call is direct. */
  #wayOut(
    { host, isAddress }: Destination,
    { allowPrivate = false }: Pick<CallOptions, 'allowPrivate'>,
  ): ProxyServer | undefined {
    // Outbounds of the core lead to public addresses only; `localhost` is an address by now.
    if (allowPrivate || (isAddress && reachOf(host) !== 'public')) return undefined;
    for (const { value, fault } of this.#needs.contributions(WaysOut))
      try {
        const way = value.proxy();
        if (way) return { kind: 'socks5h', ...way };
      } catch (error) {
        fault('proxy of a WayOut', error);
      }
    return undefined;
  }

  async #through(outboundTag: string): Promise<ProxyServer> {
    for (const { value } of this.#needs.contributions(WaysOut))
      if (value.through)
        try {
          return { kind: 'socks5', ...(await value.through(outboundTag)) };
        } catch (error) {
          throw new OutgoingError('outbound', messageOf(error), error);
        }
    throw new OutgoingError('outbound', 'no plugin sends calls through outbounds; enable panel-outbound');
  }

  #entryOf(access: OutgoingAccess): Contributed<OutgoingAccess> {
    const entry = this.#needs.contributions(OutgoingHosts).find(({ value }) => value === access);
    if (!entry)
      throw new Error(
        'nothing may be called with this access: contribute it to OutgoingHosts, and give the same object to Outgoing',
      );
    return entry;
  }

  /** Resolves when the call may begin. `over` gives its slot back. */
  async #admit(
    { plugin, value: access }: Contributed<OutgoingAccess>,
    destination: Destination,
    options: Omit<CallOptions, 'method' | 'headers' | 'body' | 'redirect'>,
    proxy: ProxyServer | undefined,
  ): Promise<{ way: Way; over: () => void }> {
    const problem = options.limits && limitProblem(options.limits);
    if (problem) throw new OutgoingError('url', problem);
    const limits = limitsOf(access.limits, options.limits);
    const late = new AbortController();
    const timer = setTimeout(
      () =>
        late.abort(
          new OutgoingError(
            'time',
            `the call of ${nameOf(destination)} took longer than ${limits.wholeMs / 1000} s (wholeMs)`,
          ),
        ),
      limits.wholeMs,
    );
    const signals = [late.signal, this.#needs.signal, ...(options.signal ? [options.signal] : [])];
    const signal = AbortSignal.any(signals);
    let giveBack = (): void => undefined;
    const over = (): void => {
      clearTimeout(timer);
      giveBack();
    };
    try {
      giveBack = await this.#quotaOf(plugin, access).take(signal);
      const { allow } = this.#needs.config;
      const guard = new AddressGuard(this.#needs.listeners, allow, plugin, options.allowPrivate);
      const { allowInsecure, authorities, pinnedSha256, clientCertificate, keepAlive } = options;
      const trust = { allowInsecure, authorities, pinnedSha256, clientCertificate };
      const { resolve } = this.#lookups;
      const group = JSON.stringify([plugin, options.allowPrivate, keepAlive]);
      const kept: Way['kept'] =
        keepAlive === undefined ? undefined : (isSecure, dialled) => this.#kept.of(group, isSecure, dialled);
      return { way: { guard, resolve, proxy, limits, signal, kept, ...trust }, over };
    } catch (error) {
      over();
      throw error;
    }
  }

  async #follow(
    entry: Contributed<OutgoingAccess>,
    first: Sent,
    { way, proxyFor }: { readonly way: Way; readonly proxyFor: (to: Destination) => ProxyServer | undefined },
    redirect: 'follow' | 'error' | 'manual',
    over: () => void,
  ): Promise<Response> {
    const { limits, signal, guard } = way;
    let sent = first;
    for (let hops = 0; ; hops++) {
      const { host, isAddress, port } = sent.destination;
      if (isAddress) guard.check(host, host, port);
      // A redirect may lead from an address that is called directly to one that is not.
      const reply = await exchange(sent, { ...way, proxy: proxyFor(sent.destination) });
      try {
        const location = targetOf(reply.statusCode, reply.headers.location);
        if (location === undefined || redirect === 'manual')
          return responseOf(reply, sent, { maxBytes: limits.maxBytes, signal, redirected: hops > 0, over });
        const place = nameOf(sent.destination);
        if (redirect === 'error')
          throw new OutgoingError('redirect', `${place} redirects, and this call follows no redirects`);
        if (hops >= limits.redirects)
          throw new OutgoingError(
            'redirect',
            `${place} redirects for the ${hops + 1}. time; the limit redirects is ${limits.redirects}`,
          );
        sent = redirected(sent, reply.statusCode ?? 0, location, (url) => this.#permitted(entry, url));
        reply.destroy();
      } catch (error) {
        reply.destroy();
        throw error;
      }
    }
  }

  /** Returns the destination of a URL if the list of the plugin or of the admin permits it. */
  #permitted({ plugin, value, fault }: Contributed<OutgoingAccess>, url: URL): Destination {
    const destination = readUrl(url);
    const hosts = hostsOf(value, fault);
    const own = hosts.some((host) => {
      const pattern = hostPatternOf(host);
      return pattern !== undefined && fits(pattern, destination);
    });
    const widened = this.#needs.config.allow.some(
      (entry) => (entry.plugin === undefined || entry.plugin === plugin) && fits(entry.pattern, destination),
    );
    if (own || widened) return destination;
    const place = nameOf(destination);
    throw new OutgoingError(
      'host',
      `${place} is not among the hosts that the plugin ${plugin} says it calls; if that is meant, add ${plugin}=${place} to WEIR_OUTGOING_ALLOW and restart the panel`,
    );
  }

  #quotaOf(plugin: string, access: OutgoingAccess): Quota {
    const key = access.quota ? access : plugin;
    const quota = this.#quotas.get(key) ?? new Quota(plugin, this.#needs.clock, access.quota);
    this.#quotas.set(key, quota);
    return quota;
  }

  /** Closes connections that stayed open. */
  close(): void {
    this.#kept.close();
  }

  /** Whether the proxy resolves names, so that their addresses are not checked here. */
  get isBlind(): boolean {
    const { proxy } = this.#needs.config;
    return proxy !== undefined && resolvesNames(proxy);
  }
}

/** Returns the hosts of the function; any other result is a fault of its plugin. */
function hostsOf({ hosts }: OutgoingAccess, fault: Contributed<OutgoingAccess>['fault']): readonly string[] {
  if (typeof hosts !== 'function') return hosts;
  try {
    const answer: unknown = hosts();
    if (!Array.isArray(answer)) throw new Error('hosts must return a list');
    const wrong = answer.find((host) => host !== '' && !isHost(host)) as unknown;
    if (wrong !== undefined) throw new Error(hostProblem(wrong));
    return answer.filter(isHost);
  } catch (error) {
    fault('hosts of an OutgoingAccess', error);
    return [];
  }
}
