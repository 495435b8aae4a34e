// The bytes of each poll, sent as JSON to one address: for billing programs of older panels. Nothing is repeated, and no
// poll waits for it: while one report is under way, the next ones are skipped and counted.
import { type Clock, type LiveSettings, type Log, messageOf, TimeSlice } from '../../kernel/index.js';
import type { ClientsApi, ClientUsage } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import {
  CalledHosts,
  type OutgoingAccess,
  type OutgoingApi,
  type OutgoingFetch,
} from '../outgoing/contract.js';
import type { callbackSettings } from './settings.js';

const LONGEST_MS = 3_000;
const LONGEST_ERROR = 500;
/** The log has one line for many failures. */
const QUIET_MS = 10 * 60_000;

export interface InformStatus {
  sent: number;
  failed: number;
  /** polls whose report was left out, because an earlier one was under way */
  skipped: number;
  lastSentAt: number;
  lastError: string;
}

export class TrafficInform {
  readonly #settings: LiveSettings<typeof callbackSettings>;
  readonly #clients: ClientsApi;
  readonly #inbounds: InboundsApi;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #signal: AbortSignal;
  readonly #fetch: OutgoingFetch;
  readonly #hosts = new CalledHosts();
  readonly access: OutgoingAccess = {
    hosts: this.#hosts.list,
    limits: {
      connectMs: LONGEST_MS,
      firstByteMs: LONGEST_MS,
      wholeMs: LONGEST_MS,
      maxBytes: 1024 ** 3,
      redirects: 0,
    },
  };
  readonly status: InformStatus = { sent: 0, failed: 0, skipped: 0, lastSentAt: 0, lastError: '' };
  #isUnderWay = false;
  #toldAt = 0;

  constructor(needs: {
    settings: LiveSettings<typeof callbackSettings>;
    clients: ClientsApi;
    inbounds: InboundsApi;
    clock: Clock;
    log: Log;
    signal: AbortSignal;
    outgoing: OutgoingApi;
  }) {
    this.#settings = needs.settings;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#signal = needs.signal;
    this.#fetch = needs.outgoing.for(this.access);
  }

  /** Begins a report of one poll and returns at once. */
  counted(usage: readonly ClientUsage[]): void {
    const { externalTrafficInformEnable: isOn, externalTrafficInformURI: url } = this.#settings.read();
    if (!isOn || url === '' || usage.length === 0) return;
    if (this.#isUnderWay) {
      this.status.skipped++;
      return;
    }
    this.#isUnderWay = true;
    void this.#send(url, usage)
      .then(
        () => {
          this.status.sent++;
          this.status.lastSentAt = this.#clock.now();
          this.status.lastError = '';
        },
        (error: unknown) => this.#failed(messageOf(error)),
      )
      .finally(() => {
        this.#isUnderWay = false;
      });
  }

  async #send(url: string, usage: readonly ClientUsage[]): Promise<void> {
    const body = await this.#bodyOf(usage);
    const headers = { 'content-type': 'application/json', 'user-agent': 'Weir' };
    const reply = await this.#hosts.during(new URL(url).host, () =>
      this.#fetch(url, { method: 'POST', headers, body, signal: this.#signal, redirect: 'error' }),
    );
    void reply.body?.cancel().catch(() => undefined);
    if (!reply.ok) throw new Error(`the receiver answered ${reply.status}`);
  }

  /** The form of older panels: rows of clients with the bytes of this poll, and of inbounds with keys in capitals. */
  async #bodyOf(usage: readonly ClientUsage[]): Promise<string> {
    const ofClients = new Map<number, { up: number; down: number }>();
    const ofInbounds = new Map<number, { up: number; down: number }>();
    const slice = new TimeSlice();
    for (const { clientId, inboundId, up, down } of usage) {
      if (slice.isOver) await slice.next();
      for (const [sums, id] of [
        [ofClients, clientId],
        [ofInbounds, inboundId],
      ] as const) {
        const sum = sums.get(id) ?? { up: 0, down: 0 };
        sums.set(id, { up: sum.up + up, down: sum.down + down });
      }
    }
    const parts: string[] = [];
    for (const [id, { up, down }] of ofClients) {
      if (slice.isOver) await slice.next();
      const row = this.#clients.byId(id);
      if (!row) continue;
      const { email, enable, expiryTime, totalGB: total, reset, lastOnline } = row;
      parts.push(JSON.stringify({ id, email, enable, up, down, expiryTime, total, reset, lastOnline }));
    }
    const inboundTraffics = [...ofInbounds].flatMap(([id, { up, down }]) => {
      const tag = this.#inbounds.get(id)?.tag;
      return tag === undefined ? [] : [{ IsInbound: true, IsOutbound: false, Tag: tag, Up: up, Down: down }];
    });
    return `{"clientTraffics":[${parts.join(',')}],"inboundTraffics":${JSON.stringify(inboundTraffics)}}`;
  }

  #failed(reason: string): void {
    this.status.failed++;
    this.status.lastError = reason.slice(0, LONGEST_ERROR);
    const now = this.#clock.now();
    if (this.#toldAt !== 0 && now - this.#toldAt < QUIET_MS) return;
    this.#toldAt = now;
    this.#log.warn('a report of traffic could not be sent; its bytes are in none of the next ones', {
      reason,
    });
  }
}
