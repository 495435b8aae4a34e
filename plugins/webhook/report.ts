// The report on panel and core, as an embed.
import { hostname } from 'node:os';
import { type Clock, type LiveSettings, TimeSlice } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { ServerStatusApi } from '../server-status/contract.js';
import type { PresenceApi } from '../traffic/contract.js';
import { COLORS, type Embed, type EmbedField, escaped } from './embed.js';
import { type Labels, labelsOf } from './labels.js';
import type { WebhookSettings } from './settings.js';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(2)} ${UNITS[unit]}`;
}

interface Counted {
  total: number;
  disabled: number;
  depleted: number;
}
type Limited = { readonly enable: boolean; readonly depletedCause: string | null };

async function counted(rows: Iterable<Limited>): Promise<Counted> {
  const counts = { total: 0, disabled: 0, depleted: 0 };
  const slice = new TimeSlice();
  for (const { enable, depletedCause } of rows) {
    if (slice.isOver) await slice.next();
    counts.total++;
    if (!enable && depletedCause) counts.depleted++;
    else if (!enable) counts.disabled++;
  }
  return counts;
}
const countText = ({ total, disabled, depleted }: Counted, labels: Labels): string =>
  `${labels.total}: ${total}\n${labels.depleted}: ${depleted}\n${labels.disabled}: ${disabled}`;

export class Report {
  readonly #settings: LiveSettings<WebhookSettings>;
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #inbounds: InboundsApi;
  readonly #presence: PresenceApi | undefined;
  readonly #status: ServerStatusApi | undefined;

  constructor(needs: {
    settings: LiveSettings<WebhookSettings>;
    clock: Clock;
    clients: ClientsApi;
    inbounds: InboundsApi;
    presence?: PresenceApi | undefined;
    status?: ServerStatusApi | undefined;
  }) {
    this.#settings = needs.settings;
    this.#clock = needs.clock;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#presence = needs.presence;
    this.#status = needs.status;
  }

  async embed(): Promise<Embed> {
    const labels = labelsOf(this.#settings.read().webhookLang);
    return {
      title: `${labels.report}: ${hostname()}`,
      color: COLORS.blue,
      fields: [...(await this.#machine(labels)), ...(await this.#accounts(labels))],
      footer: { text: this.#settings.read().webhookRunTime },
      timestamp: new Date(this.#clock.now()).toISOString(),
    };
  }

  async #machine(labels: Labels): Promise<EmbedField[]> {
    const status = await this.#status?.status();
    if (!status) return [];
    const { engine, load, mem, netTraffic, publicIP } = status;
    const fields: readonly (readonly [string, string])[] = [
      [labels.panel, status.panelVersion],
      [labels.core, `${engine.version} ${engine.state}${engine.errorMsg && `: ${engine.errorMsg}`}`],
      [labels.uptime, `${Math.floor(status.uptime / 86_400)} ${labels.days}`],
      [labels.load, [load.load1, load.load5, load.load15].map((value) => value.toFixed(2)).join(', ')],
      [labels.memory, `${bytesText(mem.current)} / ${bytesText(mem.total)}`],
      [labels.traffic, `↑ ${bytesText(netTraffic.sent)}\n↓ ${bytesText(netTraffic.recv)}`],
      [labels.connections, `TCP ${status.tcpCount}, UDP ${status.udpCount}`],
      [labels.addresses, `IPv4 ${publicIP.ipv4}\nIPv6 ${publicIP.ipv6}`],
    ];
    return fields.map(([name, value]) => ({ name, value: escaped(value), inline: true }));
  }

  async #accounts(labels: Labels): Promise<EmbedField[]> {
    const fields: (readonly [string, string])[] = [
      [labels.online, String(this.#presence?.online().length ?? 0)],
      [labels.inbounds, countText(await counted(this.#inbounds.list()), labels)],
      [labels.clients, countText(await counted(this.#clients.all()), labels)],
    ];
    return fields.map(([name, value]) => ({ name, value: escaped(value), inline: true }));
  }

  test(): Embed {
    const labels = labelsOf(this.#settings.read().webhookLang);
    return {
      title: labels.test,
      description: labels.testText,
      color: COLORS.green,
      fields: [{ name: labels.host, value: escaped(hostname()), inline: true }],
      footer: { text: 'Weir' },
      timestamp: new Date(this.#clock.now()).toISOString(),
    };
  }
}
