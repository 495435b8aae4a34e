// The nodes in the order of a tree: each one before those below it.
import type { NodesListReply } from '../../../../sdk/index.js';

export type PanelNode = NodesListReply[number];

export interface Branch {
  readonly node: PanelNode;
  /** 0 for nodes of this panel */
  readonly depth: number;
  /** stays the same from one list to the next */
  readonly key: string;
}

/** A panel that is reached on several ways is below each of them once; what leads back is left out. */
export function treeOf(nodes: readonly PanelNode[]): Branch[] {
  const below = new Map<string, PanelNode[]>();
  for (const node of nodes)
    if (node.transitive) {
      const own = below.get(node.parentGuid);
      if (own) own.push(node);
      else below.set(node.parentGuid, [node]);
    }
  const branches: Branch[] = [];
  const placed = new Set<PanelNode>();
  const place = (node: PanelNode, depth: number, key: string): void => {
    placed.add(node);
    branches.push({ node, depth, key });
    if (node.guid === '') return;
    for (const child of below.get(node.guid) ?? [])
      if (!placed.has(child)) place(child, depth + 1, `${key}/${child.guid}`);
  };
  for (const node of nodes) if (!node.transitive) place(node, 0, String(node.id));
  // A node whose panel above it is not in the list is shown all the same.
  for (const node of nodes) if (!placed.has(node)) place(node, 1, `?/${node.guid}`);
  return branches;
}
