// Ways of single calls, each by the outbound that the call names: an inbound of the core for each tag in use.
import { type Clock, messageOf } from '../../kernel/index.js';
import type { CoreOutboundsApi, CorePart, EngineApi } from '../engine/contract.js';
import type { LocalProxy } from '../outgoing/contract.js';
import { CoreInbound, findPort } from './core-inbound.js';

const MOST_TAGS = 64;
const IDLE_MS = 30 * 60_000;

interface Way {
  readonly number: number;
  readonly inbound: CoreInbound;
  /** resolves when the core has it */
  readonly ready: Promise<unknown>;
  usedAt: number;
}
interface Needs {
  readonly engine: EngineApi;
  readonly coreOutbounds: CoreOutboundsApi;
  readonly clock: Clock;
}

export class WaysByTag {
  readonly #needs: Needs;
  readonly #ways = new Map<string, Way>();
  readonly #starting = new Map<string, Promise<Way>>();

  constructor({ engine, coreOutbounds, clock }: Needs) {
    this.#needs = { engine, coreOutbounds, clock };
  }

  parts(): CorePart[] {
    return [...this.#ways].flatMap(([tag, { inbound }]) => inbound.parts(tag));
  }

  async through(tag: string): Promise<LocalProxy> {
    const { engine, clock } = this.#needs;
    if (engine.status().state !== 'running')
      throw new Error(`the core does not run, so nothing can leave by the outbound ${JSON.stringify(tag)}`);
    const known = this.#ways.get(tag);
    if (known) {
      known.usedAt = clock.now();
      await known.ready;
      return known.inbound.proxy;
    }
    const starting = this.#starting.get(tag) ?? this.#start(tag);
    this.#starting.set(tag, starting);
    try {
      return (await starting).inbound.proxy;
    } finally {
      this.#starting.delete(tag);
    }
  }

  async #start(tag: string): Promise<Way> {
    const { engine, coreOutbounds, clock } = this.#needs;
    const tags = await coreOutbounds.tags();
    if (!tags.has(tag)) throw new Error(`there is no outbound ${JSON.stringify(tag)}`);
    if (this.#ways.size >= MOST_TAGS)
      throw new Error(`calls leave by ${MOST_TAGS} outbounds already; let nodes share some`);
    const port = await findPort();
    const taken = new Set([...this.#ways.values()].map(({ number }) => number));
    let number = 1;
    while (taken.has(number)) number++;
    let done: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => (done = resolve));
    const way = { number, inbound: new CoreInbound(number, port), ready, usedAt: clock.now() };
    this.#ways.set(tag, way);
    try {
      await engine.reconcileConfig();
    } catch (error) {
      this.#ways.delete(tag);
      throw new Error(`the core did not take the way by ${JSON.stringify(tag)}: ${messageOf(error)}`);
    } finally {
      done();
    }
    return way;
  }

  /** Removes ways that no call has used for half an hour. */
  async sweep(): Promise<void> {
    const now = this.#needs.clock.now();
    const idle = [...this.#ways].filter(([, { usedAt }]) => now - usedAt > IDLE_MS);
    for (const [tag] of idle) this.#ways.delete(tag);
    if (idle.length > 0) await this.#needs.engine.reconcileConfig();
  }
}
