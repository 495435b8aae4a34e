// Which commands the program has itself.
import { checkCommand } from './check.js';
import { devCommand } from './dev.js';
import type { Own } from './own.js';
import { pluginAddCommand, pluginRemoveCommand } from './plugin.js';
import { purgeCommand } from './purge.js';

export const ownCommands: readonly Own[] = [
  checkCommand,
  devCommand,
  pluginAddCommand,
  pluginRemoveCommand,
  purgeCommand,
];
