// Clients as a file: everything that is needed to make them again elsewhere, their secrets among it. Counters stay where they are.
import { kernelErrors } from '../../kernel/index.js';
import type { Applied } from '../engine/contract.js';
import { addEach } from './bulk.js';
import type { ClientRow } from './row.js';
import type { ExportedClient } from './schema.js';
import { ImportedClient } from './schema.js';
import type { ClientService, SkippedClient } from './service.js';

/** One transaction each, so that a large file does not hold the database for seconds. */
const SLICE = 1000;

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

function itemsOf(data: string): unknown[] {
  let items: unknown;
  try {
    items = JSON.parse(data);
  } catch (cause) {
    throw kernelErrors.INVALID('data is not valid JSON', { path: 'data', cause });
  }
  if (!Array.isArray(items)) throw kernelErrors.INVALID('data must hold the list that clients/export gives', { path: 'data' });
  return items;
}

export async function importAll(service: ClientService, data: string): Promise<{ created: number; skipped: SkippedClient[]; applied: Applied }> {
  const items = itemsOf(data);
  const whole = { created: 0, skipped: [] as SkippedClient[], applied: { pending: false, reason: '' } as Applied };
  for (let from = 0; from < items.length; from += SLICE) {
    const { created, skipped, applied } = await addEach(service, items.slice(from, from + SLICE), ImportedClient);
    whole.created += created;
    whole.skipped.push(...skipped);
    if (applied.pending) whole.applied = applied;
  }
  return whole;
}
