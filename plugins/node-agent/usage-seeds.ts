// The bytes of an adopted client between the moment at which its central read its counters and the one at which its record
// is here: they become its first total, so none is lost and none is told twice.
import { TimeSlice, type Tx } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { Epochs } from './epochs.js';
import type { CentralRow } from './tables.js';
import { addedTo } from './usage-journal.js';

interface Bytes {
  readonly up: number;
  readonly down: number;
}
export interface Seed {
  /** of the central */
  readonly id: number;
  readonly inboundId: number;
  readonly localId: number;
  /** what the central has counted */
  readonly taken: Bytes;
}
type Entry = readonly [clientId: number, inboundId: number, up: number, down: number];

export class UsageSeeds {
  readonly #clients: ClientsApi;
  readonly #epochs: Epochs;

  constructor({ clients, epochs }: { clients: ClientsApi; epochs: Epochs }) {
    this.#clients = clients;
    this.#epochs = epochs;
  }

  /** In the transaction that stores the records. */
  async add(tx: Tx, central: CentralRow, seeds: readonly Seed[]): Promise<void> {
    if (seeds.length === 0) return;
    // Polls that are on their way to the totals are told without it.
    const untold = await this.#untold(tx, new Set(seeds.map(({ localId }) => localId)));
    const due = seeds.flatMap(({ id, inboundId, localId, taken }) => {
      const row = this.#clients.byId(localId);
      const later = untold.get(localId) ?? { up: 0, down: 0 };
      const up = Math.max(0, (row?.up ?? 0) - taken.up - later.up);
      const down = Math.max(0, (row?.down ?? 0) - taken.down - later.down);
      return up + down > 0 ? [[id, inboundId, up, down]] : [];
    });
    if (due.length === 0) return;
    const { number } = this.#epochs.current;
    const seq = await this.#epochs.next(tx, number);
    const { rows, onConflict, incoming } = tx.sql;
    const columns = { client_id: 'integer', inbound_id: 'integer', up: 'integer', down: 'integer' } as const;
    await tx.run(
      `INSERT INTO node_agent_usage (central, epoch, client_id, inbound_id, up, down, seq)
       SELECT :central, :number, j.client_id, j.inbound_id, j.up, j.down, :seq FROM ${rows(columns)} AS j WHERE true
       ${onConflict('central, epoch, client_id, inbound_id', `${addedTo(tx.sql, 'up')}, ${addedTo(tx.sql, 'down')}, seq = ${incoming('seq')}`)}`,
      { central: central.id, number, seq, rows: JSON.stringify(due) },
    );
  }

  async #untold(tx: Tx, ids: ReadonlySet<number>): Promise<Map<number, Bytes>> {
    const found = new Map<number, Bytes>();
    const slice = new TimeSlice();
    const rows = await tx.query<{ entries: string }>('SELECT entries FROM node_agent_journal');
    for (const { entries } of rows) {
      for (const [clientId, , up, down] of JSON.parse(entries) as Entry[]) {
        if (!ids.has(clientId)) continue;
        const known = found.get(clientId) ?? { up: 0, down: 0 };
        found.set(clientId, { up: known.up + up, down: known.down + down });
      }
      if (slice.isOver) await slice.next();
    }
    return found;
  }
}
