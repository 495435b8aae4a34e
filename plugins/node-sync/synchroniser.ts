// When nodes are compared, and what an admin sees of it.
import { type Clock, KeyedQueue, type Log, messageOf } from '../../kernel/index.js';
import type { NodeEntry, NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
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
  readonly #compared = new Map<
    number,
    { readonly at: number; readonly guid: string; readonly problem: string }
  >();
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
  }) {
    this.#nodes = needs.nodes;
    this.#records = needs.records;
    this.#senders = needs.senders;
    this.#usage = needs.usage;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#comparison = new Comparison(needs.nodes, needs.identity, needs.records);
  }

  /** Sends what waits, compares, and sends what differs. Never rejects; returns how many records differed. */
  reconcile(nodeId: number): Promise<number> {
    return this.#queue.run(nodeId, async () => {
      let differing = 0;
      let problem = '';
      const guid = this.#nodes.get(nodeId)?.guid ?? '';
      try {
        await this.#senders.settled(nodeId);
        differing = await this.#comparison.run(nodeId);
        if (differing > 0) {
          this.#log.info('a node differs from what it should be; its records are sent again', {
            node: this.#nodes.get(nodeId)?.name,
            records: differing,
          });
          await this.#senders.settled(nodeId);
        }
      } catch (error) {
        problem = messageOf(error).slice(0, 500);
      }
      this.#compared.set(nodeId, { at: this.#clock.now(), guid, problem });
      return differing;
    });
  }

  /** Compares nodes that were not compared for ten minutes, a few at a time. */
  async compareDue(signal: AbortSignal): Promise<void> {
    const due = this.#nodes.list().filter((node) => {
      const { at = 0, guid = '' } = this.#compared.get(node.id) ?? {};
      // Another panel may have taken its place.
      return isReachable(node) && (guid !== node.guid || this.#clock.now() - at >= COMPARED_EVERY_MS);
    });
    for (let from = 0; from < due.length && !signal.aborted; from += AT_ONCE)
      await Promise.all(due.slice(from, from + AT_ONCE).map(({ id }) => this.reconcile(id)));
  }

  forget(nodeId: number): void {
    this.#compared.delete(nodeId);
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
        problem: problem || (compared?.problem ?? '') || this.#usage.problem(id),
      };
    });
  }
}

export const isReachable = ({ enable, status, isSure }: NodeEntry): boolean =>
  enable && status === 'online' && isSure;
