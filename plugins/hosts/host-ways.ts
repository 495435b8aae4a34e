// The ways that hosts add to subscriptions, and word of their changes for those who have a copy.
import type { Add } from '../../kernel/index.js';
import type { EntryTemplate, Inbound, InboundsApi } from '../inbounds/contract.js';
import type { LiveOutput } from '../realtime/contract.js';
import type { Way, WayOutput } from '../subscription/contract.js';
import type { HostChange } from './contract.js';
import { externalProxies } from './external-proxy.js';
import type { HostStore } from './host-store.js';
import { wayFor } from './way.js';

export class HostWays {
  readonly #store: HostStore;
  readonly #inbounds: Pick<InboundsApi, 'placeOf'>;
  /** undefined while no plugin serves subscriptions, or none sends live messages */
  output: WayOutput | undefined;
  live: LiveOutput | undefined;
  /** false until the start, when all hosts are in memory */
  ready = false;

  constructor({ store, inbounds }: { store: HostStore; inbounds: Pick<InboundsApi, 'placeOf'> }) {
    this.#store = store;
    this.#inbounds = inbounds;
  }

  /** Hosts take the place of an external proxy. Those for other machines (`nodeGuids`) are as if they were not there. */
  add(add: Add<Way>, { inbound, entry }: { readonly inbound: Inbound; readonly entry: EntryTemplate }): void {
    if (!this.ready) return;
    const { guid } = this.#inbounds.placeOf(inbound);
    const rows = this.#store
      .enabledIn(inbound.id)
      .filter(({ fields: { nodeGuids } }) => nodeGuids.length === 0 || nodeGuids.includes(guid));
    const hosts = rows.length > 0 ? rows : externalProxies(inbound.streamSettings).hosts;
    for (const host of hosts) add(wayFor(entry, host));
  }

  async changed(changes: readonly HostChange[]): Promise<void> {
    const ids = changes.flatMap(({ before, after }) =>
      [...(before?.rows ?? []), ...(after?.rows ?? [])].map(({ inboundId }) => inboundId),
    );
    await this.output?.recompose(new Set(ids));
    this.invalidate();
  }

  invalidate(): void {
    this.live?.invalidate('hosts');
  }
  formats(): readonly string[] {
    return this.output?.formats() ?? [];
  }
}
