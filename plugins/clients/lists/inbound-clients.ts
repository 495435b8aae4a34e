// Clients in replies about inbounds, read while the reply is sent.
import { LongList } from '../../../kernel/index.js';
import type { ClientsShownIn, ShownClients } from '../../inbounds/contract.js';
import type { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import { trafficOf, wireClient } from '../model/views.js';
import type { ShownUsage } from './shown-usage.js';

const slimClient = ({ email, enable, comment }: ClientRow) => ({ email, enable, comment });

/** The rows of an inbound, when they are first needed: a reply may leave out both lists, and they are the same for both. */
function attachedTo(inboundId: number, roster: Roster): () => readonly ClientRow[] {
  let rows: readonly ClientRow[] | undefined;
  return () => {
    // Clients share their lists of inbounds, so most rows cost a comparison.
    let last: readonly number[] = [];
    let isAttached = false;
    return (rows ??= roster.ordered('id').filter(({ inboundIds }) => {
      if (inboundIds !== last) isAttached = (last = inboundIds).includes(inboundId);
      return isAttached;
    }));
  };
}

export function clientsOf(
  inboundId: number,
  shownIn: ClientsShownIn,
  roster: Roster,
  shown: ShownUsage,
): ShownClients {
  const rows = attachedTo(inboundId, roster);
  const listOf = (show: (row: ClientRow) => Record<string, unknown>) =>
    new LongList(() => LongList.of(rows(), show).portions());
  return {
    stats: listOf((row) => {
      const record = trafficOf(row, inboundId);
      return shownIn === 'list' ? record : shown.raise(record);
    }),
    clients: listOf(shownIn === 'slim' ? slimClient : (row) => wireClient(row, inboundId)),
  };
}
