// The end of plugins: each gets a moment for its events and for its own clean-up, and none can keep the others.
import type { PluginInstance } from './instance.js';
import { within } from './within.js';

/** How long a stop waits for the events of one plugin, and for its own end; in all less than those allow who stop the panel. */
const EVENTS_LIMIT_MS = 1_000;
const STOP_LIMIT_MS = { essential: 8_000, other: 2_000 };

export async function stopPlugin(instance: PluginInstance): Promise<void> {
  const fault = (error: unknown) => instance.fault('stop', error);
  await within(EVENTS_LIMIT_MS, 'the events', () => instance.queue.settled()).catch(fault);
  const limit = STOP_LIMIT_MS[instance.essential ? 'essential' : 'other'];
  await within(limit, 'its stop', async () => instance.plugin.stop(instance.scope)).catch(fault);
  await instance.dispose();
}

/** Those from outside first, all at once: however many of them hang, the others and the database come to an orderly end. */
export async function stopPlugins(instances: readonly PluginInstance[]): Promise<void> {
  // One that failed beside a panel at work has been stopped already.
  const left = instances.filter(({ state }) => state !== 'failed');
  await Promise.all(left.filter(({ outside }) => outside).map(stopPlugin));
  for (const instance of left.filter(({ outside }) => !outside).reverse()) await stopPlugin(instance);
}
