// Brings one node what it should have: in portions, until nothing waits. One call at a time.
import {
  inspectInSlices,
  type Log,
  messageOf,
  type Schema,
  TimeSlice,
  sentenceOf,
} from '../../kernel/index.js';
import { NodeCallError, type NodesApi } from '../nodes/contract.js';
import type { DesiredRecords, Told } from './desired-records.js';
import type { OtherProtocols } from './other-protocols.js';
import type { RecordValues, SentChange } from './record-values.js';
import { ApplyReply, printable } from './replies.js';

/** Records of one call: what a node takes in about a second. */
const PORTION = 500;
/** A node takes bodies of 10 MiB with 200,000 of `,` `:` `[` `{`. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_SEPARATORS = 150_000;
/** A bulk of clients takes a node a while; a call that takes longer is repeated, which is harmless. */
const CALL_MS = 60_000;
/** An edit meanwhile is no lie. */
const MOST_OVERTAKEN = 3;
/** A node that restarts may never count as offline, and each edit meanwhile is one more failure. */
const PAUSES_MS = [1_000, 5_000, 10_000];
/** Where nothing can be sent, what is in the way wakes the sender when it is gone. */
const IDLE_MS = 60_000;
export const APPLY = 'panel/api/x/node/apply';

export interface SenderState {
  /** why the node does not get changes; blank when it does */
  readonly problem: string;
  /** Unix ms of the last portion that the node took; 0 before the first one */
  readonly sentAt: number;
  /** reason of the last refusal since something was sent; blank for none */
  readonly refused: string;
}

interface Needs {
  readonly nodes: NodesApi;
  readonly guid: string;
  readonly records: DesiredRecords;
  readonly values: RecordValues;
  /** nothing is sent for now; who holds it wakes this sender */
  readonly isHeld: (nodeId: number) => boolean;
  readonly protocols: OtherProtocols;
  /** comes before the first call */
  readonly meet: (nodeId: number) => Promise<void>;
  /** whether this panel sends: of several on one database, one does */
  readonly sends?: () => boolean;
  readonly log: Log;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export class NodeSender {
  readonly #nodeId: number;
  readonly #needs: Needs;
  #state: SenderState = { problem: '', sentAt: 0, refused: '' };
  #running: Promise<void> | undefined;
  /** something may have come since the last look */
  #isDue = false;
  #failures = 0;
  /** portions in a row of which the node has all in newer versions */
  #overtaken = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(nodeId: number, needs: Needs) {
    this.#nodeId = nodeId;
    this.#needs = needs;
  }

  get state(): SenderState {
    return this.#state;
  }

  /** Sends what waits, soon. Never rejects; resolves when nothing waits any more, or nothing can be sent. */
  wake(): Promise<void> {
    clearTimeout(this.#retry);
    if (!this.#sends) return Promise.resolve();
    this.#isDue = true;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  get #sends(): boolean {
    return this.#needs.sends?.() ?? true;
  }

  stop(): void {
    clearTimeout(this.#retry);
  }

  /** Resolves when no call is under way. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isDue && this.#sends && !this.#needs.signal.aborted) {
      this.#isDue = false;
      try {
        while (!this.#needs.signal.aborted && this.#sends && (await this.#portion()));
        this.#worked();
      } catch (error) {
        if (!this.#needs.signal.aborted) this.#failed(error);
      }
    }
  }

  /** Sends one portion; false when nothing waits. */
  async #portion(): Promise<boolean> {
    const { nodes, records, values, protocols, isHeld, now, signal } = this.#needs;
    const node = nodes.get(this.#nodeId);
    if (!node) return false;
    const rows = await records.pending(this.#nodeId, PORTION);
    if (rows.length === 0) return false;
    if (isHeld(this.#nodeId)) throw new Error('its clients are being adopted');
    if (!node.enable) throw new Error('it is disabled');
    if (node.status === 'offline') throw new Error('it is offline');
    if (!node.isSure) throw new Error('another panel answers there');
    const changes = await fitting(await values.all(this.#nodeId, rows));
    const told = await protocols.call<readonly Told[]>(
      node,
      () => this.#apply(node.guid, changes),
      (protocol) => protocol.apply(node, changes, signal),
    );
    const isNewer = ({ newest = 0, version }: Told): boolean => newest > version;
    await records.told(
      this.#nodeId,
      told.filter((one) => !isNewer(one)),
    );
    await this.#overtake(told.filter(isNewer), told.length);
    const refused = told.find((one) => one.refused !== '')?.refused ?? '';
    this.#state = { problem: '', sentAt: now(), refused };
    // A node that answers for nothing of it would get the same again at once.
    if (told.length === 0) throw new Error('it answers for none of the records that it was sent');
    return true;
  }

  /** A backup of this panel, or a record that left the node and came back: what the node has is newer. */
  async #overtake(stale: readonly Told[], told: number): Promise<void> {
    if (stale.length === 0 || stale.length < told) this.#overtaken = 0;
    if (stale.length === 0) return;
    if (this.#overtaken++ >= MOST_OVERTAKEN)
      throw new Error('it says of each version that it has a newer one');
    await this.#needs.records.overtake(
      this.#nodeId,
      stale.map(({ kind, id, version, newest = version }) => ({ kind, id, version: newest })),
    );
  }

  async #apply(node: string, changes: readonly SentChange[]): Promise<Told[]> {
    const { nodes, guid, meet, signal } = this.#needs;
    await meet(this.#nodeId);
    const { obj } = await nodes.call(this.#nodeId, APPLY, {
      method: 'POST',
      json: { central: guid, node, changes },
      takesGzip: true,
      timeoutMs: CALL_MS,
      signal,
    });
    return toldOf(obj, changes);
  }

  #worked(): void {
    if (this.#failures > 0)
      this.#needs.log.info('a node has all changes again', {
        node: this.#needs.nodes.get(this.#nodeId)?.name,
      });
    this.#failures = 0;
    this.#state = { ...this.#state, problem: '' };
  }

  #failed(error: unknown): void {
    const problem = messageOf(error).slice(0, 500);
    if (problem !== this.#state.problem)
      this.#needs.log.warn('a node does not get its changes yet', {
        node: this.#needs.nodes.get(this.#nodeId)?.name,
        problem,
      });
    this.#state = { ...this.#state, problem };
    const isCall = error instanceof NodeCallError;
    const pause = isCall ? PAUSES_MS[Math.min(this.#failures, PAUSES_MS.length - 1)] : IDLE_MS;
    this.#failures += 1;
    // A node that is away wakes us when it comes back; other obstacles may end without a word.
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.wake(), pause);
  }
}

/** As many as a body of the node has room for, and at least one. */
export async function fitting(changes: readonly SentChange[]): Promise<readonly SentChange[]> {
  let bytes = 0;
  let separators = 0;
  const slice = new TimeSlice();
  for (const [i, change] of changes.entries()) {
    if (slice.isOver) await slice.next();
    const text = JSON.stringify(change);
    bytes += Buffer.byteLength(text);
    separators += text.match(/[,:[{]/g)?.length ?? 0;
    if (bytes > MOST_BYTES || separators > MOST_SEPARATORS) return changes.slice(0, Math.max(i, 1));
  }
  return changes;
}

const LONGEST_REFUSAL = 1_000;

/** What the node says of those that it was sent, and of no others: one answer each, or it could say of one that it has it and that it has a newer one, for ever. */
async function toldOf(obj: unknown, changes: readonly SentChange[]): Promise<Told[]> {
  const result = await inspectInSlices(ApplyReply as Schema, obj);
  if (!('value' in result))
    throw new Error(`its reply cannot be read: ${sentenceOf(result.issues)}`.slice(0, 300));
  const waiting = new Set(changes.map(({ kind, id, version }) => `${kind}.${id}.${version}`));
  const { results } = result.value as {
    results: (Omit<Told, 'refused'> & { ok: boolean; reason?: string })[];
  };
  return results
    .filter(({ kind, id, version }) => waiting.delete(`${kind}.${id}.${version}`))
    .map(({ kind, id, version, newest, ok, reason = '' }) => ({
      kind,
      id,
      version,
      newest,
      refused: ok ? '' : printable(reason, LONGEST_REFUSAL).trim() || 'the node does not say why',
    }));
}
