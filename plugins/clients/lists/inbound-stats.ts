// Clients in replies about inbounds: one pass over all clients for all rows that are shown.
import type { InboundView } from '../../inbounds/contract.js';
import type { Roster } from '../model/roster.js';
import type { TrafficRecord } from '../model/schema.js';
import { trafficOf, wireClient } from '../model/views.js';
import type { ShownUsage } from './shown-usage.js';

/** With `whole`, usage is shown as everywhere; without, it is our own: other panels take differences of it. */
export function describe(
  rows: readonly InboundView[],
  roster: Roster,
  shown: ShownUsage,
  whole: boolean,
): InboundView[] {
  const stats = new Map<number, TrafficRecord[]>(rows.map(({ id }) => [id, []]));
  const clients = new Map<number, Record<string, unknown>[]>(rows.map(({ id }) => [id, []]));
  for (const row of roster.ordered('id')) {
    for (const inboundId of row.inboundIds) {
      const records = stats.get(inboundId);
      // A reply with one inbound makes no records for the others.
      if (!records) continue;
      const record = trafficOf(row, inboundId);
      records.push(whole ? shown.raise(record) : record);
      if (whole) clients.get(inboundId)?.push(wireClient(row, inboundId));
    }
  }
  return rows.map((row) => ({
    ...row,
    clientStats: stats.get(row.id) ?? [],
    ...(whole && { settings: { ...row.settings, clients: clients.get(row.id) } }),
  }));
}
