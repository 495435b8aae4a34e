// Clients as replies show them, and the paged list.
import type { PresenceSource } from './contract.js';
import type { ClientRow } from './row.js';
import { depletionOf } from './row.js';
import type { Roster } from './roster.js';
import type { ClientReply, PageQuery, TrafficRecord } from './schema.js';

const MOST_PER_PAGE = 200;
/** The email lists of a summary stop here; its counts are exact. */
const MOST_NAMES = 200;

export const trafficOf = (row: ClientRow, inboundId = row.inboundIds[0] ?? 0): TrafficRecord => ({
  id: row.id, inboundId, email: row.email, subId: row.subId, uuid: row.uuid, enable: row.enable, expiryTime: row.expiryTime, total: row.totalGB, up: row.up, down: row.down,
  lastOnline: row.lastOnline, lastSubFetch: row.lastSubFetch, reset: row.reset, resetCount: row.resetCount, resetDay: row.resetDay, resetMax: row.resetMax,
});

export const clientView = (row: ClientRow): ClientReply => ({
  id: row.id, email: row.email, subId: row.subId, uuid: row.uuid, password: row.password, flow: row.flow as ClientReply['flow'], totalGB: row.totalGB, expiryTime: row.expiryTime, enable: row.enable,
  limitIp: row.limitIp, limitHwid: row.limitHwid, tgId: row.tgId, group: row.group, comment: row.comment, reset: row.reset, resetDay: row.resetDay, resetMax: row.resetMax, reverse: row.reverse,
  inboundIds: [...row.inboundIds], traffic: trafficOf(row), createdAt: row.createdAt, updatedAt: row.updatedAt,
});

/** Over all clients, whatever the list shows: active + deactive + depleted always equals total; online lies across them. */
function summaryOf(rows: readonly ClientRow[], now: number, presence: readonly PresenceSource[]) {
  const deactive: string[] = [], depleted: string[] = [], online: string[] = [];
  let active = 0, deactiveCount = 0, depletedCount = 0, onlineCount = 0;
  const note = (names: string[], row: ClientRow) => void (names.length < MOST_NAMES && names.push(row.email));
  for (const row of rows) {
    if (depletionOf(row, now)) {
      depletedCount++;
      note(depleted, row);
    } else if (row.enable) active++;
    else {
      deactiveCount++;
      note(deactive, row);
    }
    if (row.enable && presence.some((source) => source.isOnline(row.id))) {
      onlineCount++;
      note(online, row);
    }
  }
  return { total: rows.length, active, deactive, deactiveCount, depleted, depletedCount, expiring: [], expiringCount: 0, online, onlineCount };
}

export function pageOf(roster: Roster, { page, pageSize: wanted, search, sort, order }: PageQuery, now: number, presence: readonly PresenceSource[]) {
  const pageSize = Math.min(wanted, MOST_PER_PAGE);
  const rows = roster.ordered(sort === 'email' ? 'email' : 'id');
  const needle = search.trim().toLowerCase();
  const found = needle === '' ? rows : rows.filter((row) => roster.searchText(row).includes(needle));
  const from = (page - 1) * pageSize;
  const items = order === 'descend' ? found.slice(Math.max(0, found.length - from - pageSize), Math.max(0, found.length - from)).reverse() : found.slice(from, from + pageSize);
  const groups = [...new Set(rows.map(({ group }) => group).filter(Boolean))].sort((a, b) => a.localeCompare(b));
  return { filtered: found.length, total: rows.length, page, pageSize, items: items.map(clientView), groups, summary: summaryOf(rows, now, presence) };
}
