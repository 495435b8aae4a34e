// Brings an edit of inbounds to the core: while it runs, or by a restart where it does not let go of an inbound. Of
// inbounds of other machines, the core learns nothing.
import { messageOf, type Log } from '../../kernel/index.js';
import { type Applied, DONE, type EngineApi } from '../engine/contract.js';
import { coreInbound } from './core-inbound.js';
import type { Inbound } from './fields.js';
import type { KnownProtocols } from './contributed/known-protocols.js';
import { runsHere } from './places/places.js';
import type { InboundStore } from './store.js';

export class CoreEdits {
  readonly #engine: EngineApi;
  readonly #protocols: KnownProtocols;
  readonly #store: InboundStore;
  readonly #log: Log;

  constructor(needs: { engine: EngineApi; protocols: KnownProtocols; store: InboundStore; log: Log }) {
    this.#engine = needs.engine;
    this.#protocols = needs.protocols;
    this.#store = needs.store;
    this.#log = needs.log;
  }

  /** Call it after the commit, with the inbounds as they were before, and with the ids of new ones. Never rejects. */
  async apply(before: readonly Inbound[], added: readonly number[] = []): Promise<Applied> {
    const held = before.find((inbound) => this.#isHeld(inbound));
    if (!held || this.#engine.status().state !== 'running') return this.follow(before, added);
    try {
      await this.#engine.restart(`the core lets go of ${held.tag} only when it restarts`);
      return this.#after(before, added).every(runsHere) ? DONE : this.#engine.reconcileConfig('elsewhere');
    } catch (error) {
      this.#log.warn('the core could not be restarted for an inbound', {
        tag: held.tag,
        reason: messageOf(error),
      });
      return this.#engine.reconcileConfig();
    }
  }

  /** The same without a restart. */
  follow(before: readonly Inbound[], added: readonly number[] = []): Promise<Applied> {
    const all = [...before, ...this.#after(before, added)];
    const isElsewhere = all.length > 0 && !all.some(runsHere);
    return this.#engine.reconcileConfig(isElsewhere ? 'elsewhere' : undefined);
  }

  #after(before: readonly Inbound[], added: readonly number[]): Inbound[] {
    return [...before.map(({ id }) => id), ...added].flatMap((id) => this.#store.get(id) ?? []);
  }

  /** Whether the running core has it in a form that it must lose now. */
  #isHeld(before: Inbound): boolean {
    const protocol = this.#protocols.get(before.protocol);
    if (!runsHere(before) || !before.enable || protocol?.restarts !== true) return false;
    const after = this.#store.get(before.id);
    if (!after?.enable || !runsHere(after) || after.protocol !== before.protocol) return true;
    return JSON.stringify(coreInbound(before, protocol)) !== JSON.stringify(coreInbound(after, protocol));
  }
}
