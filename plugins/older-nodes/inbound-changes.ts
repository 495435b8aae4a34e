// Inbounds on a node of the older kind. One call changes a whole inbound, its clients included.
import { TimeSlice } from '../../kernel/index.js';
import type { Inbound, InboundsApi } from '../inbounds/contract.js';
import type { NodeEntry } from '../nodes/contract.js';
import { isNotFound, type NodeChangeCalls, Refusal } from './calls.js';
import type { NameStore } from './names.js';
import type { RemoteStates } from './remote-state.js';
import { keyOf, type RemoteClient, type RemoteInbound, type Snapshot } from './snapshot.js';
import { formCall, isOn, type Wire, wireTag } from './wire.js';

const CALL = { timeoutMs: 30_000 } as const;

export class InboundChanges {
  readonly #inbounds: InboundsApi;
  readonly #names: NameStore;
  readonly #states: RemoteStates;
  readonly #calls: NodeChangeCalls;
  readonly #wire: Wire;

  constructor(needs: {
    inbounds: InboundsApi;
    names: NameStore;
    states: RemoteStates;
    calls: NodeChangeCalls;
    wire: Wire;
  }) {
    this.#inbounds = needs.inbounds;
    this.#names = needs.names;
    this.#states = needs.states;
    this.#calls = needs.calls;
    this.#wire = needs.wire;
  }

  /** The inbound there that is this one, by the tag that it was given; with or without the prefix of this panel. */
  remote(nodeId: number, id: number, { inbounds }: Snapshot): RemoteInbound | undefined {
    const { name = '', previous = '' } = this.#names.get(nodeId, 'inbound', id) ?? {};
    const tags = [name, previous].filter((tag) => tag !== '').flatMap((tag) => [tag, `n${nodeId}-${tag}`]);
    for (const tag of tags) for (const one of inbounds.values()) if (one.tag === tag) return one;
    return undefined;
  }

  /** Deletes it there. Rejects as `send` does. */
  async remove({ id: nodeId }: NodeEntry, id: number, snapshot: Snapshot): Promise<void> {
    const found = this.remote(nodeId, id, snapshot);
    if (!found) return;
    // It never took ours, as far as is known: one of the node's own may have the tag.
    const isTaken = (this.#names.get(nodeId, 'inbound', id)?.period ?? -1) >= 0;
    if (!isTaken && !this.#hasOnlyOurs(nodeId, found.id, snapshot)) return;
    await this.#calls.send(nodeId, `inbounds/del/${found.id}`, { method: 'POST', ...CALL }).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
    snapshot.inbounds.delete(found.id);
    for (const client of snapshot.clients.values()) client.inboundIds.delete(found.id);
  }

  /** Makes it there what it is here, with all its clients. Rejects as `send` does. */
  async put({ id: nodeId }: NodeEntry, id: number, snapshot: Snapshot): Promise<void> {
    const inbound = this.#inbounds.get(id);
    if (!inbound || !isOn({ id: nodeId }, inbound)) return;
    const found = this.remote(nodeId, id, snapshot) ?? this.#same(nodeId, inbound, snapshot);
    if (found) this.#requireOurs(nodeId, inbound, found, snapshot);
    const form = await this.#wire.inbound(inbound).catch((error: Error) => {
      throw new Refusal(error.message);
    });
    const call = { ...(await formCall(form)), ...CALL };
    const send = (path: string) => this.#calls.send(nodeId, path, call);
    let remoteId = found?.id ?? 0;
    if (found)
      await send(`inbounds/update/${found.id}`).catch(async (error: unknown) => {
        if (!isNotFound(error)) throw error;
        snapshot.inbounds.delete(found.id);
        remoteId = idOf(await send('inbounds/add'));
      });
    else remoteId = idOf(await send('inbounds/add'));
    // What it did with the rest is seen by the next look.
    if (remoteId === 0) return this.#states.forget(nodeId);
    const { tag, port, protocol, listen, enable } = inbound;
    snapshot.inbounds.set(remoteId, {
      ...{ id: remoteId, tag: wireTag(tag, nodeId), port, protocol, listen, enable },
      digest: '',
    });
    await this.#noteClients(remoteId, form['settings'] ?? '{}', snapshot);
  }

  async #noteClients(remoteId: number, settings: string, snapshot: Snapshot): Promise<void> {
    const slice = new TimeSlice();
    // The reply, which was parsed just now, may have all clients as well.
    await slice.next();
    const { clients = [] } = JSON.parse(settings) as {
      readonly clients?: readonly { readonly email: string; readonly enable: boolean }[];
    };
    for (const { inboundIds } of snapshot.clients.values()) inboundIds.delete(remoteId);
    for (const { email, enable } of clients) {
      if (slice.isOver) await slice.next();
      const known = snapshot.clients.get(keyOf(email))?.inboundIds ?? [];
      this.#states.note(snapshot, email, [...known, remoteId], enable);
    }
  }

  /** One that the node has, by its tag or on the same port. */
  #same(nodeId: number, inbound: Inbound, { inbounds }: Snapshot): RemoteInbound | undefined {
    const found = [...inbounds.values()].filter(
      ({ tag, port, protocol, listen }) =>
        tag === wireTag(inbound.tag, nodeId) ||
        (port === inbound.port && protocol === inbound.protocol && listen === inbound.listen),
    );
    if (found.length > 1)
      throw new Refusal(
        `several inbounds there have its tag, or its port and protocol: ${found.map(({ tag }) => tag).join(', ')}`.slice(
          0,
          300,
        ),
      );
    return found[0];
  }

  #hasOnlyOurs(nodeId: number, remoteId: number, snapshot: Snapshot): boolean {
    const { count, strangers } = this.#clientsIn(nodeId, remoteId, snapshot);
    return count > 0 && strangers.length === 0;
  }

  /** Clients of an inbound there, and those that this panel does not know. */
  #clientsIn(
    nodeId: number,
    remoteId: number,
    snapshot: Snapshot,
  ): { readonly count: number; readonly strangers: readonly RemoteClient[] } {
    const ours = new Set<string>();
    for (const { kind, name, previous } of this.#names.of(nodeId))
      if (kind === 'client') ours.add(keyOf(name)).add(keyOf(previous));
    const all = [...snapshot.clients.values()].filter(({ inboundIds }) => inboundIds.has(remoteId));
    return { count: all.length, strangers: all.filter(({ email }) => !ours.has(keyOf(email))) };
  }

  /** A call replaces all clients of the inbound, so those of the node's own would lose their access. */
  #requireOurs(
    nodeId: number,
    { id }: Inbound,
    { id: remoteId, tag }: RemoteInbound,
    snapshot: Snapshot,
  ): void {
    if ((this.#names.get(nodeId, 'inbound', id)?.seen ?? '') !== '') return;
    const { strangers } = this.#clientsIn(nodeId, remoteId, snapshot);
    if (strangers.length > 0)
      throw new Refusal(
        `the inbound ${tag} there has ${strangers.length} clients that this panel does not know, such as ${strangers[0]?.email}; they would be deleted`,
      );
  }
}

/** The id in the reply to an add; 0 if it has none. */
function idOf(obj: unknown): number {
  const { id } = (typeof obj === 'object' && obj !== null ? obj : {}) as { readonly id?: unknown };
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : 0;
}
