// What each client used on each machine since its period began, for clients of nodes: so that a node, which cuts on its own
// while this panel is away, knows what was used elsewhere.
import type { Database, Projection, Tx } from '../../kernel/index.js';
import type { ClientChange, ClientsApi, ClientUsage } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { MachineUsageRow, SyncTables } from './tables.js';

export interface Bytes {
  readonly up: number;
  readonly down: number;
}
/** by client, then by node; 0 is this machine */
type Usage = Map<number, Map<number, Bytes>>;
interface Change {
  readonly added?: readonly MachineUsageRow[];
  readonly cleared?: readonly number[];
  readonly moved?: { readonly from: number; readonly to: number };
}
/** By client and node. */
type Unsaved = Map<string, MachineUsageRow>;
interface UnsavedChange {
  readonly added?: readonly MachineUsageRow[];
  readonly stored?: readonly MachineUsageRow[];
  readonly cleared?: readonly number[];
}
const HERE = 0;
const AT_ONCE = 2_500;
const MOST_BYTES = Number.MAX_SAFE_INTEGER;
const sum = (a: number, b: number): number => Math.min(a + b, MOST_BYTES);

export class UsageByMachine {
  readonly #db: Database;
  readonly #inbounds: InboundsApi;
  readonly #clients: ClientsApi;
  readonly projection: Projection<Usage, Change>;
  /** Not stored yet: a row for each poll would double its time. It follows commits: of a poll that is rolled back, nothing is here. */
  #unsaved: Unsaved = new Map();
  readonly unsaved: Projection<Unsaved, UnsavedChange>;
  /** clients of which a node has not been told, by node */
  readonly #untold = new Map<number, Set<number>>();

  constructor(needs: { db: Database; tables: SyncTables; inbounds: InboundsApi; clients: ClientsApi }) {
    this.#db = needs.db;
    this.#inbounds = needs.inbounds;
    this.#clients = needs.clients;
    this.projection = needs.db.projection<Usage, Change>({
      load: async () => {
        const state: Usage = new Map();
        for (const row of (await needs.tables.usage.findAll({ raw: true })) as unknown as MachineUsageRow[])
          add(state, row);
        for (const row of this.#unsaved.values()) add(state, row);
        return state;
      },
      apply: (state, { added = [], cleared = [], moved }) => {
        if (moved) moveIn(state, moved);
        for (const id of cleared) state.delete(id);
        for (const row of added) add(state, row);
      },
    });
    this.unsaved = needs.db.projection<Unsaved, UnsavedChange>({
      load: async () => (this.#unsaved = Object.assign(new Map(), { isComparedApart: true })),
      apply: (state, { added = [], stored = [], cleared = [] }) => {
        for (const row of added) put(state, row, sum);
        for (const row of stored) put(state, row, (known, some) => Math.max(0, known - some));
        const gone = new Set(cleared);
        if (gone.size > 0) for (const [key, { clientId }] of state) if (gone.has(clientId)) state.delete(key);
      },
    });
  }

  /** Takes part in the write that counts a poll. */
  counted(usage: readonly ClientUsage[], tx: Tx): void {
    const added: MachineUsageRow[] = [];
    for (const { clientId, inboundId, up, down } of usage) {
      if (!this.#isOnNode(clientId)) continue;
      const nodeId = this.#inbounds.get(inboundId)?.nodeId ?? HERE;
      added.push({ clientId, nodeId, up, down });
    }
    if (added.length === 0) return;
    tx.apply(this.projection, { added });
    tx.apply(this.unsaved, { added });
    for (const { clientId, nodeId } of added) this.#mayTell(clientId, nodeId);
  }

  #mayTell(clientId: number, ...more: readonly number[]): void {
    const { inboundIds = [], elsewhereUp = 0, elsewhereDown = 0 } = this.#clients.byId(clientId) ?? {};
    const machines = [...(this.projection.state.get(clientId)?.keys() ?? []), ...more];
    const isUsedAbove = elsewhereUp + elsewhereDown > 0;
    for (const inboundId of inboundIds) {
      const nodeId = this.#inbounds.get(inboundId)?.nodeId ?? HERE;
      // Where it was on no other machine, nothing is elsewhere, unless a panel above this one says so.
      if (nodeId !== HERE && (isUsedAbove || machines.some((machine) => machine !== nodeId)))
        this.giveBack(nodeId, [clientId]);
    }
  }

  /** What clients used on a node before they were adopted. In the transaction that adopts them. */
  async adopted(added: readonly MachineUsageRow[], tx: Tx): Promise<void> {
    if (added.length === 0) return;
    tx.apply(this.projection, { added });
    await addTo(tx, added);
    for (const { clientId, nodeId } of added) this.#mayTell(clientId, nodeId);
  }

  /** The panel of a node that is gone is another node now. Call `save` before. */
  async moved(tx: Tx, from: number, to: number): Promise<void> {
    await tx.run('DELETE FROM node_sync_usage WHERE node_id = :to', { to });
    await tx.run('UPDATE node_sync_usage SET node_id = :to WHERE node_id = :from', { from, to });
    tx.apply(this.projection, { moved: { from, to } });
  }

  of(clientId: number, nodeId: number): Bytes {
    return this.projection.state.get(clientId)?.get(nodeId) ?? { up: 0, down: 0 };
  }

  #isOnNode(clientId: number): boolean {
    return this.#areOnNode(this.#clients.byId(clientId)?.inboundIds ?? []);
  }
  #areOnNode(inboundIds: readonly number[]): boolean {
    return inboundIds.some((id) => (this.#inbounds.get(id)?.nodeId ?? null) !== null);
  }

  /** What a client used here before it came to a node is elsewhere for the node. */
  async #cameToNodes(changes: readonly ClientChange[], tx: Tx): Promise<void> {
    const came: MachineUsageRow[] = [];
    for (const { before, after } of changes) {
      if (!before || !after || after.up + after.down === 0 || after.inboundIds === before.inboundIds)
        continue;
      if (this.projection.state.has(after.id) || this.#areOnNode(before.inboundIds)) continue;
      const { id: clientId, up, down } = after;
      if (this.#areOnNode(after.inboundIds)) came.push({ clientId, nodeId: HERE, up, down });
    }
    if (came.length === 0) return;
    tx.apply(this.projection, { added: came });
    for (let from = 0; from < came.length; from += AT_ONCE) await addTo(tx, came.slice(from, from + AT_ONCE));
    const ids = new Set(came.map(({ clientId }) => clientId));
    for (const { after } of changes)
      for (const inboundId of after && ids.has(after.id) ? after.inboundIds : []) {
        const nodeId = this.#inbounds.get(inboundId)?.nodeId ?? HERE;
        if (nodeId !== HERE && after) this.giveBack(nodeId, [after.id]);
      }
  }

  /** A new period begins at zero, on all machines. */
  async clientsSaved(changes: readonly ClientChange[], tx: Tx): Promise<void> {
    await this.#cameToNodes(changes, tx);
    const cleared = changes.flatMap(({ before, after, setsUsage = false }) => {
      if (!before || !this.projection.state.has(before.id)) return [];
      const isReset = after?.up === 0 && after.down === 0 && (setsUsage || before.up + before.down > 0);
      return isReset || !after ? [before.id] : [];
    });
    if (cleared.length === 0) return;
    for (let from = 0; from < cleared.length; from += AT_ONCE)
      await tx.run('DELETE FROM node_sync_usage WHERE client_id IN (:ids)', {
        ids: cleared.slice(from, from + AT_ONCE),
      });
    tx.apply(this.projection, { cleared });
    tx.apply(this.unsaved, { cleared });
  }

  /** What the client used on other machines than this node, with those that a panel above this one knows. */
  elsewhere(clientId: number, nodeId: number): Bytes {
    const { elsewhereUp = 0, elsewhereDown = 0 } = this.#clients.byId(clientId) ?? {};
    const all = { up: elsewhereUp, down: elsewhereDown };
    for (const [machine, { up, down }] of this.projection.state.get(clientId) ?? []) {
      if (machine === nodeId) continue;
      all.up = sum(all.up, up);
      all.down = sum(all.down, down);
    }
    return all;
  }

  /** Clients whose usage has changed since the last call, by the nodes that they are on. */
  takeUntold(): Map<number, readonly number[]> {
    const taken = new Map([...this.#untold].map(([nodeId, ids]) => [nodeId, [...ids]]));
    this.#untold.clear();
    return taken;
  }

  /** A panel above this one told what these clients used on other machines. */
  toldAbove(clientIds: readonly number[]): void {
    for (const id of clientIds) this.#mayTell(id);
  }

  /** The node gets them another time. */
  giveBack(nodeId: number, clientIds: readonly number[]): void {
    const known = this.#untold.get(nodeId) ?? new Set();
    this.#untold.set(nodeId, known);
    for (const id of clientIds) known.add(id);
  }

  /** Stores what polls have added. A crash before costs a node the knowledge of half a minute, and no bytes. */
  async save(): Promise<void> {
    for (let left = this.#unsaved.size; left > 0; left -= AT_ONCE)
      await this.#db.write(async (tx) => {
        const stored = [...this.#unsaved.values()].slice(0, AT_ONCE);
        if (stored.length === 0) return;
        await addTo(tx, stored);
        tx.apply(this.unsaved, { stored });
      });
  }
}

function put(state: Unsaved, row: MachineUsageRow, join: (known: number, some: number) => number): void {
  const key = `${row.clientId}.${row.nodeId}`;
  const known = state.get(key) ?? { up: 0, down: 0 };
  const [up, down] = [join(known.up, row.up), join(known.down, row.down)];
  if (up + down === 0) state.delete(key);
  else state.set(key, { ...row, up, down });
}

async function addTo(tx: Tx, added: readonly MachineUsageRow[]): Promise<void> {
  const { rows, onConflict, incoming, least } = tx.sql;
  const columns = { client_id: 'integer', node_id: 'integer', up: 'integer', down: 'integer' } as const;
  const add = (name: string) =>
    `${name} = ${least}(node_sync_usage.${name} + ${incoming(name)}, ${MOST_BYTES})`;
  await tx.run(
    `INSERT INTO node_sync_usage (client_id, node_id, up, down)
     SELECT j.client_id, j.node_id, j.up, j.down FROM ${rows(columns)} AS j WHERE true
     ${onConflict('client_id, node_id', `${add('up')}, ${add('down')}`)}`,
    { rows: JSON.stringify(added.map(({ clientId, nodeId, up, down }) => [clientId, nodeId, up, down])) },
  );
}

function moveIn(state: Usage, { from, to }: { readonly from: number; readonly to: number }): void {
  for (const machines of state.values()) {
    const bytes = machines.get(from);
    machines.delete(to);
    if (bytes) machines.set(to, bytes);
    machines.delete(from);
  }
}

function add(state: Usage, { clientId, nodeId, up, down }: MachineUsageRow): void {
  const own = state.get(clientId) ?? new Map<number, Bytes>();
  const known = own.get(nodeId);
  own.set(nodeId, { up: sum(up, known?.up ?? 0), down: sum(down, known?.down ?? 0) });
  state.set(clientId, own);
}
