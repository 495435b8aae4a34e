// What is news for a node of its clients on other machines, so that limits hold over all of them: from where those with a
// `limitIp` are connected, and which devices of those with a `limitHwid` fetched a subscription.
import type { Clock, Log } from '../../kernel/index.js';
import type { ClientAddressesApi, SeenAddress } from '../addresses/contract.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { DeviceChange, DevicesApi } from '../devices/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { NodeEntry, NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import { NodeNews } from './node-news.js';

/** Older addresses take no place. */
const LIVE_MS = 120_000;

interface Needs {
  readonly clock: Clock;
  readonly log: Log;
  readonly nodes: NodesApi;
  readonly identity: PanelIdentityApi;
  readonly clients: Pick<ClientsApi, 'byId'>;
  readonly inbounds: Pick<InboundsApi, 'get'>;
  readonly addresses: ClientAddressesApi | undefined;
  readonly devices: DevicesApi | undefined;
}

export class NewsOfClients {
  readonly #needs: Needs;
  readonly #addresses: NodeNews<SeenAddress>;
  readonly #devices: NodeNews<DeviceChange>;

  constructor({ clock, log, nodes, identity, clients, inbounds, addresses, devices }: Needs) {
    this.#needs = { clock, log, nodes, identity, clients, inbounds, addresses, devices };
    this.#addresses = new NodeNews(this.#needs, {
      path: 'panel/api/x/node/addresses',
      about: 'from where its clients are connected elsewhere',
      portion: 2_000,
      changes: (after, most) => {
        const changes = addresses?.changes(after, most);
        return changes && { ...changes, items: changes.seen };
      },
      told: (node, items) => this.#toldAddresses(node, items),
    });
    this.#devices = new NodeNews(this.#needs, {
      path: 'panel/api/x/node/devices',
      about: 'which devices its clients use elsewhere',
      portion: 500,
      changes: (after, most) => {
        const changes = devices?.changes(after, most);
        return changes && { ...changes, items: changes.devices };
      },
      told: (node, items) => this.#toldDevices(node, items),
    });
  }

  /** Tells a node what is new; never rejects. */
  async run(node: NodeEntry): Promise<void> {
    await Promise.all([this.#addresses.run(node), this.#devices.run(node)]);
  }

  forget(nodeId: number): void {
    this.#addresses.forget(nodeId);
    this.#devices.forget(nodeId);
  }

  #clientOn(node: NodeEntry, clientId: number): Readonly<ClientRow> | undefined {
    const { clients, inbounds } = this.#needs;
    const client = clients.byId(clientId);
    return client?.inboundIds.some((id) => inbounds.get(id)?.nodeId === node.id) ? client : undefined;
  }

  #toldAddresses(node: NodeEntry, items: readonly SeenAddress[]) {
    const { clock, nodes, identity } = this.#needs;
    const now = clock.now();
    const there = new Set([node.guid, ...nodes.below(node.id)]);
    const ago = (at: number): number => Math.max(0, Math.ceil(now - at));
    return items
      .filter(
        ({ panel, clientId, lastSeen }) =>
          !there.has(panel) && lastSeen > now - LIVE_MS && (this.#clientOn(node, clientId)?.limitIp ?? 0) > 0,
      )
      .map(({ clientId: id, panel, address: ip, lastSeen, since }) => ({
        id,
        ip,
        guid: panel || identity.guid,
        since: ago(since),
        seen: ago(lastSeen),
      }));
  }

  #toldDevices(node: NodeEntry, items: readonly DeviceChange[]) {
    const now = this.#needs.clock.now();
    return items
      .filter(({ clientId, isGone, source }) => {
        if (source === node.guid) return false;
        const client = this.#clientOn(node, clientId);
        return client !== undefined && (isGone || client.limitHwid > 0);
      })
      .map(({ clientId: id, at, hash, isGone, userAgent, deviceOs, osVersion, deviceModel }) => ({
        id,
        hash,
        isGone,
        seen: isGone ? 0 : Math.max(0, now - at),
        userAgent,
        deviceOs,
        osVersion,
        deviceModel,
      }));
  }
}
