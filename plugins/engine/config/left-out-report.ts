// Reports which parts of third-party plugins do not run, and why: `weir plugins` and the API show it.
import type { PluginsApi } from '../../../kernel/index.js';

export interface LeftOut {
  readonly plugin: string;
  readonly reason: string;
}

/** Returns the reasons by plugin. */
export const reasonsByPlugin = (parts: readonly LeftOut[]): ReadonlyMap<string, string> => {
  const reasons = new Map<string, string>();
  for (const { plugin, reason } of parts)
    reasons.set(plugin, [reasons.get(plugin) ?? [], reason].flat().join('; '));
  return reasons;
};

export class LeftOutReport {
  readonly #plugins: Pick<PluginsApi, 'leaveOut'>;
  /** plugins that are reported now, by label */
  readonly #reported = new Map<string, ReadonlySet<string>>();

  constructor(plugins: Pick<PluginsApi, 'leaveOut'>) {
    this.#plugins = plugins;
  }

  /** Replaces what was reported under this label. */
  replace(label: string, reasons: ReadonlyMap<string, string>): void {
    for (const plugin of this.#reported.get(label) ?? [])
      if (!reasons.has(plugin)) this.#plugins.leaveOut(plugin, label, '');
    for (const [plugin, reason] of reasons) this.#plugins.leaveOut(plugin, label, reason);
    this.#reported.set(label, new Set(reasons.keys()));
  }
}
