// `limitIp`: which addresses of a client are over its limit, who is told, and whose connections are closed. No address is
// blocked: others behind the same one are not touched.
import {
  type Clock,
  type Hooks,
  type LiveSettings,
  type Log,
  messageOf,
  networkOf,
  SerialQueue,
  type SettingValues,
  TimeSlice,
} from '../../kernel/index.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { OpenConnection, OpenConnectionsApi } from '../connection-cut/contract.js';
import { addressLimitExceeded, cutAddresses } from './contract.js';
import { ListedNetworks } from './networks.js';
import type { addressSettings } from './settings.js';
import type { SharedPlaces } from './shared-places.js';
import { LIVE_MS, type Sighting, type Sightings } from './sightings.js';

const REPORTED_EVERY_MS = 10_000;
type Cut = SettingValues<typeof addressSettings>['ipLimitCut'];

/** A network from which a client is connected now. */
interface Place {
  readonly network: string;
  readonly address: string;
  since: number;
  /** what this panel saw of it; undefined if only others did */
  own: Sighting | undefined;
}
interface Exceeded {
  readonly client: Readonly<ClientRow>;
  readonly kept: readonly Place[];
  readonly over: readonly Place[];
}

export class AddressLimit {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #hooks: Hooks;
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #connections: OpenConnectionsApi | undefined;
  readonly #sightings: Sightings;
  readonly #shared: Pick<SharedPlaces, 'isOn' | 'elsewhere'>;
  readonly #settings: Pick<LiveSettings<typeof addressSettings>, 'read'>;
  readonly #queue = new SerialQueue();
  #waiting = new Set<number>();
  readonly #allowed = new ListedNetworks();
  #failing = false;

  constructor({
    log,
    clock,
    hooks,
    clients,
    connections,
    sightings,
    shared,
    settings,
  }: {
    log: Log;
    clock: Clock;
    hooks: Hooks;
    clients: Pick<ClientsApi, 'byId'>;
    connections: OpenConnectionsApi | undefined;
    sightings: Sightings;
    shared: Pick<SharedPlaces, 'isOn' | 'elsewhere'>;
    settings: Pick<LiveSettings<typeof addressSettings>, 'read'>;
  }) {
    this.#log = log;
    this.#clock = clock;
    this.#hooks = hooks;
    this.#clients = clients;
    this.#connections = connections;
    this.#sightings = sightings;
    this.#shared = shared;
    this.#settings = settings;
  }

  /** These clients connected. Many calls share one check. Never rejects. */
  seen(clientIds: Iterable<number>): Promise<void> {
    const first = this.#waiting.size === 0;
    for (const id of clientIds) if (this.#mayExceed(id)) this.#waiting.add(id);
    if (!first || this.#waiting.size === 0) return this.settled();
    return this.#queue.run(async () => {
      const ids = [...this.#waiting];
      this.#waiting = new Set();
      try {
        await this.#check(ids);
        this.#failing = false;
      } catch (error) {
        if (!this.#failing)
          this.#log.error(
            'clients over their limitIp could not be checked; retrying with their next connection',
            {
              reason: messageOf(error),
            },
          );
        this.#failing = true;
      }
    });
  }
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  /** Cheap, as it is asked for each connection of a client with a limit. */
  #mayExceed(clientId: number): boolean {
    const limit = this.#clients.byId(clientId)?.limitIp ?? 0;
    if (limit === 0) return false;
    const networks = new Set<string>();
    for (const { network } of this.#sightings.of(clientId))
      if (networks.add(network).size > limit) return true;
    for (const { network } of this.#shared.elsewhere(clientId))
      if (networks.add(network).size > limit) return true;
    return false;
  }

  async #check(ids: readonly number[]): Promise<void> {
    const rows = ids.flatMap((id) => this.#clients.byId(id) ?? []).filter(({ enable }) => enable);
    const slice = new TimeSlice();
    const users = rows.flatMap(({ id: clientId, inboundIds }) =>
      inboundIds.map((inboundId) => ({ inboundId, clientId })),
    );
    const open = (await this.#connections?.of(users)) ?? [];
    const connected = new Map<number, Set<string>>();
    for (const { clientId, address } of open) {
      if (slice.isOver) await slice.next();
      const networks = connected.get(clientId) ?? new Set();
      connected.set(clientId, networks.add(networkOf(address)));
    }
    const cut = (await this.#hooks.choose(cutAddresses, undefined)) ?? this.#settings.read().ipLimitCut;
    // Another panel may report thousands of clients at once.
    const exceeded: Exceeded[] = [];
    for (const client of rows) {
      if (slice.isOver) await slice.next();
      exceeded.push(...this.#exceeded(client, connected.get(client.id) ?? new Set(), cut));
    }
    if (exceeded.length === 0) return;
    const closed = cut === 'none' ? 0 : await this.#cut(exceeded, open);
    if (closed > 0)
      this.#log.info('closed connections from addresses over limitIp', {
        connections: closed,
        clients: exceeded.map(({ client }) => client.email),
      });
    this.#report(exceeded);
  }

  /** The client, if it is connected from more networks than its limit. */
  #exceeded(client: Readonly<ClientRow>, connected: ReadonlySet<string>, cut: Cut): Exceeded[] {
    const places = this.#placesOf(client.id, connected);
    if (places.length <= client.limitIp) return [];
    // The core's log knows seconds, and all panels must agree on who came first.
    const inSameSecond = (a: Place, b: Place): number => (a.network < b.network ? -1 : 1);
    places.sort((a, b) => a.since - b.since || (this.#shared.isOn ? inSameSecond(a, b) : 0));
    const [kept, over] =
      cut === 'oldest'
        ? [places.slice(-client.limitIp), places.slice(0, -client.limitIp)]
        : [places.slice(0, client.limitIp), places.slice(client.limitIp)];
    return [{ client, kept, over }];
  }

  #placesOf(clientId: number, connected: ReadonlySet<string>): Place[] {
    const now = this.#clock.now();
    const { ipLimitAllowlist } = this.#settings.read();
    const places = new Map<string, Place>();
    for (const sighting of this.#sightings.of(clientId)) {
      const { network, address, panel } = sighting;
      // Otherwise its next connection would seem to be the first of a new use.
      if (panel === '' && connected.has(network)) sighting.lastSeen = now;
      if (sighting.lastSeen <= now - LIVE_MS || this.#allowed.has(ipLimitAllowlist, address)) continue;
      const place = places.get(network) ?? { network, address, since: sighting.since, own: undefined };
      place.since = Math.min(place.since, sighting.since);
      if (panel === '') place.own = sighting;
      places.set(network, place);
    }
    for (const { network, address, since } of this.#shared.elsewhere(clientId)) {
      if (this.#allowed.has(ipLimitAllowlist, address)) continue;
      const place = places.get(network) ?? { network, address, since, own: undefined };
      place.since = Math.min(place.since, since);
      places.set(network, place);
    }
    return [...places.values()];
  }

  /** Closes only connections from addresses over the limit, on all inbounds of the client. */
  async #cut(exceeded: readonly Exceeded[], open: readonly OpenConnection[]): Promise<number> {
    const over = new Map(
      exceeded.map(({ client, over }) => [client.id, new Set(over.map(({ network }) => network))]),
    );
    const connections = open.filter(
      ({ clientId, address }) => over.get(clientId)?.has(networkOf(address)) === true,
    );
    return connections.length === 0 ? 0 : ((await this.#connections?.close(connections)) ?? 0);
  }

  /** An address over the limit that did not connect again is not reported again. */
  #report(exceeded: readonly Exceeded[]): void {
    const clients = exceeded.flatMap(({ client: { id, email, limitIp }, kept, over }) => {
      const advanced = over.flatMap(({ own }) =>
        own && (own.reported === 0 || own.lastSeen >= own.reported + REPORTED_EVERY_MS) ? [own] : [],
      );
      if (advanced.length === 0) return [];
      for (const sighting of advanced) sighting.reported = sighting.lastSeen;
      return [
        {
          id,
          email,
          limitIp,
          kept: kept.map(({ address }) => address),
          over: advanced.map(({ address, lastSeen, isPeer }) => ({ ip: address, lastSeen, isPeer })),
        },
      ];
    });
    if (clients.length > 0) this.#hooks.emit(addressLimitExceeded, { at: this.#clock.now(), clients });
  }
}
