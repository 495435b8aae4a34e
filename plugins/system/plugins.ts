// The plugins of the panel in the API.
import { bool, list, oneOf, type PluginsApi, shape, type Static, text } from '../../kernel/index.js';
import type { PanelProgramApi } from './contract.js';

const PluginEntry = shape({
  name: text(),
  version: text().description('version that runs, or should run; empty when unknown'),
  waiting: text().description('version that a restart would run; empty when nothing waits for a restart'),
  about: text(),
  outside: bool().description('third-party, not built in'),
  state: oneOf(
    'built',
    'starting',
    'running',
    'faulty',
    'stopped',
    'failed',
    'switching',
    'waiting',
  ).description(
    'starting: not called yet; failed: left out at the start, or enabling it failed; faulty: switched off after repeated faults; switching: the panel restarts to enable or disable it; waiting: added since the panel started',
  ),
  reason: text().description(
    'why it does not run, was not disabled, or waits for a restart, with the fix; for a running plugin, which part of its work is left out and why; empty without problems',
  ),
});
export const PluginList = list(PluginEntry);

/** The enabled plugins, and those whose change is under way or failed. */
export async function pluginList(
  plugins: PluginsApi,
  program: PanelProgramApi | undefined,
): Promise<Static<typeof PluginList>> {
  const states = plugins.list();
  const listed = program ? await program.listed(states) : states.map((state) => ({ ...state, waiting: '' }));
  const entries = new Map<string, Static<typeof PluginEntry>>(listed.map((plugin) => [plugin.name, plugin]));
  for (const { name, enable, problem } of program?.switches() ?? []) {
    const entry = entries.get(name) ?? {
      name,
      version: '',
      waiting: '',
      about: '',
      outside: false,
      state: 'failed',
      reason: '',
    };
    if (problem === '')
      entries.set(name, {
        ...entry,
        state: 'switching',
        reason: `the panel restarts to ${enable ? 'enable' : 'disable'} it`,
      });
    else entries.set(name, { ...entry, reason: problem });
  }
  return [...entries.values()];
}
