// The way of all calls by the outbound of the setting, and of single calls by the one that they name.
import type { LiveSettings, Log } from '../../kernel/index.js';
import type { CorePart, EngineApi } from '../engine/contract.js';
import type { LocalProxy, WayOut } from '../outgoing/contract.js';
import { CoreInbound, findPort } from './core-inbound.js';
import type { panelOutboundSettings } from './index.js';
import type { WaysByTag } from './ways-by-tag.js';

interface Needs {
  readonly engine: EngineApi;
  readonly settings: LiveSettings<typeof panelOutboundSettings>;
  readonly log: Log;
  readonly byTag: WaysByTag;
}

export class WayThroughCore implements WayOut {
  readonly #engine: Pick<EngineApi, 'status'>;
  readonly #settings: LiveSettings<typeof panelOutboundSettings>;
  readonly #log: Log;
  readonly #byTag: WaysByTag;
  #inbound: CoreInbound | undefined;
  #wasDirect = false;

  constructor({ engine, settings, log, byTag }: Needs) {
    this.#engine = engine;
    this.#settings = settings;
    this.#log = log;
    this.#byTag = byTag;
  }

  async start(): Promise<void> {
    this.#inbound = new CoreInbound(0, await findPort());
  }

  /** What the core needs for it; nothing while no call leaves by an outbound. */
  parts(): CorePart[] {
    const { panelOutbound: outboundTag } = this.#settings.read();
    const own = outboundTag === '' ? [] : (this.#inbound?.parts(outboundTag) ?? []);
    return [...own, ...this.#byTag.parts()];
  }

  proxy(): LocalProxy | undefined {
    const { panelOutbound } = this.#settings.read();
    if (panelOutbound === '') return undefined;
    const isDirect = this.#engine.status().state !== 'running';
    if (isDirect !== this.#wasDirect)
      this.#log.warn(
        isDirect
          ? 'the core does not run, so the panel calls other machines directly'
          : 'the panel calls other machines through its outbound again',
        { panelOutbound },
      );
    this.#wasDirect = isDirect;
    return isDirect ? undefined : this.#inbound?.proxy;
  }

  through(outboundTag: string): Promise<LocalProxy> {
    return this.#byTag.through(outboundTag);
  }
}
