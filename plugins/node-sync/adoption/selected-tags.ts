// What this panel makes for a node in the mode `selected` is selected.
import type { Principal, Tx } from '../../../kernel/index.js';
import type { InboundChange } from '../../inbounds/contract.js';
import type { NodesApi } from '../../nodes/contract.js';

/** In the transaction that saves inbounds. An inbound that is deleted here leaves its tag in the list: a node that is away has it still. */
export async function selectNew(
  nodes: NodesApi,
  changes: readonly InboundChange[],
  tx: Tx,
  who: Principal,
): Promise<void> {
  for (const { before, after } of changes) {
    const nodeId = after?.nodeId ?? null;
    if (!after || nodeId === null || (before?.nodeId === nodeId && before.tag === after.tag)) continue;
    const node = nodes.get(nodeId);
    if (node?.inboundSyncMode !== 'selected') continue;
    const own = after.tag.startsWith(`n${nodeId}-`) ? after.tag.slice(`n${nodeId}-`.length) : after.tag;
    await nodes.selectTags(
      tx,
      nodeId,
      (tags) => (tags.includes(after.tag) || tags.includes(own) ? tags : [...tags, after.tag]),
      who,
    );
  }
}
