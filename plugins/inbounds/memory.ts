// All inbounds in memory, with their usage: they are few, and every request reads some.
import { frozen } from '../../kernel/index.js';
import type { InboundChange, InboundUsage } from './contract.js';
import { type Inbound, inboundRecord } from './fields.js';
import { placeKey } from './ports/listening.js';
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
  /** ids by tag */
  readonly tags: Map<string, number>;
  /** ids of inbounds that may be in each other's way, by `placeKey` */
  readonly places: Map<string | number, Set<number>>;
}
export type MemoryChange =
  | { readonly saved: readonly InboundChange[] }
  | { readonly used: readonly InboundUsage[] }
  | { readonly reset: readonly number[] };

export async function loadMemory({ inbounds, usage }: InboundTables): Promise<InboundMemory> {
  const rows = await inbounds.findAll({ order: ['id'], raw: true });
  const memory: InboundMemory = {
    inbounds: new Map(),
    tags: new Map(),
    places: new Map(),
    usage: new Map(
      (await usage.findAll({ raw: true })).map((row) => {
        const { inboundId, up, down } = row as unknown as InboundUsage;
        return [inboundId, { up, down }];
      }),
    ),
  };
  for (const row of rows) {
    const { id } = row as unknown as { readonly id: number };
    put(memory, { id, ...inboundRecord.read(row as never) });
  }
  return memory;
}

function put({ inbounds, tags, places }: InboundMemory, inbound: Inbound): void {
  inbounds.set(inbound.id, frozen(inbound));
  tags.set(inbound.tag, inbound.id);
  const key = placeKey(inbound);
  if (key === undefined) return;
  const ids = places.get(key);
  if (ids) ids.add(inbound.id);
  else places.set(key, new Set([inbound.id]));
}
function take({ inbounds, tags, places }: InboundMemory, id: number): void {
  const inbound = inbounds.get(id);
  if (!inbound) return;
  tags.delete(inbound.tag);
  const key = placeKey(inbound) ?? '';
  const ids = places.get(key);
  ids?.delete(id);
  if (ids?.size === 0) places.delete(key);
}

/** Caps a sum at the greatest number that JSON transports exactly. */
export const safe = (bytes: number): number => Math.min(bytes, Number.MAX_SAFE_INTEGER);

/** Applies one change; changes come in commit order. */
export function applyChange(memory: InboundMemory, change: MemoryChange): void {
  const { inbounds, usage } = memory;
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
      if (before) take(memory, before.id);
      // In place, so that the order by id stays.
      if (after) put(memory, after);
      else if (before) {
        inbounds.delete(before.id);
        usage.delete(before.id);
      }
    }
}
