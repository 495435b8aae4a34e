// Bytes that outbounds moved since the last poll, from the plugins that count them.
import type { PluginContext } from '../../kernel/index.js';
import { type OutboundBytes, OutboundSources } from './contract.js';

export class OutboundBytesTaken {
  readonly #contributions: PluginContext['contributions'];

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  take(): OutboundBytes[] {
    return this.#contributions(OutboundSources).flatMap(({ value, fault }) => {
      try {
        return value.take().map(({ tag, up, down }) => ({ tag, up, down }));
      } catch (error) {
        fault('bytes of outbounds', error);
        return [];
      }
    });
  }
}
