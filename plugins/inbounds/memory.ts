// All inbounds in memory, with their usage: they are few, and every request reads some.
import { frozen } from '../../kernel/index.js';
import type { InboundChange, InboundUsage } from './contract.js';
import { type Inbound, inboundRecord } from './fields.js';
import type { InboundTables } from './tables.js';

export interface Used {
  readonly up: number;
  readonly down: number;
}
export interface InboundMemory {
  /** by id, in their order */
  readonly inbounds: Map<number, Inbound>;
  /** bytes; an inbound that moved none has no entry */
  readonly usage: Map<number, Used>;
}
export type MemoryChange =
  | { readonly saved: readonly InboundChange[] }
  | { readonly used: readonly InboundUsage[] }
  | { readonly reset: readonly number[] };

export async function loadMemory({ inbounds, usage }: InboundTables): Promise<InboundMemory> {
  const rows = await inbounds.findAll({ order: ['id'], raw: true });
  return {
    inbounds: new Map(
      rows.map((row) => {
        const { id } = row as unknown as { readonly id: number };
        return [id, frozen({ id, ...inboundRecord.read(row as never) })];
      }),
    ),
    usage: new Map(
      (await usage.findAll({ raw: true })).map((row) => {
        const { inboundId, up, down } = row as unknown as InboundUsage;
        return [inboundId, { up, down }];
      }),
    ),
  };
}

/** Caps a sum at the greatest number that JSON transports exactly. */
export const safe = (bytes: number): number => Math.min(bytes, Number.MAX_SAFE_INTEGER);

/** Applies one change; changes come in commit order. */
export function applyChange({ inbounds, usage }: InboundMemory, change: MemoryChange): void {
  if ('reset' in change) for (const id of change.reset) usage.delete(id);
  else if ('used' in change)
    for (const { inboundId, up, down } of change.used) {
      // Deleted inbounds have no row that could count.
      if (!inbounds.has(inboundId)) continue;
      const now = usage.get(inboundId) ?? { up: 0, down: 0 };
      usage.set(inboundId, { up: safe(now.up + up), down: safe(now.down + down) });
    }
  else
    for (const { before, after } of change.saved) {
      if (after) inbounds.set(after.id, frozen(after));
      else if (before) {
        inbounds.delete(before.id);
        usage.delete(before.id);
      }
    }
}
