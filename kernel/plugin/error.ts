// Errors of a set of plugins, attributed to the plugin at fault.
import { messageOf } from '../errors/errors.js';
import type { Token } from '../container/token.js';
import type { Plugin } from './define.js';

/** A plugin, or a set of plugins, that cannot run; the message names the plugins at fault and the fix. Without the `culprit` the rest can run. */
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
    ? new PluginError(cause.message, cause.culprit ?? plugin, cause.cause)
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

/** Throws when the plugin needs tokens for which `problem` gives a reason; the message names all of them. */
export function checkTokens(
  { name, uses }: Plugin,
  problem: (wanted: Token<unknown>) => string | false,
  culprit?: Plugin,
  wayOut = '',
): void {
  const missing = Object.values(uses).flatMap((wanted) => {
    const reason = wanted.kind === 'token' && problem(wanted);
    return reason ? [`${wanted.owner}/${wanted.name}, but ${reason}`] : [];
  });
  if (missing.length > 0)
    throw new PluginError(`plugin ${name} needs ${missing.join('; and ')}${wayOut}`, culprit);
}

/** Throws when the plugin needs tokens of plugins that are left out; `names` are theirs. */
export const checkNeeds = (plugin: Plugin, names: ReadonlySet<string>): void =>
  checkTokens(plugin, ({ owner }) => names.has(owner) && `${owner} is left out; fix that one first`, plugin);
