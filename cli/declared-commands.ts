// Lists the commands that plugins declare, before any plugin is built.
import { checkCommands, type OwnedCommand } from '../kernel/command/list.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';

/** Stands for the scope of a plugin that is not built: every property of it is the same object again. */
export const nothing: object = new Proxy(() => undefined, {
  get: (_, key) => (typeof key === 'symbol' ? undefined : nothing),
  apply: () => nothing,
});

/** The commands that plugins declare, before any plugin is built. */
export const declaredCommands = (plugins: readonly Plugin[]): readonly OwnedCommand[] =>
  checkCommands(
    plugins.flatMap(({ name, about, commands }) => {
      try {
        return commands(nothing as never).map((command) => ({
          ...command,
          owner: { name, about, isOff: false, offReason: '', fault: () => undefined },
        }));
      } catch (cause) {
        throw new PluginError(
          `plugin ${name} cannot list its commands before it is built (${messageOf(cause)}); its declaration must not depend on its scope`,
        );
      }
    }),
  );
