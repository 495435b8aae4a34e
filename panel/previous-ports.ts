// After a restart that failed: where the panel listened. What the settings say may be what keeps it from starting.
import { definePlugin, KERNEL_API, type Plugin } from '../kernel/plugin/define.js';
import { Listeners } from '../kernel/http/listeners.js';

export interface Place {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** A plugin that must start after all that declare listeners. */
export const previousPorts = (places: readonly Place[]): Plugin =>
  definePlugin({
    name: 'previous-ports',
    version: '0.0.0',
    api: KERNEL_API,
    about: 'Keeps addresses and ports from before a restart that failed, until the next restart.',
    uses: { listeners: Listeners },
    start: ({ listeners }) => {
      for (const { name, port, host } of places) listeners.setPort(name, port, host);
    },
  });
