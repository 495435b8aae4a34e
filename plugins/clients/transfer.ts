// Clients as a file: everything that is needed to make them again elsewhere, their secrets among it. Counters stay where they are.
import type { ClientRow } from './row.js';
import type { ExportedClient } from './schema.js';

/** `id` is the UUID, as client programs of this API have it. */
export const exported = (row: ClientRow): ExportedClient => ({
  client: {
    id: row.uuid,
    email: row.email,
    subId: row.subId,
    uuid: row.uuid,
    password: row.password,
    flow: row.flow as ExportedClient['client']['flow'],
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
  },
  inboundIds: [...row.inboundIds],
});
