// Which clients and inbounds a node has, or had: it may tell what they used, and nothing of others.
import type { Database, Projection, Tx } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { Mark } from './desired-records.js';
import type { RecordKind } from './tables.js';

type Left = Map<number, Set<string>>;
type Row = Pick<Mark, 'nodeId' | 'kind' | 'id' | 'isGone'>;
/** The newest that left a node. Of older ones the last bytes have long been read. */
const MOST = 50_000;
const keyOf = (kind: RecordKind, id: number): string => `${kind}.${id}`;

/** Only what left is held; after a restart it is what the nodes have not confirmed. */
export class OnceThere {
  readonly #inbounds: InboundsApi;
  readonly #clients: ClientsApi;
  readonly projection: Projection<Left, readonly Row[]>;

  constructor({ db, inbounds, clients }: { db: Database; inbounds: InboundsApi; clients: ClientsApi }) {
    this.#inbounds = inbounds;
    this.#clients = clients;
    this.projection = db.projection<Left, readonly Row[]>({
      load: async () => {
        const left: Left = Object.assign(new Map<number, Set<string>>(), { isComparedApart: true });
        const rows = await db.query<Row>(
          'SELECT node_id AS "nodeId", kind, id, is_gone AS "isGone" FROM node_sync_records WHERE is_gone = 1',
        );
        for (const row of rows) note(left, { ...row, nodeId: Number(row.nodeId), isGone: true });
        return left;
      },
      apply: (left, rows) => {
        for (const row of rows) note(left, row);
      },
    });
  }

  marked(tx: Tx, marks: readonly Mark[]): void {
    if (marks.length > 0) tx.apply(this.projection, marks);
  }

  /** Whether a client can have used an inbound of the node. */
  of(nodeId: number): (clientId: number, inboundId: number) => boolean {
    const left = this.projection.state.get(nodeId);
    const isOn = (id: number): boolean => this.#inbounds.get(id)?.nodeId === nodeId;
    return (clientId, inboundId) =>
      (isOn(inboundId) || left?.has(keyOf('inbound', inboundId)) === true) &&
      (this.#clients.byId(clientId)?.inboundIds.some(isOn) === true ||
        left?.has(keyOf('client', clientId)) === true);
  }
}

function note(left: Left, { nodeId, kind, id, isGone }: Row): void {
  const known = left.get(nodeId) ?? new Set<string>();
  left.set(nodeId, known);
  const key = keyOf(kind, id);
  known.delete(key);
  if (!isGone) return;
  known.add(key);
  const [oldest] = known;
  if (known.size > MOST && oldest !== undefined) known.delete(oldest);
}
