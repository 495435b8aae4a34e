// What clients used on nodes of the older kind: absolute counters that such a panel shows with its inbounds, and that it may
// reset, renew or lose at any time.
import { type Clock, type Log, messageOf, TimeSlice } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { NodeRecordsApi, RecordKey } from '../node-sync/contract.js';
import type { NodeEntry, NodesApi } from '../nodes/contract.js';
import type { CounterReading, CounterSource } from '../traffic/contract.js';
import type { InboundChanges } from './inbound-changes.js';
import type { Ledger } from './ledger.js';
import type { NameStore } from './names.js';
import type { RemoteStates } from './remote-state.js';
import { keyOf, type RemoteClient, type Snapshot } from './snapshot.js';
import type { NameRow } from './tables.js';

/** A poll waits six seconds for all sources. */
const CALL_MS = 4_000;
/** Later in a poll no call begins. */
const BEGIN_MS = 1_500;
const AT_ONCE = 16;
const POLL_MS = 5_000;
/** A list with more clients is read less often: it is half a megabyte for each thousand. */
const CLIENTS_A_POLL = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** 10 Gbit/s: what one client can have moved. */
const BYTES_A_SECOND = 1.25e9;
/** A node that does not do what it was sent is not sent it with every poll. */
const AGAIN_MS = 60_000;
const MOST_AGAIN = 50_000;
export const PROTOCOL = 'older panel';

interface Needs {
  readonly nodes: NodesApi;
  readonly inbounds: InboundsApi;
  readonly clients: ClientsApi;
  readonly nodeRecords: NodeRecordsApi;
  readonly names: NameStore;
  readonly states: RemoteStates;
  readonly inboundChanges: InboundChanges;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
}

export class OlderUsage implements CounterSource {
  readonly name = 'older-nodes';
  readonly #needs: Needs;
  readonly #problems = new Map<number, string>();
  /** Unix ms of the last reading, and before which none is due */
  readonly #readAt = new Map<number, number>();
  readonly #dueAt = new Map<number, number>();
  /** when a client was sent again, by node and client */
  readonly #again = new Map<string, number>();

  constructor(needs: Needs) {
    const { nodes, inbounds, clients, nodeRecords, names, states, inboundChanges, ledger, clock, log } =
      needs;
    this.#needs = {
      nodes,
      inbounds,
      clients,
      nodeRecords,
      names,
      states,
      inboundChanges,
      ledger,
      clock,
      log,
    };
  }

  problem(nodeId: number): string {
    return this.#problems.get(nodeId) ?? '';
  }

  readonly read = async (): Promise<readonly CounterReading[]> => {
    const { nodes, nodeRecords, names, clock, ledger } = this.#needs;
    const now = clock.now();
    const due = nodes
      .list()
      .filter(
        ({ id, enable, status, isSure }) =>
          nodeRecords.protocolOf(id) === PROTOCOL &&
          enable &&
          status === 'online' &&
          isSure &&
          hasAny(names.inbounds(id)) &&
          (this.#dueAt.get(id) ?? 0) <= now,
      )
      .sort((a, b) => (this.#readAt.get(a.id) ?? 0) - (this.#readAt.get(b.id) ?? 0));
    if (due.length === 0) return [];
    const readings: CounterReading[] = [];
    const next = due.values();
    const since = performance.now();
    const work = async (): Promise<void> => {
      for (const node of next) {
        // The others are the first ones of the next poll.
        if (performance.now() - since > BEGIN_MS) return;
        const reading = await this.#tried(node);
        if (reading) readings.push(reading);
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, work));
    await ledger.saveStarts();
    return readings;
  };

  async #tried(node: NodeEntry): Promise<CounterReading | undefined> {
    try {
      const reading = await this.#ask(node);
      this.#problems.delete(node.id);
      return reading;
    } catch (error) {
      const problem = messageOf(error).slice(0, 500);
      if (problem !== this.#problems.get(node.id))
        this.#needs.log.warn('the usage of a node cannot be read yet', { node: node.name, problem });
      this.#problems.set(node.id, problem);
      return undefined;
    }
  }

  async #ask(node: NodeEntry): Promise<CounterReading> {
    const { states, ledger, clock, nodeRecords } = this.#needs;
    const { snapshot, isCurrent } = await states.read(node.id, CALL_MS);
    const epoch = await ledger.epoch(node.id, node.guid);
    const now = clock.now();
    const last = this.#readAt.get(node.id);
    this.#readAt.set(node.id, now);
    const polls = Math.floor(snapshot.clients.size / CLIENTS_A_POLL);
    // A poll comes a little early at times.
    this.#dueAt.set(node.id, now + Math.min(polls * POLL_MS, LONGEST_PAUSE_MS) - POLL_MS / 2);
    const { users, differing } = await this.#count(node, snapshot, isCurrent);
    if (isCurrent) {
      await this.#learn(node, snapshot);
      await nodeRecords.sendAgain(node.id, differing);
    }
    return {
      stream: node.guid,
      epoch,
      users,
      ...(last !== undefined && { most: Math.max(now - last, 2 * POLL_MS) * (BYTES_A_SECOND / 1000) }),
    };
  }

  /** What clients of ours have counted there, and those that the node has enabled or whose counters it has reset. */
  async #count(
    { id: nodeId }: NodeEntry,
    snapshot: Snapshot,
    isCurrent: boolean,
  ): Promise<{ users: CounterReading['users']; differing: RecordKey[] }> {
    const { clients, ledger, inboundChanges, names, states } = this.#needs;
    const users: CounterReading['users'][number][] = [];
    const differing: RecordKey[] = [];
    const ours = new Map<number, number>();
    for (const { id } of names.inbounds(nodeId)) {
      const remote = inboundChanges.remote(nodeId, id, snapshot);
      if (remote) ours.set(remote.id, id);
    }
    const slice = new TimeSlice();
    for (const remote of snapshot.clients.values()) {
      if (slice.isOver) await slice.next();
      const row = clients.byEmail(remote.email);
      const name = row && names.get(nodeId, 'client', row.id);
      if (!row || !name || keyOf(name.name) !== keyOf(remote.email)) continue;
      const inboundId = placeOf(remote, row.inboundIds, ours);
      if (inboundId === undefined || !remote.counters) continue;
      const total = ledger.take(nodeId, row.id, inboundId, remote.counters);
      if (typeof total === 'object') users.push({ clientId: row.id, inboundId, ...total });
      const change = total === 'fell' ? 'fell' : !row.enable && remote.enable ? 'enabled' : undefined;
      if (change && isCurrent && this.#isTime(`${nodeId}.${row.id}.${change}`)) {
        states.sendAnyway(nodeId, row.id);
        differing.push({ kind: 'client', id: row.id });
      }
    }
    return { users, differing };
  }

  /** How the node shows what it took: later differences are edits by others. */
  async #learn({ id: nodeId }: NodeEntry, snapshot: Snapshot): Promise<void> {
    const { names, inboundChanges } = this.#needs;
    const learnt: NameRow[] = [];
    for (const row of names.of(nodeId)) {
      if (row.seen !== '' || row.previous !== '') continue;
      const there =
        row.kind === 'inbound'
          ? inboundChanges.remote(nodeId, row.id, snapshot)
          : snapshot.clients.get(keyOf(row.name));
      if (there && there.digest !== '') learnt.push({ ...row, seen: there.digest });
    }
    await names.save(learnt);
  }

  #isTime(key: string): boolean {
    const now = this.#needs.clock.now();
    if (now - (this.#again.get(key) ?? 0) < AGAIN_MS) return false;
    if (this.#again.size >= MOST_AGAIN) this.#again.clear();
    this.#again.set(key, now);
    return true;
  }

  forget(nodeId: number): void {
    for (const map of [this.#problems, this.#readAt, this.#dueAt]) map.delete(nodeId);
  }
}

const hasAny = (rows: Iterable<unknown>): boolean => !rows[Symbol.iterator]().next().done;

/** The inbound of ours under which the bytes are counted: the node has one pair of counters for all of them. */
function placeOf(
  { inboundIds, countedAt }: RemoteClient,
  own: readonly number[],
  ours: ReadonlyMap<number, number>,
): number | undefined {
  const named = inboundIds.has(countedAt) ? ours.get(countedAt) : undefined;
  if (named !== undefined && own.includes(named)) return named;
  for (const id of inboundIds) {
    const found = ours.get(id);
    if (found !== undefined && own.includes(found)) return found;
  }
  return undefined;
}
