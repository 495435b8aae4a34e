// What each node was seen to have last, and what it was sent since.
import type { Clock } from '../../kernel/index.js';
import type { NodesApi } from '../nodes/contract.js';
import { keyOf, type Snapshot, snapshotOf } from './snapshot.js';

/** A list with 10,000 clients has about as many bytes. */
const MOST_BYTES = 8 * 1024 * 1024;
/** A change is sent by a list that is not older: others may edit there too. */
const FRESH_MS = 60_000;
export const LIST = 'panel/api/inbounds/list';

interface Known {
  readonly snapshot: Snapshot;
  readonly at: number;
}

export class RemoteStates {
  readonly #nodes: NodesApi;
  readonly #clock: Clock;
  readonly #known = new Map<number, Known>();
  /** Numbers of changes that were sent to each node: a list that was asked for before one of them is out of date. */
  readonly #sent = new Map<number, number>();
  /** Of clients: what the node took last, so that it is not sent once more. By node, then by client. */
  readonly #taken = new Map<number, Map<number, string>>();

  constructor({ nodes, clock }: { nodes: NodesApi; clock: Clock }) {
    this.#nodes = nodes;
    this.#clock = clock;
  }

  /** Reads the list. `isCurrent`: nothing was sent meanwhile. Rejects with a NodeCallError, or an error that says what is wrong with the list. */
  async read(nodeId: number, timeoutMs: number): Promise<{ snapshot: Snapshot; isCurrent: boolean }> {
    const before = this.#sent.get(nodeId) ?? 0;
    const { obj } = await this.#nodes.call(nodeId, LIST, { timeoutMs, maxBytes: MOST_BYTES });
    const snapshot = await snapshotOf(obj, this.#clock.now());
    const isCurrent = before === (this.#sent.get(nodeId) ?? 0);
    if (isCurrent) this.#known.set(nodeId, { snapshot, at: this.#clock.now() });
    return { snapshot, isCurrent };
  }

  /** What the node has, from memory if it was looked at within the last minute. */
  async current(nodeId: number): Promise<Snapshot> {
    const known = this.#known.get(nodeId);
    if (known && this.#clock.now() - known.at < FRESH_MS) return known.snapshot;
    return (await this.read(nodeId, 10_000)).snapshot;
  }

  /** Call it before and after a change is sent. */
  sends(nodeId: number): void {
    this.#sent.set(nodeId, (this.#sent.get(nodeId) ?? 0) + 1);
  }

  /** The list is read again before the next change. */
  forget(nodeId: number): void {
    this.#known.delete(nodeId);
  }
  forgetNode(nodeId: number): void {
    this.#known.delete(nodeId);
    this.#taken.delete(nodeId);
    this.#sent.delete(nodeId);
  }

  taken(nodeId: number, clientId: number): string | undefined {
    return this.#taken.get(nodeId)?.get(clientId);
  }
  took(nodeId: number, clientId: number, digest: string): void {
    const known = this.#taken.get(nodeId);
    if (known) known.set(clientId, digest);
    else this.#taken.set(nodeId, new Map([[clientId, digest]]));
  }
  /** It is sent even if it is what the node took last. */
  sendAnyway(nodeId: number, clientId: number): void {
    this.#taken.get(nodeId)?.delete(clientId);
  }

  /** Notes in the last list that a client is there, or no longer. */
  note(snapshot: Snapshot, email: string, inboundIds: readonly number[], enable: boolean): void {
    const known = snapshot.clients.get(keyOf(email));
    if (inboundIds.length === 0) snapshot.clients.delete(keyOf(email));
    else
      snapshot.clients.set(keyOf(email), {
        countedAt: 0,
        counters: undefined,
        isAtLimit: false,
        digest: '',
        ...known,
        email,
        enable,
        inboundIds: new Set(inboundIds),
      });
  }
}
