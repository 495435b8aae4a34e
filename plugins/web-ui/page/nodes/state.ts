// What a node is doing, in one word, and why it is not well.
import type { NodeSyncListReply } from '../../../../sdk/index.js';
import type { MessageKey } from '../language/message-key.js';
import type { PanelNode } from './tree.js';

export type NodeSync = NodeSyncListReply[number];

export interface NodeState {
  readonly level: 'good' | 'warn' | 'bad' | 'off';
  readonly text: MessageKey;
  /** in the words of the panel */
  readonly reasons: readonly string[];
}

export function stateOf(node: PanelNode, sync: NodeSync | undefined): NodeState {
  if (!node.enable) return { level: 'off', text: 'nodes.state.off', reasons: [] };
  const problems = node.problems.map(({ message }) => message);
  const told = [...problems, node.lastError, node.engineError, sync?.problem ?? ''];
  const reasons = [...new Set(told.filter((reason) => reason !== ''))];
  if (node.status === 'offline') return { level: 'bad', text: 'nodes.state.lost', reasons };
  if (node.status === 'unknown') return { level: 'warn', text: 'nodes.state.unknown', reasons };
  const isCoreWell = node.engineState === '' || node.engineState === 'running';
  if (!isCoreWell) return { level: 'bad', text: 'nodes.state.core', reasons };
  const isWell = reasons.length === 0 && (sync?.refused ?? 0) === 0;
  return isWell
    ? { level: 'good', text: 'nodes.state.online', reasons }
    : { level: 'warn', text: 'nodes.state.trouble', reasons };
}
