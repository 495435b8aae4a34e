// The protocols that inbounds can speak, ours and those of other plugins.
import type { Contributed, PluginContext } from '../../../kernel/index.js';
import { guardedProtocol } from './guarded-protocol.js';
import { type Protocol, Protocols } from '../contract.js';

export class KnownProtocols {
  readonly #contributions: PluginContext['contributions'];
  #byName: ReadonlyMap<string, Contributed<Protocol>> | undefined;

  constructor({ contributions }: Pick<PluginContext, 'contributions'>) {
    this.#contributions = contributions;
  }

  /** At its first use all plugins are built, and nothing is added any more. */
  #all(): ReadonlyMap<string, Contributed<Protocol>> {
    this.#byName ??= new Map(
      this.#contributions(Protocols).map((entry) => [
        entry.value.name,
        // Every fetch of a subscription calls ours: they are called directly.
        entry.plugin === 'inbounds' ? entry : { ...entry, value: guardedProtocol(entry) },
      ]),
    );
    return this.#byName;
  }

  get(name: string): Protocol | undefined {
    return this.#all().get(name)?.value;
  }
  /** The plugin that brings this protocol; empty when there is none. */
  pluginOf(name: string): string {
    return this.#all().get(name)?.plugin ?? '';
  }
  names(): string[] {
    return [...this.#all().keys()];
  }
}
