// Clients on a node of the older kind: one small call for each change.
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { NodeEntry } from '../nodes/contract.js';
import { isNotFound, type NodeChangeCalls, Refusal } from './calls.js';
import type { InboundChanges } from './inbound-changes.js';
import type { NameStore } from './names.js';
import type { RemoteStates } from './remote-state.js';
import { digestOf, keyOf, type Snapshot } from './snapshot.js';
import type { NameRow } from './tables.js';
import { jsonCall, type Wire, type WireClient } from './wire.js';

const CALL = { timeoutMs: 10_000 } as const;
const pathOf = (email: string): string => encodeURIComponent(email);

/** Inbounds there that get the client in the same form. */
interface Part {
  readonly client: WireClient;
  readonly remoteIds: readonly number[];
}

export class ClientChanges {
  readonly #clients: ClientsApi;
  readonly #names: NameStore;
  readonly #states: RemoteStates;
  readonly #calls: NodeChangeCalls;
  readonly #inbounds: InboundChanges;
  readonly #wire: Wire;

  constructor(needs: {
    clients: ClientsApi;
    names: NameStore;
    states: RemoteStates;
    calls: NodeChangeCalls;
    inboundChanges: InboundChanges;
    wire: Wire;
  }) {
    this.#clients = needs.clients;
    this.#names = needs.names;
    this.#states = needs.states;
    this.#calls = needs.calls;
    this.#inbounds = needs.inboundChanges;
    this.#wire = needs.wire;
  }

  /** Of everything that a node gets of the client. */
  digest(row: Readonly<ClientRow>, inboundIds: readonly number[]): string {
    return digestOf([inboundIds, ...inboundIds.map((id) => this.#wire.client(row, id))]);
  }

  /** Takes the client off our inbounds there, and deletes it if it has no others. Rejects as `send` does. */
  async remove({ id: nodeId }: NodeEntry, name: NameRow, snapshot: Snapshot): Promise<void> {
    const ours = new Set<number>();
    for (const { id } of this.#names.inbounds(nodeId)) {
      const found = this.#inbounds.remote(nodeId, id, snapshot);
      if (found) ours.add(found.id);
    }
    for (const email of new Set([name.name, name.previous].filter((one) => one !== ''))) {
      const has = [...(snapshot.clients.get(keyOf(email))?.inboundIds ?? [])];
      const others = has.filter((id) => !ours.has(id));
      const leaves = has.filter((id) => ours.has(id));
      // It never took ours: who has the email there is somebody else.
      if (leaves.length === 0 && (others.length > 0 || name.period < 0)) continue;
      const call =
        others.length > 0
          ? this.#calls.send(nodeId, `clients/${pathOf(email)}/detach`, {
              ...jsonCall({ inboundIds: leaves }),
              ...CALL,
            })
          : this.#calls.send(nodeId, `clients/del/${pathOf(email)}`, { method: 'POST', ...CALL });
      await call.catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      this.#states.note(snapshot, email, others, true);
    }
  }

  /** Makes the client there what it is here, in these inbounds of ours. Rejects as `send` does. */
  async put(
    { id: nodeId }: NodeEntry,
    row: Readonly<ClientRow>,
    inboundIds: readonly number[],
    isNewPeriod: boolean,
    snapshot: Snapshot,
  ): Promise<void> {
    const { parts, missing } = this.#parts(nodeId, row, inboundIds, snapshot);
    const wanted = parts.flatMap(({ remoteIds }) => remoteIds);
    const known = this.#there(nodeId, row, snapshot);
    const has = new Set(known ? (snapshot.clients.get(keyOf(known))?.inboundIds ?? []) : []);
    let isThere = known !== undefined;
    if (known !== undefined && isNewPeriod)
      await this.#calls
        .send(nodeId, `clients/resetTraffic/${pathOf(known)}`, { method: 'POST', ...CALL })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
    if (known !== undefined)
      isThere = await this.#update(nodeId, known, parts, has).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        has.clear();
        return false;
      });
    for (const { client, remoteIds } of parts) {
      const lacking = remoteIds.filter((id) => !has.has(id));
      if (lacking.length === 0) continue;
      await this.#calls.send(nodeId, 'clients/add', {
        ...jsonCall({ client, inboundIds: lacking }),
        ...CALL,
      });
      for (const id of lacking) has.add(id);
      // Such a panel enables each client that it adds.
      if (!isThere && !row.enable) await this.#update(nodeId, row.email, [{ client, remoteIds }], has);
      isThere = true;
    }
    const leaves = this.#left(nodeId, has, wanted, snapshot);
    if (leaves.length > 0)
      await this.#calls.send(nodeId, `clients/${pathOf(row.email)}/detach`, {
        ...jsonCall({ inboundIds: leaves }),
        ...CALL,
      });
    for (const id of leaves) has.delete(id);
    if (known !== undefined && keyOf(known) !== keyOf(row.email))
      this.#states.note(snapshot, known, [], true);
    this.#states.note(snapshot, row.email, [...has], row.enable);
    if (missing !== '') throw new Refusal(missing);
  }

  /** The email by which the node has it; undefined when it has not. */
  #there(nodeId: number, { id, email }: Readonly<ClientRow>, snapshot: Snapshot): string | undefined {
    const { name = email, previous = '' } = this.#names.get(nodeId, 'client', id) ?? {};
    return [name, previous].find((one) => one !== '' && snapshot.clients.has(keyOf(one)));
  }

  /** Resolves with true; nothing is sent where it has none of these inbounds yet. */
  async #update(
    nodeId: number,
    email: string,
    parts: readonly Part[],
    has: ReadonlySet<number>,
  ): Promise<boolean> {
    let name = email;
    for (const { client, remoteIds } of parts) {
      const there = remoteIds.filter((id) => has.has(id));
      if (there.length === 0) continue;
      const path = `clients/update/${pathOf(name)}?inboundIds=${there.join(',')}`;
      await this.#calls.send(nodeId, path, { ...jsonCall(client), ...CALL });
      // Renamed by the first one.
      name = String(client['email']);
    }
    return true;
  }

  /** Inbounds of ours there that the client has and should not have. */
  #left(nodeId: number, has: ReadonlySet<number>, wanted: readonly number[], snapshot: Snapshot): number[] {
    const left: number[] = [];
    for (const { id } of this.#names.inbounds(nodeId)) {
      const found = this.#inbounds.remote(nodeId, id, snapshot);
      if (found && has.has(found.id) && !wanted.includes(found.id)) left.push(found.id);
    }
    return left;
  }

  /** The client in its inbounds there, those together where it has the same form; and why it cannot be in others. Rejects with a Refusal if it can be in none. */
  #parts(
    nodeId: number,
    row: Readonly<ClientRow>,
    inboundIds: readonly number[],
    snapshot: Snapshot,
  ): { parts: Part[]; missing: string } {
    const byForm = new Map<string, { client: WireClient; remoteIds: number[] }>();
    let missing = '';
    for (const id of inboundIds) {
      const remote = this.#inbounds.remote(nodeId, id, snapshot);
      const why = this.#wire.clientless(id) ?? (remote ? undefined : 'its inbound is not there');
      if (why !== undefined) missing = why;
      if (why !== undefined || !remote) continue;
      const client = this.#wire.client(row, id);
      const key = JSON.stringify(client);
      const known = byForm.get(key);
      if (known) known.remoteIds.push(remote.id);
      else byForm.set(key, { client, remoteIds: [remote.id] });
    }
    if (byForm.size === 0) throw new Refusal(missing || 'its inbound is not there');
    return { parts: [...byForm.values()], missing };
  }

  row(id: number): Readonly<ClientRow> | undefined {
    return this.#clients.byId(id);
  }
}
