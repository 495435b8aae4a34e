// When nodes are compared, and what an admin sees of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, KeyedQueue, type Log, messageOf, type Principal } from '../../kernel/index.js';
import type { NodeChange, NodeEntry, NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { Adopter } from './adoption/adopter.js';
import type { Meeting } from './adoption/meeting.js';
import type { AdoptionStore } from './adoption/adoption-store.js';
import type { AllSenders } from './all-senders.js';
import { clusterErrors, type PanelsApi } from '../cluster/contract.js';
import { Comparison } from './comparison.js';
import type { NodeRecordsApi, RecordKey } from './contract.js';
import type { DesiredRecords } from './desired-records.js';
import { errors } from './errors.js';
import type { OtherProtocols } from './other-protocols.js';
import type { UsageOfNodes } from './usage-of-nodes.js';

const COMPARED_EVERY_MS = 10 * 60_000;
const AT_ONCE = 8;
/** A node that answers slowly keeps the others from their turn no longer than this; its own comparison goes on. */
const TURN_MS = 10_000;

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

export class Synchroniser implements NodeRecordsApi {
  readonly #nodes: NodesApi;
  readonly #records: DesiredRecords;
  readonly #senders: AllSenders;
  readonly #usage: UsageOfNodes;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #protocols: OtherProtocols;
  readonly #comparison: Comparison;
  readonly #adopter: Adopter;
  readonly #meeting: Meeting;
  readonly #compared = new Map<
    number,
    { readonly at: number; readonly guid: string; readonly problem: string }
  >();
  readonly #panels: PanelsApi | undefined;
  /** one comparison of a node at a time */
  readonly #queue = new KeyedQueue<number>();
  /** nodes that are compared now */
  readonly #running = new Set<number>();

  constructor(needs: {
    nodes: NodesApi;
    identity: PanelIdentityApi;
    records: DesiredRecords;
    senders: AllSenders;
    usage: UsageOfNodes;
    protocols: OtherProtocols;
    clock: Clock;
    log: Log;
    adopter: Adopter;
    meeting: Meeting;
    adoptions: AdoptionStore;
    panels?: PanelsApi | undefined;
  }) {
    this.#panels = needs.panels;
    this.#adopter = needs.adopter;
    this.#meeting = needs.meeting;
    this.#nodes = needs.nodes;
    this.#records = needs.records;
    this.#senders = needs.senders;
    this.#usage = needs.usage;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#protocols = needs.protocols;
    this.#comparison = new Comparison(
      needs.nodes,
      needs.identity,
      needs.records,
      needs.adoptions,
      needs.protocols,
    );
  }

  /** Throws NOT_LEADING where another panel of the database keeps the nodes. */
  requireLead(): void {
    if (this.#panels?.leads === false) throw clusterErrors.NOT_LEADING();
  }

  /** Sends what waits, compares, and sends what differs. Never rejects; returns how many records differed. */
  reconcile(nodeId: number): Promise<number> {
    return this.#queue.run(nodeId, async () => {
      let differing = 0;
      let problem = '';
      const guid = this.#nodes.get(nodeId)?.guid ?? '';
      this.#running.add(nodeId);
      try {
        // The panel there may have become another one.
        this.#protocols.forget(nodeId);
        await this.#begin(nodeId);
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
        if (!this.#protocols.of(nodeId) && this.#adopter.isDue(nodeId, compared.offers))
          await this.#adopt(nodeId);
      } catch (error) {
        problem = messageOf(error).slice(0, 500);
      } finally {
        this.#running.delete(nodeId);
      }
      this.#compared.set(nodeId, { at: this.#clock.now(), guid, problem });
      return differing;
    });
  }

  /** What is to be known before anything is sent. From a panel of another kind nothing is adopted. */
  async #begin(nodeId: number): Promise<void> {
    const node = this.#nodes.get(nodeId);
    if (!node) return;
    await this.#protocols.call(
      node,
      async () => {
        await this.#meeting.with(nodeId);
        if (this.#adopter.isUnfinished(nodeId)) await this.#adopter.run(nodeId);
      },
      async () => undefined,
    );
  }

  /** Other inbounds of a node are selected: they are adopted, or given back. */
  selectionChanged(changes: readonly NodeChange[]): void {
    if (this.#panels?.leads === false) return;
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
      await this.#begin(nodeId);
      if (this.#protocols.of(nodeId)) throw errors.OTHER_KIND();
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
    const due = this.#nodes.list().filter((node) => {
      const { at = 0, guid = '' } = this.#compared.get(node.id) ?? {};
      // Another panel may have taken its place.
      return (
        isReachable(node) &&
        !this.#running.has(node.id) &&
        (guid !== node.guid || this.#clock.now() - at >= COMPARED_EVERY_MS)
      );
    });
    const next = due.values();
    const work = async (): Promise<void> => {
      for (const { id } of next) {
        if (signal.aborted) return;
        await this.#turn(id, signal);
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, work));
  }

  async #turn(nodeId: number, signal: AbortSignal): Promise<void> {
    const compared = new AbortController();
    const late = sleep(TURN_MS, undefined, { signal: AbortSignal.any([signal, compared.signal]) });
    await Promise.race([this.reconcile(nodeId), late.catch(() => undefined)]);
    compared.abort();
  }

  forget(nodeId: number): void {
    this.#protocols.forget(nodeId);
    this.#compared.delete(nodeId);
    this.#adopter.forget(nodeId);
    this.#meeting.forget(nodeId);
  }

  protocolOf(nodeId: number): string {
    return this.#protocols.of(nodeId)?.name ?? '';
  }

  async sendAgain(nodeId: number, records: readonly RecordKey[]): Promise<void> {
    if (records.length === 0) return;
    await this.#records.overtake(
      nodeId,
      records.map(({ kind, id }) => ({ kind, id, version: 0 })),
    );
    this.#senders.wake([nodeId]);
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
        problem:
          problem ||
          (compared?.problem ?? '') ||
          (this.#protocols.of(id)?.problem(id) ?? this.#usage.problem(id)) ||
          this.#adopter.problem(id),
      };
    });
  }
}

export const isReachable = ({ enable, status, isSure }: NodeEntry): boolean =>
  enable && status === 'online' && isSure;
