// Clients, inbounds and the server as texts.
import { hostname } from 'node:os';
import type { ClientRow } from '../../clients/contract.js';
import type { Inbound } from '../../inbounds/contract.js';
import { inboundDepletion } from '../../inbounds/contract.js';
import type { Turn } from '../chat/turn.js';
import type { Texts } from '../texts/texts.js';
import { type Parts, running } from './parts.js';

const DAY_MS = 86_400_000;
const MOST_NAMES = 10;

/** The language and the zone of a text. */
export type Reader = Pick<Turn, 'texts' | 'zone'>;

export const limit = (texts: Texts, value: number): string =>
  value > 0 ? texts.number(value) : texts.plain('unlimited');
export const amount = (texts: Texts, bytes: number): string =>
  bytes > 0 ? texts.bytes(bytes) : texts.plain('unlimited');

export function expiry({ texts, zone }: Reader, expiryTime: number): string {
  if (expiryTime === 0) return texts.plain('unlimited');
  if (expiryTime < 0) return texts.plain('afterFirstUse', { days: Math.ceil(-expiryTime / DAY_MS) });
  return texts.moment(expiryTime, zone);
}

const stateOf = ({ enable, depletedCause }: Pick<ClientRow, 'enable' | 'depletedCause'>): string =>
  enable ? 'on' : (depletedCause ?? 'off');

/** What a client may know about itself. */
export function clientText({ presence }: Parts, reader: Reader, row: ClientRow): string {
  const { texts } = reader;
  return texts.html('client', {
    email: row.email,
    state: stateOf(row),
    online: presence?.isOnline(row.id) ? 'yes' : 'no',
    used: texts.bytes(row.up + row.down),
    up: texts.bytes(row.up),
    down: texts.bytes(row.down),
    total: amount(texts, row.totalGB),
    expiry: expiry(reader, row.expiryTime),
  });
}

export function inboundNames({ inbounds }: Parts, ids: readonly number[]): string {
  const names = ids.slice(0, MOST_NAMES).map((id) => inbounds.get(id)?.remark || String(id));
  return ids.length > MOST_NAMES ? `${names.join(', ')} …` : names.join(', ') || '–';
}

/** What admins see besides. */
export function clientMore(parts: Parts, { texts, zone }: Reader, row: ClientRow): string {
  return texts.html('clientMore', {
    ips: limit(texts, row.limitIp),
    devices: limit(texts, row.limitHwid),
    messenger: row.tgId === 0 ? '–' : String(row.tgId),
    inbounds: inboundNames(parts, row.inboundIds),
    comment: row.comment.slice(0, 500) || '–',
    seen: row.lastOnline === 0 ? texts.plain('never') : texts.moment(row.lastOnline, zone),
  });
}

export function inboundText(parts: Parts, reader: Reader, inbound: Inbound, clients: number): string {
  const { texts } = reader;
  const used = parts.inbounds.usage(inbound.id);
  const reached = inboundDepletion(inbound, used, parts.clock.now()) ?? 'off';
  return texts.html('inbound', {
    remark: inbound.remark || String(inbound.id),
    protocol: inbound.protocol,
    port: String(inbound.port),
    state: inbound.enable ? 'on' : reached,
    up: texts.bytes(used.up),
    down: texts.bytes(used.down),
    total: amount(texts, inbound.total),
    expiry: expiry(reader, inbound.expiryTime),
    clients,
  });
}

/** Machine, core and counts. One pass over all clients. */
export async function serverText(parts: Parts, { texts }: Reader): Promise<string> {
  const found = await running(parts.status, 'server-status').status();
  let clients = 0;
  let disabled = 0;
  for (const { enable } of parts.clients.all()) {
    clients++;
    if (!enable) disabled++;
  }
  const addresses = Object.values(found.publicIP).filter((address) => address !== 'N/A');
  return texts.html('status', {
    host: hostname(),
    panel: found.panelVersion,
    core: found.engine.version || '–',
    state: found.engine.state,
    addresses: addresses.join(', ') || '–',
    uptime: texts.span(found.uptime),
    load: [found.load.load1, found.load.load5, found.load.load15].map((load) => texts.number(load)).join(' '),
    cpu: texts.number(Math.round(found.cpu)),
    memory: texts.bytes(found.mem.current),
    memoryTotal: texts.bytes(found.mem.total),
    tcp: found.tcpCount,
    udp: found.udpCount,
    sent: texts.bytes(found.netTraffic.sent),
    received: texts.bytes(found.netTraffic.recv),
    inbounds: parts.inbounds.list().length,
    clients,
    disabled,
    online: parts.presence?.online().length ?? 0,
  });
}
