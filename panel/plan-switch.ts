// Checks whether a plugin can be enabled or disabled, before anything is written.
import { messageOf } from '../kernel/errors/errors.js';
import type { Plugin } from '../kernel/plugin/define.js';
import type { PluginState } from '../kernel/plugin/plugins.js';
import { PluginError } from '../kernel/plugin/error.js';
import type { Objection } from '../plugins/system/contract.js';
import type { Check } from './check-in-child.js';
import { choosePlugins } from './choose-plugins.js';
import { type ConfigFile, configPath, readConfigFile } from './config-file.js';
import { findPlugin } from './find-plugins.js';
import { needsOf } from './disable-dependents.js';
import { isThirdParty, nameOf } from './manifest.js';
import { placesOf } from './third-party.js';
import type { Environment } from './variables.js';

export interface Plan {
  /** key of the plugin in the config file */
  readonly key: string;
  /** true when nothing has to change */
  readonly needless: boolean;
  /** its current entry in the config file */
  readonly previous: ConfigFile;
}

/** The key in the file of a third-party plugin of this name. */
async function keyOutside(env: Environment, file: ConfigFile, name: string): Promise<string | undefined> {
  for (const key of [...file.plugins.keys()].filter(isThirdParty)) {
    if ((await nameOf(key, placesOf(env, file.path))) === name) return key;
  }
  return undefined;
}

/** Undefined when the tree has no such plugin. */
const builtIn = (name: string): Promise<Plugin | undefined> =>
  findPlugin(name).catch((error: unknown) => {
    if (error instanceof PluginError) return undefined;
    throw error;
  });

const and = (names: readonly string[]): string =>
  [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');

interface Present {
  readonly env: Environment;
  readonly check: Check;
  readonly running: readonly PluginState[];
}

async function planned(
  { env, check, running }: Present,
  name: string,
  enable: boolean,
): Promise<Plan | Objection> {
  const read = await readConfigFile(env);
  const previous = { ...read, path: configPath(env) };
  const plugin = await builtIn(name);
  const key = plugin ? name : await keyOutside(env, previous, name);
  if (key === undefined)
    return {
      refused: 'unknown',
      reason: `there is no plugin ${name}: it is not built in, and ${previous.path} does not name it; add it there first`,
    };
  if (!enable && plugin?.essential)
    return {
      refused: 'essential',
      reason: `the panel cannot start without the plugin ${name}; it cannot be disabled`,
    };
  const now = await choosePlugins(env, previous);
  const isOn = (other: string): boolean => [...now.plugins, ...now.leftOut].some((on) => on.name === other);
  const state = running.find((other) => other.name === name)?.state;
  if (isOn(name) === enable && (enable ? state === 'running' : state === undefined))
    return { key, needless: true, previous };
  const users = enable
    ? []
    : now.plugins.filter((other) => needsOf(other).includes(name)).map((other) => other.name);
  if (users.length > 0)
    return {
      refused: 'in use',
      reason: `${and(users)} ${users.length > 1 ? 'need' : 'needs'} the plugin ${name}; disable ${and(users)} first`,
    };
  const { problems, failed } = await check({
    env,
    add: { reference: key, entry: { config: {}, ...previous.plugins.get(key), on: enable } },
  });
  const failing = new Set(running.filter((other) => other.state === 'failed').map((other) => other.name));
  const reasons = [
    ...problems,
    ...failed.filter((other) => other.name === name || !failing.has(other.name)).map(({ reason }) => reason),
  ];
  return reasons.length > 0
    ? { refused: 'would not start', reason: reasons.join('; ') }
    : { key, needless: false, previous };
}

/** Never rejects: a problem of the configuration is a refusal. */
export const planSwitch = (...asked: Parameters<typeof planned>): Promise<Plan | Objection> =>
  planned(...asked).catch(
    (error: unknown) => ({ refused: 'would not start', reason: messageOf(error) }) as const,
  );
