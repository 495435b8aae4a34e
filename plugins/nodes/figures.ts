// How many inbounds and clients a node has, by what this panel knows.
import type { PluginContext } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { Counts, KeptCounts } from './kept-counts.js';
import { type NodeEntry, type NodeFigures, type NodeFigureSource, NodeFigureSources } from './contract.js';

export const NO_FIGURES: NodeFigures = {
  configDirty: false,
  configDirtyAt: 0,
  inboundCount: 0,
  clientCount: 0,
  activeCount: 0,
  onlineCount: 0,
  depletedCount: 0,
  disabledCount: 0,
};
type MutableCounts = { -readonly [name in keyof Counts]: Counts[name] };
const noCounts = (): MutableCounts => ({
  clientCount: 0,
  activeCount: 0,
  depletedCount: 0,
  disabledCount: 0,
});
interface Needs {
  readonly contributions: PluginContext['contributions'];
  readonly inbounds: InboundsApi | undefined;
  readonly clients: ClientsApi | undefined;
  readonly keptCounts: KeptCounts;
}

export class Figures {
  readonly #needs: Needs;
  /** by lists of inbounds; gone with the list of nodes that is being made */
  #counting: ReadonlyMap<readonly number[], Counts> | undefined;

  constructor({ contributions, inbounds, clients, keptCounts }: Needs) {
    this.#needs = { contributions, inbounds, clients, keptCounts };
  }

  /** Ids of the inbounds that run on a node. */
  inboundsOn(nodeId: number): readonly number[] {
    const all = (this.#needs.inbounds?.list() ?? []) as readonly { id: number; nodeId?: number | null }[];
    return all.filter((inbound) => inbound.nodeId === nodeId).map(({ id }) => id);
  }

  /** Without what runs on panels below the node. */
  of(node: NodeEntry): NodeFigures {
    const { inbounds } = this.#needs;
    const here = this.inboundsOn(node.id).filter((id) => {
      const inbound = inbounds?.get(id);
      return inbound && inbounds?.placeOf(inbound).guid === node.guid;
    });
    return this.#with(this.#counted(here), (source) => source.of(node));
  }

  /** Tells the figures of panels below nodes, by guid: what this panel knows of inbounds that run there. The inbounds are looked at once. */
  below(): (guid: string) => NodeFigures {
    const { inbounds } = this.#needs;
    const byGuid = new Map<string, number[]>();
    for (const inbound of inbounds?.list() ?? []) {
      const guid = inbounds?.placeOf(inbound).guid ?? '';
      const there = byGuid.get(guid);
      if (there) there.push(inbound.id);
      else byGuid.set(guid, [inbound.id]);
    }
    return (guid) =>
      this.#with(this.#counted(byGuid.get(guid) ?? []), (source) => source.below?.(guid) ?? {});
  }

  #with(counted: NodeFigures, figures: (source: NodeFigureSource) => Partial<NodeFigures>): NodeFigures {
    const [source] = this.#needs.contributions(NodeFigureSources);
    if (!source) return counted;
    try {
      return { ...counted, ...figures(source.value) };
    } catch (error) {
      source.fault('the figures of a NodeFigureSource', error);
      return counted;
    }
  }

  #counted(inboundIds: readonly number[]): NodeFigures {
    if (inboundIds.length === 0) return NO_FIGURES;
    const counts = this.#needs.keptCounts.of(inboundIds, () => this.#count(inboundIds));
    return { ...NO_FIGURES, ...counts, inboundCount: inboundIds.length };
  }

  /** Each client counts once: it has one list of inbounds. */
  #count(inboundIds: readonly number[]): Counts {
    const wanted = new Set(inboundIds);
    const counts = noCounts();
    for (const [list, some] of this.#byInboundIds()) {
      if (!list.some((id) => wanted.has(id))) continue;
      counts.clientCount += some.clientCount;
      counts.activeCount += some.activeCount;
      counts.depletedCount += some.depletedCount;
      counts.disabledCount += some.disabledCount;
    }
    return counts;
  }

  /** All clients are looked at once for all nodes of a list. Clients share their lists of inbounds, so there are few. */
  #byInboundIds(): ReadonlyMap<readonly number[], Counts> {
    if (this.#counting) return this.#counting;
    const counting = new Map<readonly number[], MutableCounts>();
    let last: readonly number[] = [];
    let counts = noCounts();
    for (const { inboundIds, depletedCause, enable } of this.#needs.clients?.all() ?? []) {
      if (inboundIds !== last) {
        last = inboundIds;
        counts = counting.get(last) ?? noCounts();
        counting.set(last, counts);
      }
      counts.clientCount++;
      if (depletedCause !== null) counts.depletedCount++;
      else if (enable) counts.activeCount++;
      else counts.disabledCount++;
    }
    this.#counting = counting;
    queueMicrotask(() => (this.#counting = undefined));
    return counting;
  }
}
