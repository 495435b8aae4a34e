// `weir plugin add` and `weir plugin remove`: third-party plugins, in the data folder and in the config file.
import { messageOf } from '../kernel/errors/errors.js';
import { optional, word } from '../schema/shape.js';
import { addPlugin } from '../panel/add-plugin.js';
import { removePlugin } from '../panel/remove-plugin.js';
import { didYouMean } from '../schema/suggest.js';
import { programCommand } from './program-command.js';

const NEXT_START = 'from the next start of the panel';
/** Node reads the code of a module only once. */
const NEXT_PROCESS =
  'once the process of the panel is restarted (a restart within the process keeps the previous version)';

function configOf(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`--config is not valid JSON: ${messageOf(error)}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('--config must be an object, like {"keepDays": 30}');
  return value as Record<string, unknown>;
}

export const pluginAddCommand = programCommand({
  name: 'plugin add',
  about:
    'Adds a third-party plugin: stores it in the data folder, checks that the panel would start with it, and adds it to the config file.',
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
      const { name, version, reference, configFile, previous, wasNamed, untried } = await addPlugin(
        options.plugin,
        env,
        configOf(options.config),
        check,
      );
      if (previous === version && wasNamed && options.config === undefined)
        say(`the plugin ${name} ${version} is already installed`);
      else if (previous !== undefined && previous !== version)
        say(`the plugin ${name} was updated from ${previous} to ${version}`);
      else say(`added the plugin ${name} ${version}`);
      const from = previous !== undefined && previous !== version ? NEXT_PROCESS : NEXT_START;
      say(`${configFile} names it ${reference}; it runs with all rights of the panel, ${from}`);
      if (untried) say(`note: ${untried}, so what the plugin adds to the core's config is untested`);
      return 0;
    } catch (error) {
      complain(`${options.plugin} was not added, and nothing was changed: ${messageOf(error)}`);
      return 1;
    }
  },
});

export const pluginRemoveCommand = programCommand({
  name: 'plugin remove',
  about:
    'Removes a third-party plugin from the config file and the data folder. Its data in the database stays.',
  operand: 'plugin',
  options: { plugin: word().description('its name, the name of its package, or its key in the config file') },
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
    if (reference !== undefined)
      say(`${configFile} no longer names ${reference}; it no longer runs ${NEXT_START}`);
    if (uninstalled !== undefined) say(`${uninstalled} is no longer in the data folder`);
    for (const reason of missed) say(`note: ${reason}`);
    say(`its tables and settings stay in the database; weir purge ${name} lists and deletes them`);
    return 0;
  },
});
