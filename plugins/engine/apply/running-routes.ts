// Where the running core would send a connection, and its balancers by the tags that the config gives them.
import { OWN_TAG_PREFIX } from '../../core-guard/contract.js';
import type { BalancerState, CoreRoutesApi, FoundRoute, RouteQuestion } from '../contract.js';
import type { DriverRoutes, JsonObject } from '../driver.js';
import { plainBalancerTag } from '../config/routing-tags.js';
import type { Supervisor } from '../life/supervisor.js';
import { packetsOf, plainOutboundTag } from '../config/udp-outbounds.js';

type Needs = { supervisor: Pick<Supervisor, 'parts' | 'watched'> };
interface Routing {
  readonly balancers?: readonly { readonly tag: string }[];
}

export class RunningRoutes implements CoreRoutesApi {
  readonly #supervisor: Needs['supervisor'];

  constructor({ supervisor }: Needs) {
    this.#supervisor = supervisor;
  }

  async balancers(): Promise<ReadonlySet<string>> {
    const tags = [...(await this.#tags(true)).keys()];
    return new Set(tags.filter((tag) => !tag.startsWith(OWN_TAG_PREFIX)));
  }

  /** Tags in the core, by those of the config. */
  async #tags(planned = false): Promise<ReadonlyMap<string, string>> {
    const { applied, plan } = this.#supervisor.parts();
    // While a change waits for a restart, the core has the previous balancers.
    const base: JsonObject = (planned ? undefined : applied.base) ?? (await plan()).base;
    const { balancers = [] } = (base['routing'] ?? {}) as Routing;
    return new Map(balancers.map(({ tag }) => [plainBalancerTag(tag), tag]));
  }

  /** Undefined while no core runs, or none that answers. */
  get #core(): DriverRoutes | undefined {
    const { process, routes, state } = this.#supervisor.watched();
    return process && state.answers ? routes : undefined;
  }

  async route(question: RouteQuestion): Promise<FoundRoute | undefined> {
    const core = this.#core;
    if (!core) return undefined;
    const found = await core.route(question);
    if (!found) return { matched: false, outboundTag: '', isOwn: false, groupTags: [] };
    const outboundTag = plainOutboundTag(found.outboundTag);
    return {
      matched: true,
      outboundTag,
      isOwn: outboundTag.startsWith(OWN_TAG_PREFIX),
      groupTags: found.groupTags.map(plainBalancerTag),
    };
  }

  async balancer(tag: string): Promise<BalancerState | undefined> {
    const known = (await this.#tags()).get(tag);
    return known === undefined ? undefined : this.#core?.balancer(known);
  }

  /** Packets have a balancer of their own, and those of a freedom an outbound of their own. */
  async #overridePackets(core: DriverRoutes, tag: string, target: string): Promise<void> {
    const packets = (await this.#tags()).get(packetsOf(tag));
    if (packets === undefined) return;
    const { outbounds = [] } = (this.#supervisor.parts().applied.base ?? {}) as {
      readonly outbounds?: readonly JsonObject[];
    };
    const own = packetsOf(target);
    await core.override(packets, outbounds.some((outbound) => outbound['tag'] === own) ? own : target);
  }

  async override(tag: string, target: string): Promise<boolean> {
    const known = (await this.#tags()).get(tag);
    const core = this.#core;
    if (known === undefined || !core || !(await core.balancer(known))) return false;
    await core.override(known, target);
    await this.#overridePackets(core, tag, target);
    return true;
  }
}
