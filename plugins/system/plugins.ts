// The plugins of the panel, as the API shows them.
import { bool, list, oneOf, type PluginsApi, shape, type Static, text } from '../../kernel/index.js';
import type { PanelProgramApi } from './contract.js';

const PluginEntry = shape({
  name: text(),
  version: text().description('that runs, or was to run; empty when not even that is known'),
  waiting: text().description('the version that waits for a restart; empty when none does'),
  about: text(),
  outside: bool().description('not of this tree'),
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
    'starting: not called yet; failed: left out at the start, or a switch that failed; faulty: closed after repeated faults; switching: the panel restarts to switch it on or off; waiting: added since the panel started',
  ),
  reason: text().description(
    'why it does not run, or was not switched off, or waits for a restart, with the way out; of one that runs, which part of its work is left out and why; empty while all is well',
  ),
});
export const PluginList = list(PluginEntry);

/** Those that are on, and those whose switch is under way or failed. */
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
        reason: `the panel restarts to switch it ${enable ? 'on' : 'off'}`,
      });
    else entries.set(name, { ...entry, reason: problem });
  }
  return [...entries.values()];
}
