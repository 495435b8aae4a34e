// The commands of all plugins.
import { token } from '../container/token.js';
import { PluginError } from '../plugin/error.js';
import type { Owner } from '../plugin/owner.js';
import type { Command } from './command.js';

export interface OwnedCommand extends Command {
  readonly owner: Owner;
}

/** The commands of all plugins, for programs that run them; provided by the kernel. */
export interface CommandsApi {
  list(): readonly OwnedCommand[];
}
export const Commands = token<CommandsApi>('kernel', 'Commands');

export function checkCommands(commands: readonly OwnedCommand[]): readonly OwnedCommand[] {
  const owners = new Map<string, string>();
  for (const { name, owner } of commands) {
    const other = owners.get(name);
    if (other !== undefined)
      throw new PluginError(`the command ${name} is declared by ${other} and by ${owner.name}`);
    if (!/^[a-z][a-z0-9-]*( [a-z0-9][a-z0-9-]*)*$/.test(name))
      throw new PluginError(
        `plugin ${owner.name} declares a command "${name}"; a name is words of lower-case letters, digits and hyphens`,
      );
    owners.set(name, owner.name);
  }
  return commands;
}
