// The interface of an inbound: addresses, MTU, state and routes, set by `ip` (iproute2).
import { existsSync } from 'node:fs';
import type { RunCommand } from '../processes/contract.js';
import { machineRoutes } from './machine-routes.js';
import { contains, isForPrivateUse, machineNetworks, overlap, ownNetworks } from './networks.js';
import { mtuOf, type ServerBlock, serverV6, subnetOf } from './server-block.js';

export const interfaceOf = (inboundId: number): string => `awg${inboundId}`;
export const isInterfaceOfOurs = (name: string): boolean => /^awg\d+$/.test(name);

export class Interface {
  readonly name: string;
  readonly #run: RunCommand;
  readonly #server: ServerBlock;

  constructor(inboundId: number, server: ServerBlock, run: RunCommand) {
    this.name = interfaceOf(inboundId);
    this.#run = run;
    this.#server = server;
  }

  /** Gives it addresses and MTU, and sets it up. Does nothing twice. */
  async setUp(): Promise<void> {
    const { address, length, network } = subnetOf(this.#server);
    const v6 = serverV6(this.#server);
    const taken = machineNetworks(isInterfaceOfOurs).find((one) =>
      ownNetworks(this.#server).some((own) => overlap(own, one)),
    );
    if (taken !== undefined)
      throw new Error(
        `this machine has the address ${taken}, which the networks of the tunnel (${network}${v6 ? `, ${v6}` : ''}) overlap; change server.subnetIp or server.ipv6Subnet`,
      );
    const route = machineRoutes(isInterfaceOfOurs).find((one) =>
      ownNetworks(this.#server).some((own) => contains(own, one)),
    );
    if (route !== undefined)
      throw new Error(
        `this machine has a route to ${route}, which lies in the networks of the tunnel (${network}${v6 ? `, ${v6}` : ''}); change server.subnetIp or server.ipv6Subnet`,
      );
    await this.#batch([
      `address replace ${address}/${length} dev ${this.name}`,
      ...(v6 ? [`address replace ${v6} dev ${this.name} nodad`] : []),
      `link set dev ${this.name} mtu ${mtuOf(this.#server)} up`,
    ]);
  }

  /** Which of these networks of clients need a route, because they are outside of the inbound's own. */
  routed(prefixes: readonly string[]): { readonly routes: string[]; readonly refused: string[] } {
    const own = ownNetworks(this.#server);
    const outside = prefixes.filter((prefix) => !own.some((network) => contains(network, prefix)));
    if (outside.length === 0) return { routes: [], refused: [] };
    const isOwn = (name: string): boolean => name === this.name;
    const here = [...machineNetworks(isOwn), ...machineRoutes(isOwn)];
    const mayRoute = (prefix: string): boolean =>
      isForPrivateUse(prefix) && !here.some((one) => overlap(one, prefix));
    return { routes: outside.filter(mayRoute), refused: outside.filter((prefix) => !mayRoute(prefix)) };
  }

  async route(add: readonly string[], remove: readonly string[]): Promise<void> {
    await this.#batch(add.map((prefix) => `route replace ${prefix} dev ${this.name}`));
    // A route that is gone already is no failure, and does not keep the others.
    await this.#batch(
      remove.map((prefix) => `route del ${prefix} dev ${this.name}`),
      ['-force'],
    ).catch(() => {});
  }

  /** Lets nothing pass any more; nothing to do where there is no such interface. */
  async setDown(): Promise<void> {
    if (existsSync(`/sys/class/net/${this.name}`)) await this.#batch([`link set dev ${this.name} down`]);
  }

  async #batch(lines: readonly string[], options: readonly string[] = []): Promise<void> {
    if (lines.length > 0) await this.#run('ip', [...options, '-batch', '-'], `${lines.join('\n')}\n`);
  }
}
