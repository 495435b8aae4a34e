// When nodes are compared, and what an admin sees of it.
import { type Clock, KeyedQueue, type Log, messageOf, type Principal } from '../../kernel/index.js';
import type { NodeChange, NodeEntry, NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { Adopter } from './adoption/adopter.js';
import type { AdoptionStore } from './adoption/adoption-store.js';
import type { AllSenders } from './all-senders.js';
import { Comparison } from './comparison.js';
import type { DesiredRecords } from './desired-records.js';
import type { UsageOfNodes } from './usage-of-nodes.js';

const COMPARED_EVERY_MS = 10 * 60_000;
const AT_ONCE = 8;

/** How a node is kept, for an admin. */
export interface SyncState {
  readonly nodeId: number;
  readonly name: string;
  /** records that wait to be sent */
  readonly pending: number;
  /** records that the node does not have in force */
  readonly refused: number;
  /** Unix ms; 0 for never since the panel runs */
  readonly sentAt: number;
  readonly comparedAt: number;
  /** why it does not get changes, is not compared, or its usage is not read; blank when all is well */
  readonly problem: string;
}

export class Synchroniser {
  readonly #nodes: NodesApi;
  readonly #records: DesiredRecords;
  readonly #senders: AllSenders;
  readonly #usage: UsageOfNodes;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #comparison: Comparison;
  readonly #adopter: Adopter;
  readonly #compared = new Map<number, { readonly at: number; readonly problem: string }>();
  /** one comparison of a node at a time */
  readonly #queue = new KeyedQueue<number>();

  constructor(needs: {
    nodes: NodesApi;
    identity: PanelIdentityApi;
    records: DesiredRecords;
    senders: AllSenders;
    usage: UsageOfNodes;
    clock: Clock;
    log: Log;
    adopter: Adopter;
    adoptions: AdoptionStore;
  }) {
    this.#adopter = needs.adopter;
    this.#nodes = needs.nodes;
    this.#records = needs.records;
    this.#senders = needs.senders;
    this.#usage = needs.usage;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#comparison = new Comparison(needs.nodes, needs.identity, needs.records, needs.adoptions);
  }

  /** Sends what waits, compares, and sends what differs. Never rejects; returns how many records differed. */
  reconcile(nodeId: number): Promise<number> {
    return this.#queue.run(nodeId, async () => {
      let differing = 0;
      let problem = '';
      try {
        await this.#adopter.meet(nodeId);
        if (this.#adopter.isUnfinished(nodeId)) await this.#adopter.run(nodeId);
        await this.#senders.settled(nodeId);
        const compared = await this.#comparison.run(nodeId);
        ({ differing } = compared);
        if (differing > 0) {
          this.#log.info('a node differs from what it should be; its records are sent again', {
            node: this.#nodes.get(nodeId)?.name,
            records: differing,
          });
          await this.#senders.settled(nodeId);
        }
        if (this.#adopter.isDue(nodeId, compared.offers)) await this.#adopt(nodeId);
      } catch (error) {
        problem = messageOf(error).slice(0, 500);
      }
      this.#compared.set(nodeId, { at: this.#clock.now(), problem });
      return differing;
    });
  }

  /** Other inbounds of a node are selected: they are adopted, or given back. */
  selectionChanged(changes: readonly NodeChange[]): void {
    for (const { before, after } of changes) {
      const isSame =
        before?.inboundSyncMode === after?.inboundSyncMode &&
        before?.inboundTags.join('\n') === after?.inboundTags.join('\n');
      const node = before && after && !isSame ? this.#nodes.get(after.id) : undefined;
      if (node && isReachable(node)) void this.reconcile(node.id);
    }
  }

  /** Adopts what is to be adopted. A failure is told, and tried again with the next comparison. */
  async #adopt(nodeId: number): Promise<void> {
    try {
      await this.#adopter.run(nodeId);
      await this.#senders.settled(nodeId);
    } catch (error) {
      this.#adopter.failed(nodeId, error);
    }
  }

  /** Looks now at all that the node has, also at clients. Rejects when it does not answer. */
  adopt(nodeId: number): Promise<void> {
    return this.#queue.run(nodeId, async () => {
      await this.#adopter.meet(nodeId);
      await this.#adopter.run(nodeId);
      await this.#adopter.rescan(nodeId);
      await this.#senders.settled(nodeId);
    });
  }
  /** Gives inbounds back to the node. */
  release(nodeId: number, inboundIds: readonly number[], who: Principal): Promise<void> {
    return this.#queue.run(nodeId, async () => {
      for (const id of inboundIds) await this.#adopter.release(id, who);
      await this.#senders.settled(nodeId);
    });
  }

  /** Compares nodes that were not compared for ten minutes, a few at a time. */
  async compareDue(signal: AbortSignal): Promise<void> {
    const due = this.#nodes
      .list()
      .filter(
        (node) =>
          isReachable(node) &&
          this.#clock.now() - (this.#compared.get(node.id)?.at ?? 0) >= COMPARED_EVERY_MS,
      );
    for (let from = 0; from < due.length && !signal.aborted; from += AT_ONCE)
      await Promise.all(due.slice(from, from + AT_ONCE).map(({ id }) => this.reconcile(id)));
  }

  forget(nodeId: number): void {
    this.#compared.delete(nodeId);
    this.#adopter.forget(nodeId);
  }

  async states(): Promise<SyncState[]> {
    const counts = await this.#records.counts();
    return this.#nodes.list().map(({ id, name }) => {
      const { pending = 0, refused = 0 } = counts.get(id) ?? {};
      const { problem, sentAt } = this.#senders.state(id);
      const compared = this.#compared.get(id);
      return {
        nodeId: id,
        name,
        pending,
        refused,
        sentAt,
        comparedAt: compared?.at ?? 0,
        problem: problem || (compared?.problem ?? '') || this.#usage.problem(id) || this.#adopter.problem(id),
      };
    });
  }
}

export const isReachable = ({ enable, status, isSure }: NodeEntry): boolean =>
  enable && status === 'online' && isSure;
