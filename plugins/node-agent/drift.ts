// Notes in the transaction of a change that it is another one than the central wanted.
import type { Tx } from '../../kernel/index.js';
import type { ClientChange, ClientRow } from '../clients/contract.js';
import type { InboundChange } from '../inbounds/contract.js';
import type { Records } from './records.js';

/** What a client has besides the wishes for it. */
const NOT_WANTED: readonly string[] = [
  'id',
  'credentials',
  'inboundIds',
  'up',
  'down',
  'elsewhereUp',
  'elsewhereDown',
  'lastOnline',
  'lastSubFetch',
  'depletedCause',
  'countedSince',
  'resetCount',
  'createdAt',
  'updatedAt',
] satisfies (keyof ClientRow)[];
const IN = 500;

export async function clientsChanged(
  tx: Tx,
  changes: readonly ClientChange[],
  records: Records,
): Promise<void> {
  const drifted: number[] = [];
  const restarted: number[] = [];
  for (const { before, after, setsUsage } of changes) {
    if (!before) continue;
    // The node renewed or reset it: what the central reports of the period before no longer counts.
    if (after && setsUsage && after.up + after.down === 0) restarted.push(before.id);
    else if (!after || isDrift(before, after)) drifted.push(before.id);
  }
  for (let from = 0; from < drifted.length; from += IN)
    await records.drifted(tx, 'client', drifted.slice(from, from + IN));
  for (let from = 0; from < restarted.length; from += IN)
    await records.drifted(
      tx,
      'client',
      restarted.slice(from, from + IN),
      'is_drifted = 1, period = period + 1',
    );
}

/** A limit that disables a client, and a duration that starts, are what the central wanted. */
function isDrift(before: Readonly<ClientRow>, after: Readonly<ClientRow>): boolean {
  if (before.inboundIds.some((id) => !after.inboundIds.includes(id))) return true;
  return (Object.keys(after) as (keyof ClientRow)[]).some((name) => {
    if (NOT_WANTED.includes(name)) return false;
    if (name === 'enable' && before.depletedCause !== after.depletedCause) return false;
    if (name === 'expiryTime' && before.expiryTime < 0 && after.expiryTime > 0) return false;
    return JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  });
}

export async function inboundsChanged(
  tx: Tx,
  changes: readonly InboundChange[],
  records: Records,
): Promise<void> {
  for (const { before, after } of changes) {
    if (!before) continue;
    // Its own limit, or the end of one.
    if (after && before.depletedCause !== after.depletedCause) continue;
    await records.drifted(tx, 'inbound', [before.id]);
    if (after) continue;
    // The database detaches its clients.
    for (const { central, id } of await records.idsOf(tx, 'inbound', before.id))
      await records.driftedIn(tx, central, id);
  }
}
