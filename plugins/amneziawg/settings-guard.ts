// Refuses server blocks with which the program could not run, and gives a new inbound a network that is free.
import { kernelErrors, type Issue } from '../../kernel/index.js';
import { type Inbound, type InboundsApi, isSamePlace } from '../inbounds/contract.js';
import { isInterfaceOfOurs } from './interface.js';
import { machineRoutes } from './machine-routes.js';
import { machineNetworks, ownNetworks } from './networks.js';
import { serverOf } from './server-block.js';
import { freeSubnet, type OtherInbound, settingsProblem, sharingNetwork } from './settings-check.js';

const PROTOCOL = 'amneziawg';

const refusal = ({ path, message }: Issue) => kernelErrors.INVALID(`${path}: ${message}`, { path });

export class SettingsGuard {
  readonly #inbounds: InboundsApi;

  constructor({ allInbounds }: { allInbounds: InboundsApi }) {
    this.#inbounds = allInbounds;
  }

  /** Those on the same machine. */
  #others(wanted: Parameters<InboundsApi['beside']>[0]): OtherInbound[] {
    return this.#inbounds
      .beside(wanted)
      .filter((inbound) => inbound.protocol === PROTOCOL)
      .map((inbound) => ({ id: inbound.id, server: serverOf(inbound) }));
  }

  /** Throws for a block that cannot run. One that is stored already may be saved again: an older rule let it in. */
  check(before: Inbound | undefined, after: Omit<Inbound, 'id'>): void {
    if (after.protocol !== PROTOCOL) return;
    const server = serverOf(after);
    const isSame = before && JSON.stringify(serverOf(before)) === JSON.stringify(server);
    if (isSame && before.protocol === PROTOCOL && isSamePlace(before, after)) return;
    const problem = settingsProblem(server);
    if (problem) throw refusal(problem);
    const other = sharingNetwork(server, this.#others({ ...after, ...(before && { id: before.id }) }));
    if (other)
      throw refusal({
        path: 'settings.server.subnetIp',
        message: `inbound ${other.id} has an overlapping network (${ownNetworks(other.server).join(', ')}); choose another`,
      });
  }

  /** Returns settings with a free network where none was sent; undefined where there is nothing to fill in. */
  completed(
    sent: { readonly protocol?: unknown; readonly settings?: unknown; readonly nodeId?: number | null },
    before: Inbound | undefined,
  ): Record<string, unknown> | undefined {
    if (sent.protocol !== PROTOCOL || before?.protocol === PROTOCOL) return undefined;
    const settings = sent.settings ?? {};
    if (typeof settings !== 'object' || Array.isArray(settings)) return undefined;
    const { server = {} } = settings as { server?: unknown };
    if (typeof server !== 'object' || server === null || Array.isArray(server)) return undefined;
    const block = server as Record<string, unknown>;
    // What is not a text is for the schema to refuse.
    const { subnetIp: sentIp = '' } = block;
    if (sentIp !== '') return undefined;
    const taken = [
      ...this.#others({ nodeId: sent.nodeId ?? null, ...before }).flatMap((other) =>
        ownNetworks(other.server),
      ),
      ...machineNetworks(isInterfaceOfOurs),
      ...machineRoutes(isInterfaceOfOurs),
    ];
    const subnetIp = freeSubnet(taken);
    if (subnetIp === undefined) return undefined;
    return { ...settings, server: { subnetCidr: 24, ...block, subnetIp } };
  }
}
