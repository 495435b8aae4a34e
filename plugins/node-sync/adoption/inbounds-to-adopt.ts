// Which inbounds of a node become inbounds of this panel, and which do not and why.
import type { InboundEditsApi, InboundsApi } from '../../inbounds/contract.js';
import { messageOf, PanelError, type Principal, storageFailure, TimeSlice } from '../../../kernel/index.js';
import type { OfferedInbound } from '../../node-agent/contract.js';
import type { NodeEntry } from '../../nodes/contract.js';
import type { PanelIdentityApi } from '../../settings/contract.js';
import type { AdoptionStore } from './adoption-store.js';
import type { Offered } from './offers.js';

export interface LeftInbound {
  readonly remoteId: number;
  readonly name: string;
  readonly reason: string;
}
/** Inbounds that are adopted from one node: as many as a node takes from a central. */
const MOST_ADOPTED = 5_000;
type Fields = Parameters<InboundEditsApi['add']>[0];

export const isSelected = (
  { inboundSyncMode, inboundTags }: Pick<NodeEntry, 'inboundSyncMode' | 'inboundTags'>,
  tag: string,
): boolean => inboundSyncMode === 'all' || inboundTags.includes(tag);

/** The words of a refusal; a failure of the database is thrown. */
export function refusalOf(error: unknown): string {
  if (!(error instanceof PanelError) || storageFailure(error)) throw error;
  return messageOf(error);
}

export class InboundsToAdopt {
  readonly #inbounds: InboundsApi;
  readonly #edits: InboundEditsApi;
  readonly #adoptions: AdoptionStore;
  readonly #guid: () => string;

  constructor(needs: {
    inbounds: InboundsApi;
    inboundEdits: InboundEditsApi;
    adoptions: AdoptionStore;
    identity: PanelIdentityApi;
  }) {
    this.#inbounds = needs.inbounds;
    this.#edits = needs.inboundEdits;
    this.#adoptions = needs.adoptions;
    this.#guid = () => needs.identity.guid;
  }

  /** Adds those that are selected, each in one transaction with its counters. Returns those that stay with the node. */
  async add(node: NodeEntry, { offered }: Offered, who: Principal): Promise<LeftInbound[]> {
    const known = new Set(this.#adoptions.ofNode(node.id).map(({ remoteId }) => remoteId));
    const ours = this.#oursOn(node.id);
    const left: LeftInbound[] = [];
    const slice = new TimeSlice();
    for (const offer of offered) {
      if (slice.isOver) await slice.next();
      // It is here already, and the node does not know that yet; or it is offered twice.
      if (known.has(offer.id) || ours.has(offer.tag)) continue;
      const reason =
        this.#problem(node, offer) ||
        (known.size >= MOST_ADOPTED ? `${MOST_ADOPTED} inbounds of this node are adopted already` : '') ||
        (await this.#added(node, offer, who));
      if (reason === '') known.add(offer.id);
      else left.push({ remoteId: offer.id, name: offer.tag, reason });
    }
    return [...new Map(left.map((one) => [one.remoteId, one])).values()];
  }

  #problem(node: NodeEntry, { tag, managedBy, originGuid, originAddress }: OfferedInbound): string {
    if (!isSelected(node, tag)) return 'not selected';
    if (managedBy !== '') return `another panel manages it: ${managedBy}`;
    if (originGuid === this.#guid()) return 'it runs here: the nodes lead back to this panel';
    if (originGuid === '') return 'the node does not know yet which machine runs it';
    // Its links would lead to this machine.
    return originGuid !== node.guid && originAddress === ''
      ? 'the node does not tell at which address the machine that runs it is reached'
      : '';
  }

  /** Tags that inbounds of ours have on the node. */
  #oursOn(nodeId: number): ReadonlySet<string> {
    const prefix = `n${nodeId}-`;
    return new Set(
      this.#inbounds
        .list()
        .filter((one) => one.nodeId === nodeId && !this.#adoptions.of(one.id))
        .flatMap(({ tag }) => (tag.startsWith(prefix) ? [tag, tag.slice(prefix.length)] : [tag])),
    );
  }

  /** Returns why it cannot be added; blank when it was. */
  async #added(node: NodeEntry, offer: OfferedInbound, who: Principal): Promise<string> {
    const tags = new Set(this.#inbounds.list().map(({ tag }) => tag));
    const tag = [offer.tag, `n${node.id}-${offer.tag}`].find((one) => !tags.has(one));
    if (tag === undefined) {
      const other = this.#inbounds.list().find((one) => one.tag === offer.tag);
      return `the tag ${offer.tag} is taken here by inbound #${other?.id}; change one of them`;
    }
    const originGuid = offer.originGuid === node.guid ? '' : offer.originGuid;
    const { originAddress, up, down } = offer;
    try {
      await this.#edits.add({ ...offer.value, nodeId: node.id, tag } as unknown as Fields, who, {
        // It has them there already.
        keepDestinations: true,
        originGuid,
        also: async (tx, { id: inboundId }) => {
          await this.#inbounds.addUsage(tx, [{ inboundId, up, down }]);
          await this.#adoptions.add(tx, {
            ...{ inboundId, nodeId: node.id, remoteId: offer.id, tag, remoteTag: offer.tag, originGuid },
            originAddress: originGuid === '' ? '' : originAddress,
            ...{ clientsAfter: 0, isDone: false, keepsFallbacks: false },
          });
        },
      });
      return '';
    } catch (error) {
      return refusalOf(error);
    }
  }
}
