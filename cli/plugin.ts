// `weir plugin add` and `weir plugin remove`: plugins from outside, in the data folder and in the config file.
import { messageOf } from '../kernel/errors/errors.js';
import { optional, word } from '../schema/shape.js';
import { addPlugin } from '../panel/add-plugin.js';
import { removePlugin } from '../panel/remove-plugin.js';
import { didYouMean } from '../schema/suggest.js';
import { own } from './own.js';

const NEXT_START = 'from the next start of the panel on';
/** Node reads the code of a module once. */
const NEXT_PROCESS =
  'once the process of the panel is restarted (a restart within it goes on with the former version)';

function configOf(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`--config is no JSON: ${messageOf(error)}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('--config must be an object, like {"keepDays": 30}');
  return value as Record<string, unknown>;
}

export const pluginAddCommand = own({
  name: 'plugin add',
  about:
    'Adds a plugin of somebody else: keeps it in the data folder, checks that the panel would start with it, and names it in the config file.',
  operand: 'plugin',
  options: {
    plugin: word().description(
      'what npm would install (a name, name@version, a .tgz file, an address), or a folder (./mine), which stays where it is',
    ),
    config: optional(word().description('its boot settings, as JSON')),
  },
  example: `weir plugin add weir-plugin-acme-tally --config '{"keepDays": 30}'`,
  act: async ({ env, check, options, say, complain }) => {
    try {
      const { name, version, reference, configFile, former, wasNamed, untried } = await addPlugin(
        options.plugin,
        env,
        configOf(options.config),
        check,
      );
      if (former === version && wasNamed && options.config === undefined)
        say(`the plugin ${name} ${version} was there already`);
      else if (former !== undefined && former !== version)
        say(`the plugin ${name} is now ${version}; before it was ${former}`);
      else say(`the plugin ${name} ${version} is added`);
      const from = former !== undefined && former !== version ? NEXT_PROCESS : NEXT_START;
      say(`${configFile} names it ${reference}; it runs with all rights of the panel, ${from}`);
      if (untried)
        say(`note: ${untried}, so whether the core takes what the plugin adds to its config is untried`);
      return 0;
    } catch (error) {
      complain(`${options.plugin} is not added, and nothing was changed: ${messageOf(error)}`);
      return 1;
    }
  },
});

export const pluginRemoveCommand = own({
  name: 'plugin remove',
  about:
    'Takes a plugin of somebody else out of the config file and out of the data folder. What it keeps in the database stays.',
  operand: 'plugin',
  options: { plugin: word().description('its name, that of its package, or what the config file calls it') },
  example: 'weir plugin remove acme-tally',
  act: async ({ env, check, options: { plugin }, say }) => {
    const { name, reference, configFile, uninstalled, missed, others } = await removePlugin(
      plugin,
      env,
      check,
    );
    if (reference === undefined && uninstalled === undefined) {
      say(
        `there is nothing to remove: neither the config file nor the data folder has a plugin ${plugin}${didYouMean(plugin, others)}`,
      );
      return 0;
    }
    if (reference !== undefined) say(`${configFile} no longer names ${reference}; it is gone ${NEXT_START}`);
    if (uninstalled !== undefined) say(`${uninstalled} is no longer in the data folder`);
    for (const reason of missed) say(`note: ${reason}`);
    say(`its tables and settings stay in the database; weir purge ${name} shows them and drops them`);
    return 0;
  },
});
