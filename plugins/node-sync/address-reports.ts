// Tells nodes from where their clients with a `limitIp` are connected to other machines, so that a limit holds over all of
// them. A node that hears nothing goes on alone: what it was told counts for two minutes.
import { type Clock, type Log, messageOf } from '../../kernel/index.js';
import type { ClientAddressesApi, SeenAddress } from '../addresses/contract.js';
import type { ClientsApi } from '../clients/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { NodeEntry, NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';

const ADDRESSES = 'panel/api/x/node/addresses';
/** Older ones take no place. */
const LIVE_MS = 120_000;
/** Changes that are looked at, and addresses of one call. */
const PORTION = 2_000;
/** Portions of one poll; others come with the next. */
const MOST_PORTIONS = 10;

export class AddressReports {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #nodes: NodesApi;
  readonly #identity: PanelIdentityApi;
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #inbounds: Pick<InboundsApi, 'get'>;
  readonly #addresses: ClientAddressesApi | undefined;
  /** by node: what it was told up to, and the guid of the panel there */
  readonly #told = new Map<number, { readonly guid: string; readonly seq: number }>();
  readonly #running = new Set<number>();
  readonly #failing = new Set<number>();

  constructor(needs: {
    clock: Clock;
    log: Log;
    nodes: NodesApi;
    identity: PanelIdentityApi;
    clients: Pick<ClientsApi, 'byId'>;
    inbounds: Pick<InboundsApi, 'get'>;
    addresses: ClientAddressesApi | undefined;
  }) {
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#nodes = needs.nodes;
    this.#identity = needs.identity;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#addresses = needs.addresses;
  }

  /** Tells a node what is new; never rejects. One call at a time: while one runs, another does nothing. */
  async run(node: NodeEntry): Promise<void> {
    if (!this.#addresses || this.#running.has(node.id)) return;
    this.#running.add(node.id);
    try {
      await this.#portions(node, this.#addresses);
      this.#failing.delete(node.id);
    } catch (error) {
      if (!this.#failing.has(node.id))
        this.#log.warn(
          'a node was not told from where its clients are connected elsewhere; it is tried again',
          {
            node: node.name,
            problem: messageOf(error),
          },
        );
      this.#failing.add(node.id);
    } finally {
      this.#running.delete(node.id);
    }
  }

  async #portions(node: NodeEntry, addresses: ClientAddressesApi): Promise<void> {
    const known = this.#told.get(node.id);
    let after = known?.guid === node.guid ? known.seq : 0;
    const there = new Set([node.guid, ...this.#nodes.below(node.id)]);
    for (let portion = 0; portion < MOST_PORTIONS; portion++) {
      const { seq, seen, more } = addresses.changes(after, PORTION);
      const news = seen.filter((one) => !there.has(one.panel) && this.#concerns(one, node.id));
      if (news.length > 0) await this.#send(node.id, news);
      after = seq;
      this.#told.set(node.id, { guid: node.guid, seq });
      if (!more) return;
    }
  }

  #concerns({ clientId, lastSeen }: SeenAddress, nodeId: number): boolean {
    if (lastSeen <= this.#clock.now() - LIVE_MS) return false;
    const client = this.#clients.byId(clientId);
    return (
      client !== undefined &&
      client.limitIp > 0 &&
      client.inboundIds.some((id) => this.#inbounds.get(id)?.nodeId === nodeId)
    );
  }

  async #send(nodeId: number, seen: readonly SeenAddress[]): Promise<void> {
    const now = this.#clock.now();
    const ago = (at: number): number => Math.max(0, Math.ceil(now - at));
    await this.#nodes.call(nodeId, ADDRESSES, {
      method: 'POST',
      json: {
        central: this.#identity.guid,
        seen: seen.map(({ clientId: id, panel, address: ip, lastSeen, since }) => ({
          id,
          ip,
          guid: panel || this.#identity.guid,
          since: ago(since),
          seen: ago(lastSeen),
        })),
      },
    });
  }

  forget(nodeId: number): void {
    this.#told.delete(nodeId);
  }
}
