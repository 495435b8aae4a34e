// Core, clients and inbounds. Without detail the number of series does not depend on how many there are.
import { type Clock, type Database, type LiveSettings, TimeSlice } from '../../kernel/index.js';
import type { AlarmsApi } from '../alarms/contract.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { PanelsApi } from '../cluster/contract.js';
import type { EngineApi } from '../engine/contract.js';
import type { InboundsApi, LocalInboundsApi } from '../inbounds/contract.js';
import type { PresenceApi } from '../traffic/contract.js';
import type { Metric, Sample } from './contract.js';
import type { metricSettings } from './settings.js';

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly settings: LiveSettings<typeof metricSettings>;
  readonly engine: EngineApi;
  readonly clients: ClientsApi;
  readonly inbounds: InboundsApi;
  readonly localInbounds: LocalInboundsApi;
  readonly presence: PresenceApi;
  readonly alarms: AlarmsApi | undefined;
  readonly panels?: PanelsApi | undefined;
}
const bytesOf = (
  label: string,
  name: string,
  { up, down }: { readonly up: number; readonly down: number },
): Sample[] => [
  { value: up, labels: { [label]: name, direction: 'up' } },
  { value: down, labels: { [label]: name, direction: 'down' } },
];

export class PanelMetrics {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  list(): Metric[] {
    return [...this.#panels(), ...this.#core(), ...this.#sums(), ...this.#details()];
  }

  /** Each panel is scraped for itself: Prometheus tells them apart by `instance`. */
  #panels(): Metric[] {
    const { panels } = this.#needs;
    return [
      {
        name: 'weir_panels',
        help: 'Panels that live on this database, as this one sees it.',
        type: 'gauge',
        collect: () => [{ value: panels?.count ?? 1 }],
      },
      {
        name: 'weir_panel_leads',
        help: 'Whether this panel runs the jobs and the core.',
        type: 'gauge',
        collect: () => [{ value: Number(panels?.leads ?? true) }],
      },
    ];
  }

  #core(): Metric[] {
    const { engine } = this.#needs;
    const gauge = (name: string, help: string, value: () => number): Metric => ({
      name: `weir_core_${name}`,
      help,
      type: 'gauge',
      collect: () => [{ value: value() }],
    });
    return [
      {
        name: 'weir_core_info',
        help: 'The version of the core.',
        type: 'gauge',
        labels: ['version'],
        collect: () => [{ value: 1, labels: { version: engine.status().version } }],
      },
      gauge('running', 'Whether the core runs.', () => Number(engine.status().state === 'running')),
      gauge(
        'start_time_seconds',
        'Start of the core in Unix seconds; 0 while none runs.',
        () => engine.status().startedAt / 1000,
      ),
      gauge('memory_bytes', 'Memory of the core; 0 while none runs.', () => engine.status().memory.bytes),
      gauge(
        'pending_users',
        'Users whose change the core does not have yet.',
        () => engine.status().usersOnTheWay,
      ),
    ];
  }

  #sums(): Metric[] {
    const { clients, localInbounds, presence, alarms, db } = this.#needs;
    return [
      {
        name: 'weir_clients',
        help: 'Clients by what disabled them; enabled for those that nothing did.',
        type: 'gauge',
        labels: ['state'],
        collect: async () => {
          const counts = { enabled: 0, disabled: 0, quota: 0, expiry: 0 };
          const slice = new TimeSlice();
          for (const { enable, depletedCause } of [...clients.all()]) {
            if (slice.isOver) await slice.next();
            counts[enable ? 'enabled' : (depletedCause ?? 'disabled')]++;
          }
          return Object.entries(counts).map(([state, value]) => ({ value, labels: { state } }));
        },
      },
      {
        name: 'weir_clients_online',
        help: 'Clients that moved bytes within the last 20 seconds.',
        type: 'gauge',
        collect: () => [{ value: presence.online().length }],
      },
      {
        name: 'weir_inbounds',
        help: 'Inbounds of this machine.',
        type: 'gauge',
        labels: ['state'],
        collect: () => {
          const all = localInbounds.list();
          const enabled = all.filter(({ enable }) => enable).length;
          return [
            { value: enabled, labels: { state: 'enabled' } },
            { value: all.length - enabled, labels: { state: 'disabled' } },
          ];
        },
      },
      {
        name: 'weir_database_failing',
        help: 'Whether the database fails.',
        type: 'gauge',
        collect: () => [{ value: Number(db.isFailing) }],
      },
      {
        name: 'weir_alarm_active',
        help: 'Whether an alarm is active.',
        type: 'gauge',
        labels: ['alarm'],
        collect: () =>
          (alarms?.list() ?? []).map(({ name, isActive }) => ({
            value: Number(isActive),
            labels: { alarm: name },
          })),
      },
    ];
  }

  #details(): Metric[] {
    const { settings, inbounds, localInbounds } = this.#needs;
    const { metricsDetail } = settings.read();
    const details: Metric[] = [];
    if (metricsDetail !== 'none')
      details.push({
        name: 'weir_inbound_bytes_total',
        help: 'Bytes of the clients of an inbound of this machine since its last reset.',
        type: 'counter',
        labels: ['inbound', 'direction'],
        collect: () =>
          localInbounds.list().flatMap(({ id, tag }) => bytesOf('inbound', tag, inbounds.usage(id))),
      });
    if (metricsDetail === 'clients')
      details.push({
        name: 'weir_client_bytes_total',
        help: 'Bytes of a client since its last reset; of those with most bytes.',
        type: 'counter',
        labels: ['client', 'direction'],
        collect: async () => (await this.#largest()).flatMap((row) => bytesOf('client', row.email, row)),
      });
    return details;
  }

  /** The clients with most bytes, at most as many as the setting says. */
  async #largest(): Promise<Pick<ClientRow, 'email' | 'up' | 'down'>[]> {
    const { clients, settings } = this.#needs;
    const most = settings.read().metricsMostClients;
    type Shown = Pick<ClientRow, 'id' | 'email' | 'up' | 'down'>;
    let found: Shown[] = [];
    const first = () => found.sort((a, b) => b.up + b.down - (a.up + a.down) || a.id - b.id).slice(0, most);
    const slice = new TimeSlice();
    for (const { id, email, up, down } of [...clients.all()]) {
      if (slice.isOver) await slice.next();
      if (up + down === 0) continue;
      found.push({ id, email, up, down });
      // Sorted now and then: all of 100,000 clients in one go would hold the event loop.
      if (found.length >= 2 * most + 1000) found = first();
    }
    return first();
  }
}
