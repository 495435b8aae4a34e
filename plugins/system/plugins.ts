// The plugins of the panel, as the API shows them.
import { bool, list, oneOf, type PluginsApi, shape, type Static, text } from '../../kernel/index.js';
import type { PanelProgramApi } from './contract.js';

const PluginEntry = shape({
  name: text(),
  version: text().description('empty when not even that is known'),
  about: text(),
  outside: bool().description('not of this tree'),
  state: oneOf('built', 'running', 'faulty', 'stopped', 'failed', 'switching').description(
    'failed: left out at the start, or a switch that failed; faulty: closed after repeated faults; switching: the panel restarts to switch it on or off',
  ),
  reason: text().description(
    'why it does not run, or was not switched off, with the way out; of one that runs, which part of its work is left out and why; empty while all is well',
  ),
});
export const PluginList = list(PluginEntry);

/** Those that are on, and those whose switch is under way or failed. */
export function pluginList(
  plugins: PluginsApi,
  program: PanelProgramApi | undefined,
): Static<typeof PluginList> {
  const entries = new Map(
    plugins.list().map((plugin) => [plugin.name, { ...plugin }] as [string, Static<typeof PluginEntry>]),
  );
  for (const { name, enable, problem } of program?.switches() ?? []) {
    const entry = entries.get(name) ?? {
      name,
      version: '',
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
