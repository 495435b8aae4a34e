// Adopts what a node has: inbounds first, then their clients page by page, then fallbacks; the node is told when all of it
// is here. After a crash the next run goes on from the page that was stored last.
import { type Database, type Log, messageOf, type Principal } from '../../../kernel/index.js';
import type { FallbacksApi, SentFallback } from '../../fallbacks/contract.js';
import type { InboundEditsApi, InboundsApi } from '../../inbounds/contract.js';
import type { NodeEntry, NodesApi } from '../../nodes/contract.js';
import type { AllSenders } from '../all-senders.js';
import type { ChangesOfNodes } from '../changes-of-nodes.js';
import type { PlacesOfNodes } from '../places-of-nodes.js';
import { UnreadableReply } from '../replies.js';
import type { AdoptionStore } from './adoption-store.js';
import type { ClientsToAdopt } from './clients-to-adopt.js';
import { type InboundsToAdopt, isSelected, refusalOf } from './inbounds-to-adopt.js';
import type { Offered, OffersOfNodes } from './offers.js';
import type { AdoptedRow } from './tables.js';

/** Pages of clients of one inbound: no panel has more. */
const MOST_PAGES = 2_000;
/** A node may have thousands, and an adoption that fails begins again. */
const MOST_LOGGED = 20;
export const LOOP = 'this panel is among the nodes below it: a loop; nothing is adopted from it';

interface Needs {
  readonly db: Database;
  readonly nodes: NodesApi;
  readonly inbounds: InboundsApi;
  readonly inboundEdits: InboundEditsApi;
  readonly fallbacks: FallbacksApi | undefined;
  readonly senders: AllSenders;
  readonly changes: ChangesOfNodes;
  readonly places: PlacesOfNodes;
  readonly adoptions: AdoptionStore;
  readonly offers: OffersOfNodes;
  readonly inboundsToAdopt: InboundsToAdopt;
  readonly clientsToAdopt: ClientsToAdopt;
  readonly log: Log;
  readonly self: Principal;
  readonly signal: AbortSignal;
}

export class Adopter {
  readonly #needs: Needs;
  /** of the offers that were looked at last, by node */
  readonly #seen = new Map<number, string>();
  readonly #problems = new Map<number, string>();

  constructor(needs: Needs) {
    const { db, nodes, inbounds, inboundEdits, fallbacks, senders, changes, places } = needs;
    const { adoptions, offers, inboundsToAdopt, clientsToAdopt, log, self, signal } = needs;
    this.#needs = {
      ...{ db, nodes, inbounds, inboundEdits, fallbacks, senders, changes, places },
      ...{ adoptions, offers, inboundsToAdopt, clientsToAdopt, log, self, signal },
    };
  }

  problem(nodeId: number): string {
    return this.#problems.get(nodeId) ?? '';
  }
  forget(nodeId: number): void {
    this.#seen.delete(nodeId);
    this.#problems.delete(nodeId);
  }
  /** Whether an adoption was interrupted. */
  isUnfinished(nodeId: number): boolean {
    return this.#needs.adoptions.ofNode(nodeId).some(({ isDone }) => !isDone);
  }

  /** Whether a node offers something else than at the last look. Of its settings too. */
  isDue(nodeId: number, digest: string | undefined): boolean {
    const node = this.#needs.nodes.get(nodeId);
    return node !== undefined && (digest === undefined || this.#seen.get(nodeId) !== keyOf(node, digest));
  }

  /** Rejects with a NodeCallError when the node does not answer. Returns how many inbounds are new here. */
  async run(nodeId: number): Promise<number> {
    const { nodes, adoptions, offers, senders, inboundsToAdopt, self, log } = this.#needs;
    const node = nodes.get(nodeId);
    if (!node) return 0;
    const all = await offers.inbounds(nodeId);
    const isLoop = all.loop || node.isLoop;
    this.#report(node, isLoop ? LOOP : '');
    const before = adoptions.ofNode(nodeId).length;
    await this.#follow(node, all);
    if (!isLoop) {
      const left = await inboundsToAdopt.add(node, all, self);
      await adoptions.forgetLeft(nodeId, 'inbound');
      await adoptions.leave(nodeId, 'inbound', left);
    }
    const fresh = adoptions.ofNode(nodeId).filter(({ isDone }) => !isDone);
    if (fresh.length > 0) {
      const tags = fresh.slice(0, MOST_LOGGED).map(({ tag }) => tag);
      log.info('inbounds of a node are adopted', { node: node.name, count: fresh.length, tags });
      await senders.holding(nodeId, () => this.#finish(node, all, fresh));
    }
    this.#seen.set(nodeId, keyOf(node, all.digest));
    return adoptions.ofNode(nodeId).length - before;
  }

  /** Clients that the node's admin has attached to inbounds of ours meanwhile, and those that could not be adopted. */
  async rescan(nodeId: number): Promise<void> {
    const { nodes, offers, senders } = this.#needs;
    const node = nodes.get(nodeId);
    if (!node) return;
    const all = await offers.inbounds(nodeId);
    if (all.loop || node.isLoop) return;
    await senders.holding(nodeId, async () => {
      for (const { localId } of all.own) await this.#clients(node, all, localId, 0);
    });
  }

  async #finish(node: NodeEntry, all: Offered, fresh: readonly AdoptedRow[]): Promise<void> {
    const { adoptions } = this.#needs;
    for (const { inboundId, remoteId, clientsAfter } of fresh)
      await this.#clients(node, all, remoteId, clientsAfter, (after) =>
        adoptions.change(inboundId, { clientsAfter: after }),
      );
    for (const row of fresh) {
      const keepsFallbacks = !(await this.#fallbacks(node.id, all, row));
      await adoptions.change(row.inboundId, { isDone: true, keepsFallbacks });
    }
  }

  async #clients(
    node: NodeEntry,
    all: Offered,
    remoteId: number,
    from: number,
    passed: (after: number) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const { offers, adoptions, clientsToAdopt, self, signal } = this.#needs;
    const ours = this.#ours(node.id, all);
    for (let after = from, pages = 0; ; pages++) {
      signal.throwIfAborted();
      if (pages >= MOST_PAGES) throw new UnreadableReply('it has more clients than it can have');
      const { clients, next } = await offers.clients(node.id, remoteId, after);
      const left = await clientsToAdopt.add(node.id, clients, ours, self);
      await adoptions.forgetLeft(
        node.id,
        'client',
        clients.map(({ id }) => id),
      );
      await adoptions.leave(node.id, 'client', left);
      if (next <= after) return;
      after = next;
      await passed(after);
    }
  }

  /** Ids at the node to ours. */
  #ours(nodeId: number, { own }: Offered): Map<number, number> {
    const { inbounds, adoptions } = this.#needs;
    return new Map([
      ...own
        .filter(({ id }) => inbounds.get(id)?.nodeId === nodeId)
        .map(({ id, localId }) => [localId, id] as const),
      ...adoptions.ofNode(nodeId).map(({ remoteId, inboundId }) => [remoteId, inboundId] as const),
    ]);
  }

  /** Takes the fallbacks of an inbound over; false when they cannot be, and stay with the node. */
  async #fallbacks(
    nodeId: number,
    all: Offered,
    { inboundId, remoteId, remoteTag }: AdoptedRow,
  ): Promise<boolean> {
    const { fallbacks, adoptions, self } = this.#needs;
    const offered = all.offered.find(({ id }) => id === remoteId)?.fallbacks ?? [];
    if (offered.length === 0 || !fallbacks) return offered.length === 0;
    const ours = this.#ours(nodeId, all);
    const wanted = offered.map(({ childId, dest, ...rest }) => {
      const child = ours.get(childId as number) ?? 0;
      return { ...rest, childId: child, dest: child === 0 ? dest : '' };
    });
    try {
      await fallbacks.replace(inboundId, wanted as SentFallback[], self);
      return true;
    } catch (error) {
      const reason = `its fallbacks stay with the node: ${refusalOf(error)}`;
      await adoptions.leave(nodeId, 'inbound', [{ remoteId, name: remoteTag, reason }]);
      return false;
    }
  }

  /** Addresses of machines below the node, and what an admin has deselected. */
  async #follow(node: NodeEntry, { offered, own }: Offered): Promise<void> {
    const { adoptions, places } = this.#needs;
    const addresses = new Map([
      ...own.map(({ localId, originAddress }) => [localId, originAddress] as const),
      ...offered.map(({ id, originAddress }) => [id, originAddress] as const),
    ]);
    for (const row of adoptions.ofNode(node.id)) {
      const address = addresses.get(row.remoteId) || row.originAddress;
      if (row.originGuid !== '' && address !== row.originAddress) {
        await adoptions.change(row.inboundId, { originAddress: address });
        await places.moved(node.id);
      }
      const tag = this.#needs.inbounds.get(row.inboundId)?.tag ?? row.tag;
      if (!isSelected(node, row.remoteTag) && !isSelected(node, tag))
        await this.release(row.inboundId, this.#needs.self);
    }
  }

  /** The inbound is deleted here and stays on its node as it is, without a central. Its clients stay here. */
  async release(inboundId: number, who: Principal): Promise<void> {
    const { changes, inboundEdits, inbounds, adoptions, nodes, db } = this.#needs;
    const { nodeId = null, tag = '' } = inbounds.get(inboundId) ?? {};
    const tags = [tag, adoptions.of(inboundId)?.remoteTag];
    const deselect = async (): Promise<void> => {
      if (nodeId !== null)
        await db.write((tx) =>
          nodes.selectTags(tx, nodeId, (all) => all.filter((one) => !tags.includes(one)), who),
        );
    };
    // First: after a crash between the two, what is selected and not here would be adopted again.
    await deselect();
    const leadThere = this.#fallbacksTo(inboundId, who);
    await changes.releasing(inboundId, () => inboundEdits.delete(inboundId, who));
    await leadThere();
    // An edit meanwhile may have selected it once more.
    await deselect();
  }

  /** Fallbacks of inbounds that stay here go with the one that leaves. Returns what makes them lead to its address: its clients come through them. */
  #fallbacksTo(childId: number, who: Principal): () => Promise<void> {
    const { fallbacks } = this.#needs;
    const dest = fallbacks?.destinationOf(childId) ?? '';
    const wanted = (fallbacks?.mastersOf(childId) ?? []).map((masterId) => {
      const own = (fallbacks?.of(masterId) ?? []).map(({ id: _, masterId: _master, ...one }) =>
        one.childId === childId ? { ...one, childId: 0, dest } : one,
      );
      return [masterId, own as SentFallback[]] as const;
    });
    return async () => {
      for (const [masterId, own] of wanted) await fallbacks?.replace(masterId, own, who).catch(refusalOf);
    };
  }

  #report(node: NodeEntry, problem: string): void {
    if (problem !== '' && this.#problems.get(node.id) !== problem)
      this.#needs.log.warn('nothing is adopted from a node', { node: node.name, problem });
    this.#problems.set(node.id, problem);
  }
  failed(nodeId: number, error: unknown): void {
    this.#problems.set(nodeId, `its inbounds are not adopted yet: ${messageOf(error)}`.slice(0, 500));
  }
}

const keyOf = ({ inboundSyncMode, inboundTags, isLoop }: NodeEntry, digest: string): string =>
  JSON.stringify([digest, inboundSyncMode, inboundTags, isLoop]);
