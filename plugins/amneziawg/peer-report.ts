// What the devices say about their peers, and what the panel's log says about them.
import type { ClientsApi } from '../clients/contract.js';
import type { Inbound, LocalInboundsApi } from '../inbounds/contract.js';
import type { LoggedLine, PanelLogApi } from '../panel-logs/contract.js';
import { bool, int, list, shape, type Static, text, TimeSlice } from '../../kernel/index.js';
import type { PeerState } from './device-state.js';
import type { Handshakes } from './handshakes.js';
import { interfaceOf } from './interface.js';
import type { AmneziawgSidecar } from './sidecar.js';
import type { Tunnel } from './tunnel.js';

const LINES_LOOKED_AT = 10_240;

/** Names as in the API description. */
const PeerRow = shape({
  inboundId: int(),
  interface: text(),
  tag: text(),
  email: text(),
  endpoint: text().description('where the client was last; blank before its first handshake'),
  allowedIPs: text(),
  handshake: int().description('Unix ms; 0: never'),
  up: int().description('bytes since the program started, or since the client was last added'),
  down: int(),
  online: bool().description('the handshake is less than three minutes old'),
});
type Row = Static<typeof PeerRow>;

export const Report = shape({ running: bool(), peers: list(PeerRow), events: list(text()) });

interface Needs {
  readonly sidecar: AmneziawgSidecar;
  readonly inbounds: LocalInboundsApi;
  readonly clients: ClientsApi;
  readonly handshakes: Handshakes;
  readonly panelLog: PanelLogApi | undefined;
}

export class PeerReport {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** At most `count` peers, and as many events, newest first; those with this text in a field, in any case. */
  async take(count: number, filter: string) {
    const wanted = filter.toLowerCase();
    const has = (value: string): boolean => wanted === '' || value.toLowerCase().includes(wanted);
    const peers: Row[] = [];
    const slice = new TimeSlice();
    for (const [inboundId, tunnel] of this.#needs.sidecar.tunnels) {
      const inbound = this.#needs.inbounds.get(inboundId);
      const state = inbound && (await tunnel.state().catch(() => undefined));
      if (!inbound || !state) continue;
      for (const peer of state.peers.values()) {
        if (peers.length >= count) break;
        if (slice.isOver) await slice.next();
        const row = this.#row(inbound, tunnel, peer);
        if (Object.values(row).some((value) => typeof value === 'string' && has(value))) peers.push(row);
      }
    }
    return { running: this.#needs.sidecar.tunnels.size > 0, peers, events: await this.#events(count, has) };
  }

  #row(inbound: Inbound, tunnel: Tunnel, peer: PeerState): Row {
    const ref = tunnel.clientOf(peer.publicKey);
    return {
      inboundId: inbound.id,
      interface: interfaceOf(inbound.id),
      tag: inbound.tag,
      email: (ref && this.#needs.clients.byId(ref.clientId)?.email) ?? '',
      endpoint: peer.endpoint,
      allowedIPs: peer.allowedIPs.join(', '),
      handshake: peer.handshake,
      up: peer.received,
      down: peer.sent,
      online: this.#needs.handshakes.isRecent(peer.handshake),
    };
  }

  async #events(count: number, has: (text: string) => boolean): Promise<string[]> {
    const slice = new TimeSlice();
    const events: string[] = [];
    for (const line of this.#needs.panelLog?.last(LINES_LOOKED_AT, 'debug') ?? []) {
      if (events.length >= count) break;
      if (slice.isOver) await slice.next();
      if (/amneziawg/i.test(line.text) && has(line.text)) events.push(written(line));
    }
    return events;
  }
}

const written = ({ at, level, text: message }: LoggedLine): string =>
  `${new Date(at).toISOString()} ${level} ${message}`;
