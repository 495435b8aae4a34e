// What a node offers for adoption, read and checked: it may lie.
import { bool, int, list, openObject, shape, text } from '../../../kernel/index.js';
import type { OfferedClient, OfferedInbound, OwnInbound } from '../../node-agent/contract.js';
import type { NodesApi } from '../../nodes/contract.js';
import type { PanelIdentityApi } from '../../settings/contract.js';
import { checked } from '../replies.js';

const OFFERS = 'panel/api/x/node/offers';
const CALL_MS = 30_000;
const count = () => int().min(0);
const id = () => int().min(1);
const guid = () =>
  text()
    .allow('')
    .max(64)
    .pattern(/^[\w:-]*$/, 'guid');

const address = () =>
  text()
    .allow('')
    .max(255)
    .pattern(/^[A-Za-z0-9.:_[\]-]*$/, 'host');

const InboundsReply = shape({
  loop: bool(),
  digest: text().max(64),
  offered: list(
    shape({
      id: id(),
      tag: text().max(128),
      originGuid: guid(),
      originAddress: address(),
      value: openObject(),
      fallbacks: list(openObject()).max(100),
      up: count(),
      down: count(),
      managedBy: guid(),
    }).unknown(true),
  ).max(10_000),
  own: list(shape({ id: id(), localId: id(), originAddress: address() }).unknown(true)).max(10_000),
}).unknown(true);
const ClientsReply = shape({
  clients: list(
    shape({
      id: id(),
      recordId: count(),
      value: openObject(),
      inboundIds: list(id()).max(10_000),
      credentials: list(openObject()).max(1_000),
      up: count(),
      down: count(),
      lastOnline: count(),
      lastSubFetch: count(),
      resetCount: count(),
      managedBy: guid(),
    }).unknown(true),
  ).max(1_000),
  next: count(),
}).unknown(true);

export interface Offered {
  readonly loop: boolean;
  readonly digest: string;
  readonly offered: readonly OfferedInbound[];
  readonly own: readonly OwnInbound[];
}

export class OffersOfNodes {
  readonly #nodes: NodesApi;
  readonly #identity: PanelIdentityApi;

  constructor({ nodes, identity }: { nodes: NodesApi; identity: PanelIdentityApi }) {
    this.#nodes = nodes;
    this.#identity = identity;
  }

  async inbounds(nodeId: number): Promise<Offered> {
    return checked<Offered>(InboundsReply, await this.#get(nodeId, '', {}));
  }

  async clients(
    nodeId: number,
    inbound: number,
    after: number,
  ): Promise<{ clients: readonly OfferedClient[]; next: number }> {
    return checked(
      ClientsReply,
      await this.#get(nodeId, '/clients', { inbound: String(inbound), after: String(after) }),
    );
  }

  /** The node forgets what it knows of this panel; what it has stays there, and nobody manages it. */
  async releaseAll(nodeId: number): Promise<void> {
    await this.#nodes.call(nodeId, 'panel/api/x/node/leave', {
      method: 'POST',
      json: { central: this.#identity.guid },
      timeoutMs: CALL_MS,
    });
  }

  async #get(nodeId: number, path: string, given: Readonly<Record<string, string>>): Promise<unknown> {
    const query = new URLSearchParams({ central: this.#identity.guid, ...given });
    return (await this.#nodes.call(nodeId, `${OFFERS}${path}?${query}`, { timeoutMs: CALL_MS })).obj;
  }
}
