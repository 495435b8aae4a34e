// What this panel makes for a node in the mode `selected` is selected.
import type { Database, Principal } from '../../../kernel/index.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import type { NodesApi } from '../../nodes/contract.js';
import type { AdoptionStore } from './adoption-store.js';

export class SelectedTags {
  readonly #db: Database;
  readonly #nodes: NodesApi;
  readonly #inbounds: InboundsApi;
  readonly #adoptions: AdoptionStore;
  readonly #self: Principal;

  constructor(needs: {
    db: Database;
    nodes: NodesApi;
    inbounds: InboundsApi;
    adoptions: AdoptionStore;
    self: Principal;
  }) {
    this.#db = needs.db;
    this.#nodes = needs.nodes;
    this.#inbounds = needs.inbounds;
    this.#adoptions = needs.adoptions;
    this.#self = needs.self;
  }

  /** Adds the tags of inbounds of these nodes that are missing. One that is deleted here leaves its tag: a node that is away has it still. */
  async follow(nodeIds: readonly number[]): Promise<void> {
    for (const id of nodeIds) {
      const node = this.#nodes.get(id);
      if (node?.inboundSyncMode !== 'selected') continue;
      const missing = this.#inbounds.list().flatMap((inbound) => {
        if (inbound.nodeId !== id) return [];
        // An adopted one that an admin has deselected is given back, unless its tag was changed here.
        const isAsAdopted = this.#adoptions.of(inbound.id)?.tag === inbound.tag;
        return isAsAdopted || node.inboundTags.includes(inbound.tag) ? [] : [inbound.tag];
      });
      if (missing.length > 0)
        await this.#db.write((tx) =>
          this.#nodes.selectTags(tx, id, (tags) => [...new Set([...tags, ...missing])], this.#self),
        );
    }
  }
}
