// What clients used on nodes: absolute totals by epoch, which the plugin `traffic` counts like those of the core.
import { type Log, messageOf, type Projection, type Database, type Tx } from '../../kernel/index.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { NodesApi, NodeEntry } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { CounterReading, CounterSource } from '../traffic/contract.js';
import type { OtherProtocols } from './other-protocols.js';
import { checked, UsageReply } from './replies.js';
import type { PositionRow, SyncTables } from './tables.js';

/** A poll waits six seconds for all sources. */
const CALL_MS = 4_000;
const AT_ONCE = 32;
const USAGE = 'panel/api/x/node/usage';
const MOST_BYTES = 8 * 1024 * 1024;

interface ToldEpoch {
  readonly epoch: string;
  readonly seq: number;
  readonly isCurrent: boolean;
  readonly more: boolean;
  readonly users: readonly {
    readonly clientId: number;
    readonly inboundId: number;
    readonly up: number;
    readonly down: number;
  }[];
}
type Positions = Map<number, PositionRow>;

export class UsageOfNodes implements CounterSource {
  readonly name = 'nodes';
  readonly #nodes: NodesApi;
  readonly #guid: () => string;
  readonly #log: Log;
  readonly #protocols: OtherProtocols;
  /** Whether an inbound runs on the node: it tells nothing of others. */
  readonly #runsOn: (inboundId: number, nodeId: number) => boolean;
  readonly projection: Projection<Positions, readonly PositionRow[]>;
  /** of the reading that a poll is counting */
  #read: readonly PositionRow[] = [];
  /** epochs that are counted and over, by node */
  readonly #over = new Map<number, { readonly epoch: string; readonly seq: number }[]>();
  readonly #problems = new Map<number, string>();

  constructor(needs: {
    db: Database;
    tables: SyncTables;
    nodes: NodesApi;
    identity: PanelIdentityApi;
    log: Log;
    protocols: OtherProtocols;
    inbounds: Pick<InboundsApi, 'get'>;
  }) {
    this.#nodes = needs.nodes;
    this.#guid = () => needs.identity.guid;
    this.#log = needs.log;
    this.#protocols = needs.protocols;
    this.#runsOn = (inboundId, nodeId) => needs.inbounds.get(inboundId)?.nodeId === nodeId;
    this.projection = needs.db.projection<Positions, readonly PositionRow[]>({
      load: async () =>
        new Map(
          ((await needs.tables.positions.findAll({ raw: true })) as unknown as PositionRow[]).map((row) => [
            row.nodeId,
            row,
          ]),
        ),
      apply: (state, rows) => {
        for (const row of rows) state.set(row.nodeId, row);
      },
    });
  }

  readonly read = async (): Promise<readonly CounterReading[]> => {
    const online = this.#nodes
      .list()
      .filter(({ enable, status, isSure, guid }) => enable && status === 'online' && isSure && guid !== '');
    const readings: CounterReading[] = [];
    const positions: PositionRow[] = [];
    for (let from = 0; from < online.length; from += AT_ONCE)
      await Promise.all(
        online.slice(from, from + AT_ONCE).map(async (node) => {
          try {
            // Of a node that speaks another protocol, its plugin counts the usage.
            const read = await this.#protocols.call(
              node,
              () => this.#ask(node),
              async () => undefined,
            );
            readings.push(...(read?.readings ?? []));
            if (read) positions.push(read.position);
            this.#problems.delete(node.id);
          } catch (error) {
            const problem = messageOf(error);
            if (problem !== this.#problems.get(node.id))
              this.#log.warn('the usage of a node cannot be read yet', { node: node.name, problem });
            this.#problems.set(node.id, problem);
          }
        }),
      );
    this.#read = positions;
    return readings;
  };

  problem(nodeId: number): string {
    return this.#problems.get(nodeId) ?? '';
  }

  async #ask({ id, guid }: NodeEntry): Promise<{ readings: CounterReading[]; position: PositionRow }> {
    const known = this.projection.state.get(id);
    const { epoch, seq } = known?.guid === guid ? known : { epoch: '', seq: 0 };
    const query = new URLSearchParams({ central: this.#guid(), epoch, after: String(seq) });
    const { obj } = await this.#nodes.call(id, `${USAGE}?${query}`, {
      timeoutMs: CALL_MS,
      maxBytes: MOST_BYTES,
    });
    const { epochs } = checked<{ epochs: ToldEpoch[] }>(UsageReply, obj);
    this.#over.set(
      id,
      epochs.filter(({ isCurrent, more }) => !isCurrent && !more),
    );
    // Others come with the next poll: a stream has one order.
    const usable = epochs.slice(0, 1 + epochs.findIndex(({ more }) => more) || epochs.length);
    const last = usable.at(-1);
    return {
      readings: usable.map(({ epoch: of, users }) => ({
        stream: guid,
        epoch: of,
        users: users.filter(({ inboundId }) => this.#runsOn(inboundId, id)),
      })),
      position: { nodeId: id, guid, epoch: last?.epoch ?? epoch, seq: last?.seq ?? seq },
    };
  }

  /** In the transaction that counts the readings: what was counted is not read again. */
  async counted(tx: Tx): Promise<void> {
    const rows = this.#read.filter(({ nodeId, epoch, seq, guid }) => {
      const known = this.projection.state.get(nodeId);
      return known?.epoch !== epoch || known.seq !== seq || known.guid !== guid;
    });
    if (rows.length === 0) return;
    const { rows: from, onConflict, incoming } = tx.sql;
    const columns = { node_id: 'integer', guid: 'text', epoch: 'text', seq: 'integer' } as const;
    const set = ['guid', 'epoch', 'seq'].map((name) => `${name} = ${incoming(name)}`).join(', ');
    await tx.run(
      `INSERT INTO node_sync_positions (node_id, guid, epoch, seq)
       SELECT j.node_id, j.guid, j.epoch, j.seq FROM ${from(columns)} AS j WHERE true ${onConflict('node_id', set)}`,
      { rows: JSON.stringify(rows.map(({ nodeId, guid, epoch, seq }) => [nodeId, guid, epoch, seq])) },
    );
    tx.apply(this.projection, rows);
  }

  /** Tells nodes which epochs are over and counted, so that they forget them. */
  async acknowledge(): Promise<void> {
    for (const [nodeId, epochs] of this.#over) {
      const position = this.projection.state.get(nodeId);
      for (const { epoch, seq } of epochs) {
        // It is counted when the position has passed it.
        if (!position || position.epoch === epoch) continue;
        await this.#nodes
          .call(nodeId, `${USAGE}/ack`, { method: 'POST', json: { central: this.#guid(), epoch, seq } })
          .catch(() => undefined);
      }
      this.#over.delete(nodeId);
    }
  }
}
