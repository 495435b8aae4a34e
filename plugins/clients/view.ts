// Clients as replies show them.
import type { ClientRow } from './row.js';
import type { ClientReply, TrafficRecord } from './schema.js';

export const trafficOf = (row: ClientRow, inboundId = row.inboundIds[0] ?? 0): TrafficRecord => ({
  id: row.id,
  inboundId,
  email: row.email,
  subId: row.subId,
  uuid: row.uuid,
  enable: row.enable,
  expiryTime: row.expiryTime,
  total: row.totalGB,
  up: row.up,
  down: row.down,
  lastOnline: row.lastOnline,
  lastSubFetch: row.lastSubFetch,
  reset: row.reset,
  resetCount: row.resetCount,
  resetDay: row.resetDay,
  resetMax: row.resetMax,
});

export const clientView = (row: ClientRow): ClientReply => ({
  id: row.id,
  email: row.email,
  subId: row.subId,
  uuid: row.uuid,
  password: row.password,
  flow: row.flow as ClientReply['flow'],
  totalGB: row.totalGB,
  expiryTime: row.expiryTime,
  enable: row.enable,
  limitIp: row.limitIp,
  limitHwid: row.limitHwid,
  tgId: row.tgId,
  group: row.group,
  comment: row.comment,
  reset: row.reset,
  resetDay: row.resetDay,
  resetMax: row.resetMax,
  reverse: row.reverse,
  inboundIds: [...row.inboundIds],
  traffic: trafficOf(row),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
