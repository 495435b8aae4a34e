// Which commands there are, before anything of the plugins is built.
import { checkCommands, type OwnedCommand } from '../kernel/command/list.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';

/** Stands for the scope of a plugin that is not built: whatever is taken out of it is the same again. */
export const nothing: object = new Proxy(() => undefined, {
  get: (_, key) => (typeof key === 'symbol' ? undefined : nothing),
  apply: () => nothing,
});

/** What plugins declare, before anything of them is built. */
export const declaredCommands = (plugins: readonly Plugin[]): readonly OwnedCommand[] =>
  checkCommands(
    plugins.flatMap(({ name, about, commands }) => {
      try {
        return commands(nothing as never).map((command) => ({
          ...command,
          owner: { name, about, faulty: false, why: '', fault: () => undefined },
        }));
      } catch (cause) {
        throw new PluginError(
          `plugin ${name} cannot list its commands before it is built (${messageOf(cause)}); what it declares must not depend on its scope`,
        );
      }
    }),
  );
