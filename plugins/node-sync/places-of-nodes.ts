// Nodes as places of inbounds: their addresses are in links, which are composed again when they change.
import type { InboundPlace, InboundPlacesApi, InboundsApi } from '../inbounds/contract.js';
import type { AdoptionStore } from './adoption/adoption-store.js';
import type { NodeChange, NodesApi } from '../nodes/contract.js';
import type { WayOutput, WaySource } from '../subscription/contract.js';

export class PlacesOfNodes implements InboundPlacesApi, WaySource {
  readonly #nodes: NodesApi;
  readonly #inbounds: InboundsApi;
  #output: WayOutput | undefined;
  /** Nodes can be read once their plugin has started. */
  #isReady = false;

  /** as links were composed last, by node */
  readonly #guids = new Map<number, string>();
  readonly #adoptions: AdoptionStore;

  constructor({
    nodes,
    inbounds,
    adoptions,
  }: { nodes: NodesApi; inbounds: InboundsApi; adoptions: AdoptionStore }) {
    this.#adoptions = adoptions;
    this.#nodes = nodes;
    this.#inbounds = inbounds;
  }

  readonly start = (output: WayOutput): void => void (this.#output = output);

  readonly place = (nodeId: number): InboundPlace | undefined => {
    const node = this.#isReady ? this.#nodes.get(nodeId) : undefined;
    return node && { guid: node.guid, name: node.name, address: node.address };
  };

  /** A machine below a node is reached where the node reaches it. */
  readonly below = (nodeId: number, guid: string): InboundPlace | undefined => {
    const known = this.#adoptions.below(nodeId, guid);
    return known && { guid, name: '', address: known.originAddress };
  };

  /** Subscriptions that started earlier were composed without nodes. */
  async ready(): Promise<void> {
    this.#isReady = true;
    this.#noteGuids();
    await this.#recompose(() => true);
  }

  async nodesSaved(changes: readonly NodeChange[]): Promise<void> {
    const moved = new Set(
      changes.flatMap(({ before, after }) =>
        before && after && before.address !== after.address ? [after.id] : [],
      ),
    );
    if (moved.size > 0) await this.#recompose((nodeId) => moved.has(nodeId));
  }

  /** The guid of a panel is learnt with its first answer, or another one is accepted: hosts go by it. */
  async guidsLearnt(): Promise<void> {
    if (!this.#isReady) return;
    const learnt = this.#noteGuids();
    if (learnt.size > 0) await this.#recompose((nodeId) => learnt.has(nodeId));
  }
  #noteGuids(): ReadonlySet<number> {
    const learnt = new Set<number>();
    for (const { id, guid } of this.#nodes.list()) {
      if ((this.#guids.get(id) ?? '') !== guid) learnt.add(id);
      this.#guids.set(id, guid);
    }
    return learnt;
  }

  /** A machine below this node has another address. */
  moved(nodeId: number): Promise<void> {
    return this.#recompose((id) => id === nodeId);
  }

  async #recompose(isConcerned: (nodeId: number) => boolean): Promise<void> {
    const ids = this.#inbounds
      .list()
      .filter(({ nodeId }) => nodeId !== null && isConcerned(nodeId))
      .map(({ id }) => id);
    if (ids.length > 0) await this.#output?.recompose(ids);
  }
}
