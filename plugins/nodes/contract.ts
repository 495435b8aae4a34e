// Nodes: other panels that this one manages.
import {
  after,
  during,
  event,
  extensionPoint,
  guard,
  type Principal,
  token,
  type Tx,
} from '../../kernel/index.js';
import type { NodeCallOptions as CallOptions } from './calls/node-caller.js';
import type { NodeReply } from './calls/reply.js';

export { NodeCallError, type NodeCallCode } from './calls/call-error.js';
export type { NodeReply } from './calls/reply.js';
export type NodeCallOptions = CallOptions;

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** What an admin sets of a node, without its token. */
export interface NodeFacts {
  readonly id: number;
  readonly name: string;
  readonly remark: string;
  readonly scheme: 'http' | 'https';
  /** host name, or an address without brackets */
  readonly address: string;
  readonly port: number;
  readonly basePath: string;
  readonly hasApiToken: boolean;
  readonly enable: boolean;
  readonly allowPrivateAddress: boolean;
  readonly inboundSyncMode: 'all' | 'selected';
  readonly inboundTags: readonly string[];
  readonly outboundTag: string;
  readonly tlsVerifyMode: 'verify' | 'skip' | 'pin' | 'mtls';
  readonly pinnedCertSha256: string;
}
/** `unknown`: no heartbeat has succeeded, and not enough have failed */
export type NodeStatus = 'unknown' | 'online' | 'offline';
/** A node as others need it. */
export interface NodeEntry extends NodeFacts {
  readonly status: NodeStatus;
  /** Of the panel there, learned from its heartbeats; blank until one succeeded. It stays when another panel answers. */
  readonly guid: string;
  /** Whether the panel there is the one it was, and neither this one nor that of another node. Without it, send no changes. */
  readonly isSure: boolean;
  /** Whether this panel is among the nodes below it. */
  readonly isLoop: boolean;
}

export interface NodesApi {
  /** All nodes, by id; disabled ones too. */
  list(): readonly NodeEntry[];
  get(id: number): NodeEntry | undefined;
  /** The node with this guid; undefined when several have it. */
  byGuid(guid: string): NodeEntry | undefined;
  /** Guids of the panels below a node, as it publishes them; without this panel and its own nodes. */
  below(id: number): readonly string[];
  /**
   * Calls the API of a node, `path` without a leading slash: authenticated, guarded and limited (10 s, 8 MiB by default).
   * Rejects with a NodeCallError, whose message is for display; also when the node is disabled or does not exist.
   */
  call(id: number, path: string, options?: NodeCallOptions): Promise<NodeReply>;
  /** Sets the tags of a node in the mode `selected`, inside a write. An unknown node has none. */
  selectTags(
    tx: Tx,
    id: number,
    tags: (before: readonly string[]) => readonly string[],
    who: Principal,
  ): Promise<void>;
}
export const Nodes = token<NodesApi>('nodes', 'Nodes');

/** Takes in the nodes of another panel. Do not call it inside a write. */
export interface NodeArrivalsApi {
  /** Stores a node, disabled: only one panel can manage it. `node` as `nodes/add` takes it. Resolves with its id. Rejects with NAME_TAKEN, TOO_MANY or KERNEL_INVALID. */
  add(node: unknown, who: Principal): Promise<number>;
  /** Throws KERNEL_INVALID where `add` would reject with it. */
  check(node: unknown): void;
}
export const NodeArrivals = token<NodeArrivalsApi>('nodes', 'NodeArrivals');

export interface NodeChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: NodeFacts | undefined;
  readonly after: NodeFacts | undefined;
}
interface Changed {
  readonly changes: readonly NodeChange[];
  readonly who: Principal;
}
/** Runs before a node is deleted, to refuse it. */
export const beforeNodeDelete = guard<{ readonly node: NodeFacts; readonly who: Principal }>(
  'nodes/beforeNodeDelete',
);
/** Runs in the transaction that adds, changes or deletes nodes. */
export const duringNodeSave = during<Changed>('nodes/duringNodeSave');
/** Runs after it, when `list` has the change. */
export const afterNodeSave = after<Changed>('nodes/afterNodeSave');

/** A change of status, by heartbeats or a probe. */
export interface NodeFlip {
  readonly id: number;
  readonly name: string;
  readonly from: NodeStatus;
  readonly to: NodeStatus;
  /** why it is offline; blank otherwise */
  readonly error: string;
}
/** Nodes that changed their status in one round of heartbeats. */
export const nodesFlipped = event<{ readonly at: number; readonly flips: readonly NodeFlip[] }>(
  'nodes/nodesFlipped',
);

/** A call that central panels of another kind make. */
export interface CentralRoute {
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
}
/** Routes that a central panel may call with a certificate, or with an API token of the kind `node`, beside our own. */
export const CentralRoutes = extensionPoint<CentralRoute>('nodes', 'CentralRoutes', ({ method, path }) =>
  ['GET', 'POST'].includes(method) && path.startsWith('/panel/api/')
    ? undefined
    : 'it must be a method and a path below /panel/api/',
);

/** Returns `obj` of `server/status` in our form; a panel of another kind has other names in it. */
export type StatusForm = (status: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
/** Forms of the status of panels. Each heartbeat goes through all of them. */
export const StatusForms = extensionPoint<StatusForm>('nodes', 'StatusForms', (form) =>
  typeof form === 'function' ? undefined : 'it must be a function',
);

/** What the plugin that synchronises nodes knows of one. */
export interface NodeFigures {
  /** changes wait to be sent */
  readonly configDirty: boolean;
  /** Unix ms since when; 0 when none wait */
  readonly configDirtyAt: number;
  readonly inboundCount: number;
  readonly clientCount: number;
  readonly activeCount: number;
  readonly onlineCount: number;
  readonly depletedCount: number;
  readonly disabledCount: number;
}
/** Knows these figures. Called for each node of a list: answer from memory. */
export interface NodeFigureSource {
  of(node: NodeEntry): Partial<NodeFigures>;
  /** Of a panel below a node. */
  below?(guid: string): Partial<NodeFigures>;
}
/** The source of figures, at most one. What it leaves out comes from the inbounds of this panel that have the `nodeId`. */
export const NodeFigureSources = extensionPoint<NodeFigureSource>(
  'nodes',
  'NodeFigureSources',
  (source, _, others) =>
    typeof source.of !== 'function'
      ? 'it needs the function of'
      : others[0] && `${others[0].plugin} is the source of figures already`,
);
