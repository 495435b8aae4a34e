// Who is connected to nodes and to panels below them. A node tells what changed since the last poll; what it tells counts
// until it falls silent. It is believed about clients and inbounds that this panel gave to it, and no others.
import { type Clock, type Log, messageOf, TimeSlice } from '../../kernel/index.js';
import type { AddressOutput } from '../addresses/contract.js';
import type { ClientsApi } from '../clients/contract.js';
import type { DevicesApi } from '../devices/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { NodeEntry, NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { PresenceApi, PresenceOutput } from '../traffic/contract.js';
import { presenceIn, type PresenceReply, type ToldAddress, type ToldDevice } from './presence-reply.js';

/** A report counts for 20 s, so an unchanged one is not made with every poll. */
const REPORTED_EVERY_MS = 9_000;
/** Counts are asked for each node of a list. */
const COUNTED_EVERY_MS = 1_000;

interface Machine {
  readonly clients: Set<number>;
  readonly inbounds: Set<number>;
}
interface OfNode {
  /** of the panel that answered */
  readonly guid: string;
  position: string;
  machines: Map<string, Machine>;
}

export class PresenceOfNodes {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #nodes: Pick<NodesApi, 'list' | 'below'>;
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #inbounds: Pick<InboundsApi, 'get'>;
  readonly #identity: PanelIdentityApi;
  readonly #presence: PresenceApi;
  readonly #devices: DevicesApi | undefined;
  readonly #known = new Map<number, OfNode>();
  /** Unix ms of the last report, by guid */
  readonly #reported = new Map<string, number>();
  readonly #failing = new Set<number>();
  #counts: { readonly at: number; readonly byGuid: ReadonlyMap<string, number> } | undefined;
  #report: PresenceOutput['report'] = () => undefined;
  #seen: AddressOutput['seen'] = async () => undefined;

  constructor(needs: {
    clock: Clock;
    log: Log;
    nodes: Pick<NodesApi, 'list' | 'below'>;
    clients: Pick<ClientsApi, 'byId'>;
    inbounds: Pick<InboundsApi, 'get'>;
    identity: PanelIdentityApi;
    online: PresenceApi;
    devices: DevicesApi | undefined;
  }) {
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#nodes = needs.nodes;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#identity = needs.identity;
    this.#presence = needs.online;
    this.#devices = needs.devices;
  }

  readonly presenceReporter = { start: (output: PresenceOutput) => void (this.#report = output.report) };
  readonly addressReporter = { start: (output: AddressOutput) => void (this.#seen = output.seen) };

  /** What the node is to be asked with: it tells what changed since. */
  position({ id, guid }: NodeEntry): string {
    const known = this.#known.get(id);
    return known?.guid === guid ? known.position : '';
  }

  /** Takes in what a node told; never rejects. A node that cannot tell has told nothing. */
  async take(node: NodeEntry, told: unknown): Promise<void> {
    if (told === undefined) return;
    try {
      await this.#take(node, await presenceIn(told));
      this.#failing.delete(node.id);
    } catch (error) {
      this.left(node.id);
      if (!this.#failing.has(node.id))
        this.#log.warn('who is connected to a node is not known', {
          node: node.name,
          problem: messageOf(error),
        });
      this.#failing.add(node.id);
    }
  }

  async #take(node: NodeEntry, reply: PresenceReply): Promise<void> {
    const before = this.#known.get(node.id);
    const known: OfNode =
      before?.guid === node.guid ? before : { guid: node.guid, position: '', machines: new Map() };
    this.#known.set(node.id, known);
    known.position = reply.position;
    const changed = new Set<string>(before === known ? [] : before?.machines.keys());
    if (reply.isFull) {
      for (const guid of known.machines.keys()) changed.add(guid);
      known.machines = new Map();
    }
    const placeOf = this.#placesBelow(node);
    const slice = new TimeSlice();
    for (const told of reply.machines) {
      if (slice.isOver) await slice.next();
      const guid = placeOf(told.guid);
      if (guid === undefined) continue;
      const machine = known.machines.get(guid) ?? { clients: new Set(), inbounds: new Set() };
      known.machines.set(guid, machine);
      changed.add(guid);
      for (const id of told.gone) machine.clients.delete(id);
      for (const id of told.idle) machine.inbounds.delete(id);
      for (const id of told.online) if (this.#isClientOn(id, node.id)) machine.clients.add(id);
      for (const id of told.active) if (this.#isInboundOn(id, node.id)) machine.inbounds.add(id);
    }
    await this.#tell(new Set([...changed, ...this.#due(known)]));
    await this.#takeAddresses(node, reply.addresses, placeOf);
    await this.#takeDevices(node, reply.devices);
  }

  async #takeDevices(node: NodeEntry, told: readonly ToldDevice[]): Promise<void> {
    const now = this.#clock.now();
    const devices = told.filter(({ id }) => this.#isClientOn(id, node.id));
    if (devices.length > 0)
      await this.#devices?.take(
        devices.map(({ id: clientId, seen, ...device }) => ({
          ...device,
          clientId,
          at: now - seen,
          isGone: false,
        })),
        node.guid,
      );
  }

  /** The guid under which something is shown: that of a panel below the node, and the node's own for those that are not known yet. Undefined for what others tell themselves. */
  #placesBelow(node: NodeEntry): (guid: string) => string | undefined {
    const below = new Set(this.#nodes.below(node.id));
    const direct = new Set([this.#identity.guid, ...this.#nodes.list().map(({ guid }) => guid)]);
    return (guid) => {
      if (guid === node.guid || below.has(guid)) return guid;
      return direct.has(guid) ? undefined : node.guid;
    };
  }

  /** A client may have been deleted, or have left the node, while the node told this. */
  #isClientOn(clientId: number, nodeId: number): boolean {
    const { inboundIds = [] } = this.#clients.byId(clientId) ?? {};
    return inboundIds.some((id) => this.#isInboundOn(id, nodeId));
  }
  #isInboundOn(inboundId: number, nodeId: number): boolean {
    return this.#inbounds.get(inboundId)?.nodeId === nodeId;
  }

  #due({ machines }: OfNode): string[] {
    const until = this.#clock.now() - REPORTED_EVERY_MS;
    return [...machines.keys()].filter((guid) => !((this.#reported.get(guid) ?? 0) > until));
  }

  /** A panel may be below several nodes: it is what all of them tell. */
  async #tell(guids: ReadonlySet<string>): Promise<void> {
    this.#counts = undefined;
    const slice = new TimeSlice();
    for (const guid of guids) {
      const clients = new Set<number>();
      const inbounds = new Set<number>();
      for (const [nodeId, { machines }] of this.#known) {
        const machine = machines.get(guid);
        for (const id of [...(machine?.clients ?? [])]) {
          if (slice.isOver) await slice.next();
          if (this.#isClientOn(id, nodeId)) clients.add(id);
          else machine?.clients.delete(id);
        }
        for (const id of machine?.inbounds ?? []) if (this.#isInboundOn(id, nodeId)) inbounds.add(id);
      }
      this.#report(guid, { clients: [...clients], inbounds: [...inbounds] });
      if (clients.size + inbounds.size > 0) this.#reported.set(guid, this.#clock.now());
      else this.#reported.delete(guid);
    }
  }

  async #takeAddresses(
    node: NodeEntry,
    told: readonly ToldAddress[],
    placeOf: (guid: string) => string | undefined,
  ): Promise<void> {
    const now = this.#clock.now();
    const byGuid = new Map<string, { clientId: number; address: string; at: number; since: number }[]>();
    for (const { id: clientId, ip: address, guid, since, seen } of told) {
      const place = placeOf(guid);
      if (place === undefined || !this.#isClientOn(clientId, node.id)) continue;
      const list = byGuid.get(place) ?? [];
      list.push({ clientId, address, at: now - seen, since: now - since });
      byGuid.set(place, list);
    }
    for (const [guid, seen] of byGuid) await this.#seen(guid, seen);
  }

  /** Nobody is connected to a node that is away, disabled or deleted, nor below it. */
  left(nodeId: number): void {
    const known = this.#known.get(nodeId);
    if (!known) return;
    this.#known.delete(nodeId);
    void this.#tell(new Set(known.machines.keys()));
  }

  /** How many clients are online under a guid. */
  countOf(guid: string): number {
    const now = this.#clock.now();
    if (!this.#counts || Math.abs(now - this.#counts.at) >= COUNTED_EVERY_MS)
      this.#counts = {
        at: now,
        byGuid: new Map([...this.#presence.onlineByGuid()].map(([of, ids]) => [of, ids.length])),
      };
    return this.#counts.byGuid.get(guid) ?? 0;
  }
}
