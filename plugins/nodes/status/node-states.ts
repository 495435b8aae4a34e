// The states of all nodes: in memory, written when a status changes and once a minute.
import type { Database, Log, Projection, Tx } from '../../../kernel/index.js';
import type { NodeFlip } from '../contract.js';
import type { NodeRow } from '../model.js';
import type { NodeTables } from '../tables.js';
import { afterBeat, type Beat, isTurn, NO_STATE, type NodeState, type StoredState } from './node-state.js';

const storedOf = ({ failures: _, ...state }: NodeState): StoredState => state;

type Written = readonly (readonly [id: number, state: StoredState])[];

export class NodeStates {
  readonly #db: Database;
  readonly #rows: NodeTables['states'];
  readonly #log: Log;
  readonly #states = new Map<number, NodeState>();
  readonly #unwritten = new Set<number>();
  /** Follows what the panel that asks the nodes has written, where there are several. */
  readonly #written: Projection<object, Written>;
  readonly #own = new WeakSet<Written>();

  constructor({ db, tables, log }: { db: Database; tables: NodeTables; log: Log }) {
    this.#written = db.projection<object, Written>({
      load: async () => ({}),
      apply: (_, written) => this.#follow(written),
    });
    this.#db = db;
    this.#rows = tables.states;
    this.#log = log;
  }

  async load(): Promise<void> {
    for (const row of await this.#rows.findAll()) {
      const { nodeId, state } = row.get();
      this.#states.set(nodeId, { ...NO_STATE, ...state });
    }
  }

  of(id: number): NodeState {
    return this.#states.get(id) ?? NO_STATE;
  }

  /** Takes a heartbeat into the state; returns the change of status, if it is one. */
  heard(
    { id, name }: Pick<NodeRow, 'id' | 'name'>,
    beat: Beat,
    now: number,
    threshold: number,
  ): { flip: NodeFlip | undefined; isTurn: boolean } {
    const before = this.of(id);
    const after = afterBeat(before, beat, now, threshold);
    this.#states.set(id, after);
    this.#unwritten.add(id);
    const flip =
      before.status === after.status
        ? undefined
        : { id, name, from: before.status, to: after.status, error: after.lastError };
    return { flip, isTurn: isTurn(before, after) };
  }

  /** The panel that answers is the right one from now on: an admin says so. */
  acceptGuid(id: number): void {
    const state = this.of(id);
    this.#states.set(id, { ...state, guid: state.answeredGuid });
    this.#unwritten.add(id);
  }

  #follow(written: Written): void {
    if (this.#own.has(written)) return;
    for (const [id, state] of written) this.#states.set(id, { ...NO_STATE, ...state });
  }

  /** Writes what has changed. What fails is written by the next call. */
  async flush(exists: (id: number) => boolean): Promise<void> {
    const ids = [...this.#unwritten].filter(exists);
    this.#unwritten.clear();
    if (ids.length === 0) return;
    const written: Written = ids.map((id) => [id, storedOf(this.of(id))] as const);
    this.#own.add(written);
    const rows = JSON.stringify(written.map(([id, state]) => [id, JSON.stringify(state)]));
    try {
      await this.#db.write(async (tx) => {
        await tx.run(
          `INSERT INTO node_states (node_id, state)
           SELECT j.id, j.state FROM ${tx.sql.rows({ id: 'integer', state: 'text' })} AS j WHERE 1 = 1
           ${tx.sql.onConflict('node_id', `state = ${tx.sql.incoming('state')}`)}`,
          { rows },
        );
        tx.apply(this.#written, written);
      });
    } catch (error) {
      for (const id of ids) this.#unwritten.add(id);
      this.#log.warn('the states of nodes are not written; trying again within a minute', { error });
    }
  }

  async delete(tx: Tx, nodeId: number): Promise<void> {
    await this.#rows.destroy({ where: { nodeId }, transaction: tx.t });
  }
  /** After the commit of `delete`. */
  forget(id: number): void {
    this.#states.delete(id);
    this.#unwritten.delete(id);
  }
}
