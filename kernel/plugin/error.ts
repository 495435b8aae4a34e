// Errors of a set of plugins, attributed to the plugin at fault.
import { messageOf } from '../errors/errors.js';
import type { Plugin } from './define.js';

/** A set of plugins that cannot run together; the message names the plugins at fault and the fix. Without its `culprit` the rest may run. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
  readonly culprit: Plugin | undefined;
  constructor(message: string, culprit?: Plugin, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.culprit = culprit;
  }
}

const blamed = (plugin: Plugin, what: string, cause: unknown): PluginError =>
  cause instanceof PluginError
    ? new PluginError(cause.message, cause.culprit ?? plugin)
    : new PluginError(`plugin ${plugin.name} ${what}: ${messageOf(cause)}`, plugin, cause);

/** Attributes every failure of `work` to this plugin. */
export function attributeErrors<T>(plugin: Plugin, what: string, work: () => T): T {
  try {
    const done = work();
    return done instanceof Promise
      ? (done.catch((cause: unknown) => {
          throw blamed(plugin, what, cause);
        }) as T)
      : done;
  } catch (cause) {
    throw blamed(plugin, what, cause);
  }
}

/** Throws when the plugin needs one that is left out. */
export function checkNeeds(plugin: Plugin, gone: ReadonlySet<string>): void {
  for (const wanted of Object.values(plugin.uses))
    if (wanted.kind === 'token' && gone.has(wanted.owner))
      throw new PluginError(
        `plugin ${plugin.name} needs ${wanted.owner}/${wanted.name}, but the plugin ${wanted.owner} is left out; fix that one first`,
        plugin,
      );
}
