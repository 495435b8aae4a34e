// Gives a test the services of a plugin, for what no API shows: a projection, compared with a fresh load.
import type { Plugin } from '../../kernel/index.js';

/** The plugin, and its services once it has started. */
export interface Observed<S> {
  readonly plugin: Plugin;
  readonly services: S;
}

export function servicesOf<S extends object>(plugin: Plugin): Observed<S> {
  let services: S | undefined;
  return {
    plugin: {
      ...plugin,
      start: (scope) => {
        services = scope;
        return plugin.start(scope);
      },
    },
    get services() {
      if (!services) throw new Error(`the plugin ${plugin.name} has not started`);
      return services;
    },
  };
}
