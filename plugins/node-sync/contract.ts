// Keeps nodes as this panel wants them, and counts what their clients use.
import { event, extensionPoint, token } from '../../kernel/index.js';
import type { NodeEntry } from '../nodes/contract.js';
import type { SentChange } from './record-values.js';

/** The wished state of these nodes has changed: something waits to be sent. */
export const desiredStateChanged = event<{ readonly nodeIds: readonly number[] }>(
  'node-sync/desiredStateChanged',
);

export type RecordChange = SentChange;
/** An inbound or a client of a node, by its id here. */
export interface RecordKey {
  readonly kind: 'inbound' | 'client';
  readonly id: number;
}
/** What a node said of a change. */
export interface RecordResult extends RecordKey {
  readonly version: number;
  /** the node's words; blank when it is in force */
  readonly refused: string;
}
/** What a node should have. */
export interface DesiredRecord extends RecordKey {
  readonly version: number;
  /** what the node said of it; blank when it took it, or has not answered */
  readonly refused: string;
}

/** Another way to keep nodes, for panels that lack the endpoints of `node-agent`. Its plugin counts the usage of such nodes by a source of its own (`traffic/CounterSources`). */
export interface NodeProtocol {
  readonly name: string;
  /** Whether the node speaks it. Called once while the node is online. Rejects with a NodeCallError while that cannot be known. */
  speaks(node: NodeEntry): Promise<boolean>;
  /** Brings these records about, in their order. One result for each that the node answered for; others wait. Rejects with a NodeCallError where it answered for none. */
  apply(
    node: NodeEntry,
    changes: readonly RecordChange[],
    signal: AbortSignal,
  ): Promise<readonly RecordResult[]>;
  /** Returns records that the node does not have as desired: they are sent again, or deleted there if they are not in `desired`. Called while nothing waits to be sent. */
  compare(node: NodeEntry, desired: readonly DesiredRecord[]): Promise<readonly RecordKey[]>;
  /** Tells the node what these clients used everywhere. */
  report(node: NodeEntry, clientIds: readonly number[]): Promise<void>;
  /** Why the usage of the node is not read; blank when it is. From memory. */
  problem(nodeId: number): string;
}
/** Protocols of nodes. Asked in turn when a call of ours shows that a node lacks our endpoints. */
export const NodeProtocols = extensionPoint<NodeProtocol>(
  'node-sync',
  'NodeProtocols',
  (protocol, _, others) => {
    const missing = (['speaks', 'apply', 'compare', 'report', 'problem'] as const).find(
      (name) => typeof protocol[name] !== 'function',
    );
    if (missing) return `it needs a function ${missing}`;
    const other = others.find(({ value }) => value.name === protocol.name);
    return other && `the protocol ${protocol.name} already exists, in plugin ${other.plugin}`;
  },
);

export interface NodeRecordsApi {
  /** The name of the protocol that the node speaks; blank for that of `node-agent`, and while it is not known. From memory. */
  protocolOf(nodeId: number): string;
  /** Sends these records again, as they are now; those that are not desired are deleted there. */
  sendAgain(nodeId: number, records: readonly RecordKey[]): Promise<void>;
}
export const NodeRecords = token<NodeRecordsApi>('node-sync', 'NodeRecords');
