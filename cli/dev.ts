// `weir dev`: builds, runs and restarts the panel during development of this tree or of a plugin.
import { optional, word } from '../schema/shape.js';
import { develop } from './dev/develop.js';
import { programCommand } from './program-command.js';

/** Data folder for development; never WEIR_DATA_DIR, which may belong to a production panel. */
export const DEV_DATA_DIRECTORY = './data/dev';

export const devCommand = programCommand({
  name: 'dev',
  about:
    'Runs a panel for development: builds this tree, or the plugin in a folder, after each change and restarts the panel. The core keeps running. Ctrl-C stops everything.',
  operand: 'plugin',
  options: {
    plugin: optional(word().description('folder of a plugin, like ../my-plugin; by default this tree')),
    data: optional(
      word().description(`data folder, ${DEV_DATA_DIRECTORY} by default; WEIR_DATA_DIR is not used`),
    ),
  },
  example: 'weir dev ../my-plugin',
  act: ({ env, options: { plugin, data = DEV_DATA_DIRECTORY }, say, complain }) =>
    develop({ env, plugin, data, say, complain }),
});
