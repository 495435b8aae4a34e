// Brings an edit of inbounds to the core: while it runs, or by a restart where it does not let go of an inbound.
import { messageOf, type Log } from '../../kernel/index.js';
import { type Applied, DONE, type EngineApi } from '../engine/contract.js';
import { coreInbound } from './core-inbound.js';
import type { Inbound } from './fields.js';
import type { KnownProtocols } from './contributed/known-protocols.js';
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

  /** Call it after the commit, with the inbounds as they were before. Never rejects. */
  async apply(before: readonly Inbound[]): Promise<Applied> {
    const held = before.find((inbound) => this.#isHeld(inbound));
    if (!held || this.#engine.status().state !== 'running') return this.#engine.reconcileConfig();
    try {
      await this.#engine.restart(`the core lets go of ${held.tag} only when it restarts`);
      return DONE;
    } catch (error) {
      this.#log.warn('the core could not be restarted for an inbound', {
        tag: held.tag,
        reason: messageOf(error),
      });
      return this.#engine.reconcileConfig();
    }
  }

  /** Whether the running core has it in a form that it must lose now. */
  #isHeld(before: Inbound): boolean {
    const protocol = this.#protocols.get(before.protocol);
    if (!before.enable || protocol?.restarts !== true) return false;
    const after = this.#store.get(before.id);
    if (!after?.enable || after.protocol !== before.protocol) return true;
    return JSON.stringify(coreInbound(before, protocol)) !== JSON.stringify(coreInbound(after, protocol));
  }
}
