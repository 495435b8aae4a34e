// The program's own commands.
import { checkCommand } from './check.js';
import { devCommand } from './dev.js';
import type { ProgramCommand } from './program-command.js';
import { pluginAddCommand, pluginRemoveCommand } from './plugin.js';
import { purgeCommand } from './purge.js';
import { restoreCommand } from './restore.js';

export const ownCommands: readonly ProgramCommand[] = [
  checkCommand,
  devCommand,
  pluginAddCommand,
  pluginRemoveCommand,
  purgeCommand,
  restoreCommand,
];
