// Addresses as replies show them.
import { type Clock, TimeSlice } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import { type PanelIdentityApi, panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import { ELSEWHERE, RECENT_MS, type SeenRow, type Sighting, type Sightings } from './sightings.js';

interface SeenAt {
  readonly ip: string;
  /** Unix s */
  readonly timestamp: number;
}
const seconds = (ms: number): number => Math.floor(ms / 1000);
const seenAt = ({ address, lastSeen }: SeenRow): SeenAt => ({ ip: address, timestamp: seconds(lastSeen) });

export class AddressViews {
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #settings: SettingsApi;
  readonly #identity: PanelIdentityApi;
  readonly #sightings: Sightings;

  constructor({
    clock,
    clients,
    settingsApi,
    identity,
    sightings,
  }: {
    clock: Clock;
    clients: ClientsApi;
    settingsApi: SettingsApi;
    identity: PanelIdentityApi;
    sightings: Sightings;
  }) {
    this.#clock = clock;
    this.#clients = clients;
    this.#settings = settingsApi;
    this.#identity = identity;
    this.#sightings = sightings;
  }

  /** Takes rows of one client. */
  ofClient(rows: readonly SeenRow[]) {
    const timeZone = timeZoneOf(this.#settings.read(panelSettings).timeLocation);
    // This locale writes YYYY-MM-DD HH:mm:ss.
    const calendar = new Intl.DateTimeFormat('sv-SE', {
      dateStyle: 'short',
      timeStyle: 'medium',
      ...(timeZone !== undefined && { timeZone }),
    });
    return withoutEchoes(rows).map(({ panel, address, firstSeen, lastSeen }) => ({
      ip: address,
      time: calendar.format(lastSeen),
      node: panel,
      firstSeen: seconds(firstSeen),
      lastSeen: seconds(lastSeen),
    }));
  }

  async byGuid(): Promise<Record<string, Record<string, SeenAt[]>>> {
    const own = this.#identity.guid;
    const guids = new Map<string, Map<string, SeenAt[]>>([[own, new Map()]]);
    for await (const [email, sightings] of this.#recent()) {
      for (const sighting of sightings) {
        if (sighting.panel === ELSEWHERE) continue;
        const guid = sighting.panel || own;
        const emails = guids.get(guid) ?? new Map<string, SeenAt[]>();
        guids.set(guid, emails.set(email, [...(emails.get(email) ?? []), seenAt(sighting)]));
      }
    }
    return Object.fromEntries([...guids].map(([guid, emails]) => [guid, Object.fromEntries(emails)]));
  }

  async all(): Promise<{ id: number; clientEmail: string; ips: SeenAt[] }[]> {
    const rows: { id: number; clientEmail: string; ips: SeenAt[] }[] = [];
    for await (const [clientEmail, sightings] of this.#recent()) {
      const networks = new Map<string, Sighting>();
      for (const sighting of sightings)
        if (sighting.lastSeen > (networks.get(sighting.network)?.lastSeen ?? 0))
          networks.set(sighting.network, sighting);
      const ips = [...networks.values()].sort((a, b) => b.lastSeen - a.lastSeen).map(seenAt);
      rows.push({ id: sightings[0]?.clientId ?? 0, clientEmail, ips });
    }
    return rows.sort((a, b) => a.id - b.id);
  }

  /** What was seen within the last half hour, by email. */
  async *#recent(): AsyncGenerator<readonly [email: string, sightings: readonly Sighting[]]> {
    const since = this.#clock.now() - RECENT_MS;
    const slice = new TimeSlice();
    for (const id of [...this.#sightings.clients()]) {
      if (slice.isOver) await slice.next();
      const email = this.#clients.byId(id)?.email;
      const recent = this.#sightings.of(id).filter(({ lastSeen }) => lastSeen > since);
      if (email !== undefined && recent.length > 0) yield [email, recent];
    }
  }
}

/** Leaves out what an unknown panel saw of a network that a known one saw: a panel often posts what it was told. */
function withoutEchoes(rows: readonly SeenRow[]): SeenRow[] {
  const known = new Set(rows.filter(({ panel }) => panel !== ELSEWHERE).map(({ network }) => network));
  return rows.filter(({ panel, network }) => panel !== ELSEWHERE || !known.has(network));
}
