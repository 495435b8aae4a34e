// Which rows of a group stay when its addresses or inbounds change: a row keeps its id as long as its inbound and address
// are there, first of all where the port is the same too.
import type { HostAddress } from './address.js';
import type { HostRow } from './memory.js';

export interface WantedRow extends HostAddress {
  readonly inboundId: number;
}
export interface RowPlan {
  readonly kept: readonly (WantedRow & { readonly id: number; readonly position: number })[];
  readonly added: readonly (WantedRow & { readonly position: number })[];
  /** ids */
  readonly removed: readonly number[];
}

export const wantedRows = (addresses: readonly HostAddress[], inboundIds: readonly number[]): WantedRow[] =>
  addresses.flatMap((address) => inboundIds.map((inboundId) => ({ ...address, inboundId })));

type Key = (row: WantedRow, groupPort: number) => string;
/** From the strictest to the loosest. */
const KEYS: readonly Key[] = [
  ({ inboundId, address, ownPort }) => `${inboundId} ${address} ${ownPort}`,
  ({ inboundId, address, ownPort }, groupPort) => `${inboundId} ${address} ${ownPort ?? groupPort}`,
  ({ inboundId, address }) => `${inboundId} ${address}`,
];

export function planRows(
  before: { readonly rows: readonly HostRow[]; readonly port: number },
  after: { readonly rows: readonly WantedRow[]; readonly port: number },
): RowPlan {
  const left = new Map(before.rows.map((row) => [row.id, row]));
  const ids: (number | undefined)[] = after.rows.map(() => undefined);
  for (const key of KEYS) {
    const free = new Map<string, number[]>();
    for (const row of left.values()) {
      const name = key(row, before.port);
      const there = free.get(name);
      if (there) there.push(row.id);
      else free.set(name, [row.id]);
    }
    for (const [i, row] of after.rows.entries()) {
      if (ids[i] !== undefined) continue;
      const id = free.get(key(row, after.port))?.shift();
      if (id === undefined) continue;
      ids[i] = id;
      left.delete(id);
    }
  }
  const placed = after.rows.map((row, position) => ({ ...row, position, id: ids[position] }));
  return {
    kept: placed.flatMap(({ id, ...row }) => (id === undefined ? [] : { ...row, id })),
    added: placed.flatMap(({ id, ...row }) => (id === undefined ? row : [])),
    removed: [...left.keys()],
  };
}
