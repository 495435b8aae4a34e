// After a restart that failed: the ports that the panel had. Those of the settings may be what keeps it from starting.
import { definePlugin, KERNEL_API, type Plugin } from '../kernel/plugin/define.js';
import { Listeners } from '../kernel/http/listeners.js';

export interface Place {
  readonly name: string;
  readonly port: number;
}

/** A plugin that must start after all that declare listeners. */
export const previousPorts = (places: readonly Place[]): Plugin =>
  definePlugin({
    name: 'previous-ports',
    version: '0.0.0',
    api: KERNEL_API,
    about: 'Keeps the ports from before a restart that failed, until the next restart.',
    uses: { listeners: Listeners },
    start: ({ listeners }) => {
      for (const { name, port } of places) listeners.setPort(name, port);
    },
  });
