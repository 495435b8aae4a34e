// bulkAdjust: changes time and traffic of many clients. Each part is decided separately.
import type { ClientRow } from '../model/row.js';
import type { ClientPatch } from '../model/schema.js';

const DAY_MS = 86_400_000;

export interface Adjustment {
  readonly addDays: number;
  readonly addBytes: number;
  /** nothing, or a flow, or `none` to clear it */
  readonly flow: string;
  /** 0 for no limit */
  readonly limitHwid: number | undefined;
  /** nothing, or an ad tag, or `none` to clear it */
  readonly adTag: string;
}

type Part = { readonly patch: ClientPatch } | { readonly reason: string };
const NOTHING: Part = { patch: {} };

function days({ expiryTime }: ClientRow, addDays: number): Part {
  if (addDays === 0) return NOTHING;
  if (expiryTime === 0) return { reason: 'unlimited expiry' };
  // A duration that has not started is negative.
  const moved = expiryTime + (expiryTime > 0 ? addDays : -addDays) * DAY_MS;
  if (!Number.isSafeInteger(moved)) return { reason: 'the expiry would be too far away' };
  if (expiryTime > 0 ? moved <= 0 : moved >= 0) return { reason: 'the client has less time than that' };
  return { patch: { expiryTime: moved } };
}

function bytes({ totalGB }: ClientRow, addBytes: number): Part {
  if (addBytes === 0) return NOTHING;
  if (totalGB === 0) return { reason: 'unlimited traffic' };
  const total = totalGB + addBytes;
  if (!Number.isSafeInteger(total)) return { reason: 'the quota would be too large' };
  // Zero would mean no limit.
  return total <= 0 ? { reason: 'the client has a smaller quota than that' } : { patch: { totalGB: total } };
}

function flow({ inboundIds }: ClientRow, wanted: string, takesFlow: (inboundId: number) => boolean): Part {
  if (wanted === '') return NOTHING;
  if (wanted === 'none') return { patch: { flow: '' } };
  return inboundIds.some(takesFlow)
    ? { patch: { flow: wanted as 'xtls-rprx-vision' } }
    : { reason: 'none of its inbounds uses this flow' };
}

function tag({ inboundIds }: ClientRow, wanted: string, takesAdTag: (inboundId: number) => boolean): Part {
  if (wanted === '') return NOTHING;
  if (wanted === 'none') return { patch: { adTag: '' } };
  return inboundIds.some(takesAdTag)
    ? { patch: { adTag: wanted } }
    : { reason: 'none of its inbounds uses an ad tag' };
}

/** Which inbounds a part has an effect on. */
export interface Effective {
  readonly takesFlow: (inboundId: number) => boolean;
  readonly takesAdTag: (inboundId: number) => boolean;
}

/** Returns what changes, and the first reason why a part does not. */
export function adjustment(
  row: ClientRow,
  wanted: Adjustment,
  { takesFlow, takesAdTag }: Effective,
): { patch: ClientPatch; reason: string | undefined } {
  const parts = [
    days(row, wanted.addDays),
    bytes(row, wanted.addBytes),
    flow(row, wanted.flow, takesFlow),
    tag(row, wanted.adTag, takesAdTag),
    wanted.limitHwid === undefined ? NOTHING : { patch: { limitHwid: wanted.limitHwid } },
  ];
  const reason = parts.find((part) => 'reason' in part);
  return {
    patch: Object.assign({}, ...parts.map((part) => ('patch' in part ? part.patch : {}))) as ClientPatch,
    reason: reason && 'reason' in reason ? reason.reason : undefined,
  };
}
