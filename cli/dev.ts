// `weir dev`: builds, runs and restarts the panel while somebody writes this tree or a plugin.
import { optional, word } from '../schema/shape.js';
import { develop } from './dev/develop.js';
import { own } from './own.js';

/** The data folder of a panel that is worked at; never that of WEIR_DATA_DIR, which may be in service. */
export const DEV_DATA_DIRECTORY = './data/dev';

export const devCommand = own({
  name: 'dev',
  about:
    'Runs a panel for development: after each change it builds this tree, or a plugin in a folder of its own, and restarts the panel; the core keeps running. Ctrl-C stops everything.',
  operand: 'plugin',
  options: {
    plugin: optional(word().description('folder of a plugin, like ../my-plugin; without it this tree')),
    data: optional(
      word().description(`data folder, ${DEV_DATA_DIRECTORY} by default; WEIR_DATA_DIR is not used`),
    ),
  },
  example: 'weir dev ../my-plugin',
  act: ({ env, options: { plugin, data = DEV_DATA_DIRECTORY }, say, complain }) =>
    develop({ env, plugin, data, say, complain }),
});
