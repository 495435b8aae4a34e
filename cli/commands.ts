// The program's own commands.
import { banGuardCommands } from './ban-guard/commands.js';
import { checkCommand } from './check.js';
import { devCommand } from './dev.js';
import { healthCommand } from './health.js';
import type { ProgramCommand } from './program-command.js';
import { pluginAddCommand, pluginRemoveCommand } from './plugin.js';
import { purgeCommand } from './purge.js';
import { restoreCommand } from './restore.js';
import { rollbackCommand, upgradeCommand } from './upgrade.js';

export const ownCommands: readonly ProgramCommand[] = [
  ...banGuardCommands,
  checkCommand,
  devCommand,
  healthCommand,
  pluginAddCommand,
  pluginRemoveCommand,
  purgeCommand,
  restoreCommand,
  rollbackCommand,
  upgradeCommand,
];
