// Starts and stops plugins: how long each may take, and what is logged for a slow one.
import type { Log } from '../log/log.js';
import type { PluginContext } from './define.js';
import { attributeErrors } from './error.js';
import type { PluginInstance } from './instance.js';
import { withTimeout } from '../../timing/with-timeout.js';
import type { Limits } from './limits.js';

/** How long a stop waits for the events of one plugin, and for its own stop. `panel/main.ts` limits the whole stop. */
const EVENTS_LIMIT_MS = 1_000;
const STOP_LIMIT_MS = { essential: 8_000, other: 2_000 };

/** Rejects with a PluginError when the start fails or takes longer than its limit. `level` is the log level of the line about a slow start. */
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
    await attributeErrors(plugin, 'did not start', () =>
      withTimeout(limit, 'its start', async () => {
        await (instance.scope as PluginContext).db.loadProjections();
        await plugin.start(instance.scope);
      }),
    );
  } finally {
    clearTimeout(notice);
  }
}

/** Gives each plugin a moment for its events and its clean-up; a slow one cannot delay the others. */
export async function stopPlugin(instance: PluginInstance): Promise<void> {
  const fault = (error: unknown) => instance.fault('stop', error);
  await withTimeout(EVENTS_LIMIT_MS, 'the events', () => instance.queue.settled()).catch(fault);
  const limit = STOP_LIMIT_MS[instance.essential ? 'essential' : 'other'];
  await withTimeout(limit, 'its stop', async () => instance.plugin.stop(instance.scope)).catch(fault);
  if (instance.state !== 'failed') instance.state = 'stopped';
}

/** Stops third-party plugins first, all at once: even if many of them hang, the others and the database stop in order. */
export async function stopPlugins(instances: readonly PluginInstance[]): Promise<void> {
  // A plugin that failed while the panel ran is already stopped.
  const left = instances.filter(({ state }) => state !== 'failed');
  await Promise.all(left.filter(({ outside }) => outside).map(stopPlugin));
  for (const instance of left.filter(({ outside }) => !outside).reverse()) await stopPlugin(instance);
}
