// What clients used on nodes: absolute totals by epoch, which the plugin `traffic` counts like those of the core.
import {
  type Database,
  type Log,
  messageOf,
  type Projection,
  TimeSlice,
  type Tx,
} from '../../kernel/index.js';
import { NodeCallError, type NodeEntry, type NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { CounterReading, CounterSource } from '../traffic/contract.js';
import type { NewsOfClients } from './news-of-clients.js';
import type { OnceThere } from './once-there.js';
import type { OtherProtocols } from './other-protocols.js';
import type { PresenceOfNodes } from './presence-of-nodes.js';
import { checked, UsageReply } from './replies.js';
import type { PositionRow, SyncTables } from './tables.js';

/** A poll waits six seconds for all sources; nodes that do not answer in time are left out. */
const CALL_MS = 4_000;
const ALL_MS = 5_000;
const AT_ONCE = 32;
const USAGE = 'panel/api/x/node/usage';
const MOST_BYTES = 8 * 1024 * 1024;
/** A node keeps sixteen. */
const MOST_PAST = 64;
/** Acknowledgements of one node in a minute, and nodes that are told at once. */
const MOST_ACKS = 16;
const ACKS_AT_ONCE = 8;

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
  readonly #onceThere: OnceThere;
  readonly #presence: PresenceOfNodes;
  readonly #news: NewsOfClients;
  readonly #protocols: OtherProtocols;
  readonly projection: Projection<Positions, readonly PositionRow[]>;
  /** of the reading that a poll is counting */
  #read: readonly PositionRow[] = [];
  /** which node is asked first */
  #first = 0;
  /** epochs that are counted and over, by node */
  readonly #over = new Map<number, { readonly epoch: string; readonly seq: number }[]>();
  readonly #problems = new Map<number, string>();

  constructor(needs: {
    db: Database;
    tables: SyncTables;
    nodes: NodesApi;
    identity: PanelIdentityApi;
    log: Log;
    onceThere: OnceThere;
    presence: PresenceOfNodes;
    news: NewsOfClients;
    protocols: OtherProtocols;
  }) {
    this.#nodes = needs.nodes;
    this.#guid = () => needs.identity.guid;
    this.#log = needs.log;
    this.#onceThere = needs.onceThere;
    this.#presence = needs.presence;
    this.#news = needs.news;
    this.#protocols = needs.protocols;
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
    const signal = AbortSignal.timeout(ALL_MS);
    // Each begins with another one, so that slow ones do not keep the others from their turn for ever.
    const next = [...online.slice(this.#first % (online.length || 1)), ...online]
      .slice(0, online.length)
      .values();
    this.#first++;
    this.#read = [];
    const work = async (): Promise<void> => {
      for (const node of next) {
        // One after the other, and so their answers come.
        await new TimeSlice().next();
        if (signal.aborted) return;
        try {
          // Of a node that speaks another protocol, its plugin counts the usage.
          const read = await this.#protocols.call(
            node,
            () => this.#ask(node, signal),
            async () => undefined,
          );
          if (signal.aborted) return;
          readings.push(...(read?.readings ?? []));
          if (read) positions.push(read.position);
          this.#problems.delete(node.id);
        } catch (error) {
          // Nothing was sent to it yet, so there is no usage either.
          if (error instanceof NodeCallError && error.remoteCode === 'NODE_AGENT_UNKNOWN_CENTRAL') continue;
          const problem = messageOf(error);
          if (problem !== this.#problems.get(node.id))
            this.#log.warn('the usage of a node cannot be read yet', { node: node.name, problem });
          this.#problems.set(node.id, problem);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, online.length) }, work));
    this.#read = positions;
    return readings;
  };

  problem(nodeId: number): string {
    return this.#problems.get(nodeId) ?? '';
  }

  async #ask(
    node: NodeEntry,
    signal: AbortSignal,
  ): Promise<{ readings: CounterReading[]; position: PositionRow }> {
    const { id, guid } = node;
    const known = this.projection.state.get(id);
    const before = known?.guid === guid ? known : { epoch: '', seq: 0, past: '[]' };
    const { epoch, seq } = before;
    const presence = this.#presence.position(node);
    const query = new URLSearchParams({ central: this.#guid(), epoch, after: String(seq), presence });
    const { obj } = await this.#nodes.call(id, `${USAGE}?${query}`, {
      timeoutMs: CALL_MS,
      maxBytes: MOST_BYTES,
      signal,
    });
    const {
      guid: answered,
      epochs,
      presence: told,
    } = await checked<{ guid: string; epochs: ToldEpoch[]; presence?: unknown }>(UsageReply, obj);
    if (answered !== guid) throw new Error('another panel answers there');
    await this.#presence.take(node, told);
    void this.#news.run(node);
    this.#over.set(
      id,
      epochs.filter(({ isCurrent, more }) => !isCurrent && !more),
    );
    // Told until it is acknowledged, but counted once: baselines are those of one epoch.
    const past = new Set(JSON.parse(before.past) as string[]);
    const usable: ToldEpoch[] = [];
    for (const one of epochs) {
      if (past.has(one.epoch) || usable.some((other) => other.epoch === one.epoch)) continue;
      usable.push(one);
      // Others come with the next poll: a stream has one order.
      if (one.more) break;
    }
    const last = usable.at(-1) ?? before;
    for (const over of [epoch, ...usable.map((one) => one.epoch)])
      if (over !== '' && over !== last.epoch) past.add(over);
    const onNode = this.#onceThere.of(id);
    return {
      readings: usable.map(({ epoch: of, users }) => ({
        stream: guid,
        epoch: of,
        users: users.filter(({ clientId, inboundId }) => onNode(clientId, inboundId)),
        neverFalls: true,
      })),
      position: {
        nodeId: id,
        guid,
        epoch: last.epoch,
        seq: last.seq,
        past: JSON.stringify([...past].slice(-MOST_PAST)),
      },
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
    const columns = {
      node_id: 'integer',
      guid: 'text',
      epoch: 'text',
      seq: 'integer',
      past: 'text',
    } as const;
    const set = ['guid', 'epoch', 'seq', 'past'].map((name) => `${name} = ${incoming(name)}`).join(', ');
    await tx.run(
      `INSERT INTO node_sync_positions (node_id, guid, epoch, seq, past)
       SELECT j.node_id, j.guid, j.epoch, j.seq, j.past FROM ${from(columns)} AS j WHERE true ${onConflict('node_id', set)}`,
      {
        rows: JSON.stringify(
          rows.map(({ nodeId, guid, epoch, seq, past }) => [nodeId, guid, epoch, seq, past]),
        ),
      },
    );
    tx.apply(this.projection, rows);
  }

  /** Tells nodes which epochs are over and counted, so that they forget them. A node that fails is told with the next run. */
  async acknowledge(signal: AbortSignal): Promise<void> {
    const next = [...this.#over].values();
    this.#over.clear();
    const work = async (): Promise<void> => {
      for (const [nodeId, epochs] of next)
        if (!signal.aborted) await this.#acknowledge(nodeId, epochs, signal).catch(() => undefined);
    };
    await Promise.all(Array.from({ length: ACKS_AT_ONCE }, work));
  }

  async #acknowledge(
    nodeId: number,
    epochs: readonly { readonly epoch: string; readonly seq: number }[],
    signal: AbortSignal,
  ): Promise<void> {
    const position = this.projection.state.get(nodeId);
    for (const { epoch, seq } of epochs.slice(0, MOST_ACKS)) {
      // It is counted when the position has passed it.
      if (!position || position.epoch === epoch) continue;
      const json = { central: this.#guid(), epoch, seq };
      await this.#nodes.call(nodeId, `${USAGE}/ack`, { method: 'POST', json, signal });
    }
  }
}
