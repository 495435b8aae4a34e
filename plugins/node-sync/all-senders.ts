// The senders of all nodes, and what an edit says of them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Log } from '../../kernel/index.js';
import type { PanelsApi } from '../cluster/contract.js';
import { type Applied, DONE, type UserRef, type UserServer } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { Meeting } from './adoption/meeting.js';
import type { DesiredRecords } from './desired-records.js';
import { NodeSender, type SenderState } from './node-sender.js';
import type { OtherProtocols } from './other-protocols.js';
import type { RecordValues } from './record-values.js';

/** An edit waits as long for its nodes. */
const EDIT_MS = 3_000;

interface Needs {
  readonly nodes: NodesApi;
  readonly inbounds: InboundsApi;
  readonly identity: PanelIdentityApi;
  readonly records: DesiredRecords;
  readonly values: RecordValues;
  readonly protocols: OtherProtocols;
  readonly meeting: Meeting;
  readonly log: Log;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly panels?: PanelsApi | undefined;
}

export class AllSenders implements UserServer {
  readonly #needs: Needs;
  readonly #byNode = new Map<number, NodeSender>();
  readonly #held = new Set<number>();

  constructor(needs: Needs) {
    const { nodes, inbounds, identity, records, values, protocols, meeting, log, clock, signal } = needs;
    const { panels } = needs;
    this.#needs = {
      nodes,
      inbounds,
      identity,
      records,
      values,
      protocols,
      meeting,
      log,
      clock,
      signal,
      panels,
    };
  }

  /** Nothing is sent to the node while `work` runs. */
  async holding(nodeId: number, work: () => Promise<void>): Promise<void> {
    this.#held.add(nodeId);
    try {
      await work();
    } finally {
      this.#held.delete(nodeId);
      this.wake([nodeId]);
    }
  }

  readonly serves = (inboundId: number): boolean => this.#nodeOf(inboundId) !== null;

  readonly reconcileUsers = (users: readonly UserRef[]): Promise<Applied> => {
    // Thousands of users are on few inbounds.
    const inboundIds = new Set(users.map(({ inboundId }) => inboundId));
    const nodes = new Set([...inboundIds].map((id) => this.#nodeOf(id)));
    return this.#send([...nodes].filter((id): id is number => id !== null));
  };

  readonly reconcileInbounds = (): Promise<Applied> => this.#send(this.#needs.records.dirty);

  /** Begins to send what waits for these nodes. */
  wake(nodeIds: Iterable<number>): void {
    for (const id of nodeIds) void this.#of(id).wake();
  }

  wakeAll(): void {
    this.wake(this.#needs.nodes.list().map(({ id }) => id));
  }

  state(nodeId: number): SenderState {
    return this.#of(nodeId).state;
  }

  /** Resolves when nothing waits for the node any more, or nothing can be sent. */
  settled(nodeId: number): Promise<void> {
    return this.#of(nodeId).wake();
  }

  /** Wakes the senders of nodes for which other panels have marked something. */
  async wakeWaiting(): Promise<void> {
    if (this.#sends && this.#needs.nodes.list().length > 0)
      this.wake(await this.#needs.records.waitingNodes());
  }

  stop(): void {
    for (const sender of this.#byNode.values()) sender.stop();
  }

  /** Lets another panel send; resolves when no call is under way. */
  async pass(): Promise<void> {
    this.stop();
    await Promise.all([...this.#byNode.values()].map((sender) => sender.settled()));
  }

  get #sends(): boolean {
    return this.#needs.panels?.leads ?? true;
  }

  /** What is said of an edit that the panel which leads sends. */
  #left(nodeIds: readonly number[]): Applied {
    this.#needs.records.leave();
    const [id] = nodeIds;
    if (id === undefined) return DONE;
    const node = this.#needs.nodes.get(id)?.name ?? `#${id}`;
    return { pending: true, node, reason: 'another panel of this database sends it' };
  }

  async #send(nodeIds: readonly number[]): Promise<Applied> {
    if (!this.#sends) return this.#left(nodeIds);
    const late = new AbortController();
    const answers = await Promise.all(
      nodeIds.map(async (id): Promise<Applied> => {
        const sender = this.#of(id);
        const isLate = await Promise.race([
          sender.wake().then(() => false),
          sleep(EDIT_MS, true, { signal: late.signal }).catch(() => true),
        ]);
        const { problem, refused } = sender.state;
        const name = this.#needs.nodes.get(id)?.name ?? `#${id}`;
        if (isLate) return { pending: true, node: name, reason: 'it is on its way' };
        if (problem !== '') return { pending: true, node: name, reason: problem };
        if (refused !== '') return { pending: true, rejected: true, node: name, reason: refused };
        return DONE;
      }),
    );
    late.abort();
    return answers.find(({ pending }) => pending) ?? DONE;
  }

  #of(nodeId: number): NodeSender {
    const known = this.#byNode.get(nodeId);
    if (known) return known;
    const { nodes, identity, records, values, protocols, meeting, log, clock, signal } = this.#needs;
    const sender = new NodeSender(nodeId, {
      nodes,
      guid: identity.guid,
      records,
      values,
      isHeld: (id) => this.#held.has(id),
      protocols,
      meet: (id) => meeting.with(id),
      sends: () => this.#sends,
      log,
      now: () => clock.now(),
      signal,
    });
    this.#byNode.set(nodeId, sender);
    return sender;
  }

  /** The node that runs the inbound; null for this machine, and for a node that is not known. */
  #nodeOf(inboundId: number): number | null {
    const nodeId = this.#needs.inbounds.get(inboundId)?.nodeId ?? null;
    return nodeId !== null && this.#needs.nodes.get(nodeId) ? nodeId : null;
  }
}
