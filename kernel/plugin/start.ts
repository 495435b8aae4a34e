// The start of one plugin: how long it may take, and when the log says that it takes long.
import type { Log } from '../log/log.js';
import type { PluginInstance } from './instance.js';
import { blame } from './left-out.js';
import { type Limits, within } from './within.js';

/** Rejects with a PluginError when the start fails, or takes longer than its limit. `level` is that of the line which says that it takes long. */
export async function startPlugin(
  instance: PluginInstance,
  limits: Limits,
  log: Log,
  level: 'warn' | 'error' = 'warn',
): Promise<void> {
  const { name, plugin, essential } = instance;
  const limit = limits[essential ? 'essentialStart' : 'start'];
  const notice = setTimeout(
    () =>
      log[level]('a plugin is still starting', {
        plugin: name,
        ms: limits.slowStart,
        ...(!essential && { givenUpAfterMs: limit }),
      }),
    limits.slowStart,
  );
  try {
    await blame(plugin, 'did not start', () =>
      within(limit, 'its start', async () => plugin.start(instance.scope)),
    );
  } finally {
    clearTimeout(notice);
  }
}
