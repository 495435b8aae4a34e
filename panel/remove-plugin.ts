// Removes a third-party plugin from the config file and from the data folder. Its data in the database stays.
import { messageOf } from '../kernel/errors/errors.js';
import { type Check, checkInChild } from './check-in-child.js';
import { isBuiltIn } from './choose-plugins.js';
import { configPath, dataDirectoryOf, readConfigFile } from './config-file.js';
import { editPlugins } from './edit-config.js';
import { isThirdParty, nameOf, pluginOfPackage } from './manifest.js';
import { placesOf } from './third-party.js';
import type { Environment } from './variables.js';
import { installedIn, StagedPlugins } from './staged-plugins.js';

export interface Removed {
  /** of the plugin, as far as it is known */
  readonly name: string;
  /** its key in the config file, where that named it */
  readonly reference: string | undefined;
  readonly configFile: string;
  /** its package, where the data folder had it */
  readonly uninstalled: string | undefined;
  /** why other plugins cannot run without it */
  readonly missed: readonly string[];
  /** names of the plugins that exist, to suggest one for a typing mistake */
  readonly others: readonly string[];
}

/** `wanted` is the name of the plugin or of its package, or the key in the config file. Rejects with a sentence. */
export async function removePlugin(
  wanted: string,
  env: Environment,
  check: Check = checkInChild,
): Promise<Removed> {
  const directory = dataDirectoryOf(env);
  const file = await readConfigFile(env);
  if (file.path !== '' && file.problems.length > 0 && file.plugins.size === 0)
    throw new Error(file.problems.join('; '));
  const places = placesOf(env, file.path);
  const references = [...file.plugins.keys()].filter(isThirdParty);
  const named = await Promise.all(
    references.map(async (reference) => ({ reference, name: await nameOf(reference, places) })),
  );
  const found = named.filter(
    ({ reference, name }) => [reference, name].includes(wanted) || reference === `npm:${wanted}`,
  );
  if (found.length > 1)
    throw new Error(
      `several plugins in ${file.path} are called ${wanted}: ${found.map(({ reference }) => reference).join(', ')}; use one of these keys`,
    );
  const installed = Object.keys(await installedIn(directory));
  const package_ = installed.find((name) => [name, pluginOfPackage(name), `npm:${name}`].includes(wanted));
  const reference = found[0]?.reference;
  if (reference === undefined && package_ === undefined && (await isBuiltIn(wanted)))
    throw new Error(
      `${wanted} is built in and cannot be removed; {"plugins": {"${wanted}": false}} in ${configPath(env)} disables it`,
    );
  const name = found[0]?.name ?? (package_ === undefined ? wanted : (pluginOfPackage(package_) ?? wanted));
  const { failed } = reference === undefined ? { failed: [] } : await check({ env, without: reference });
  const missed = failed
    .filter(({ reason }) => reason.includes(`but the plugin ${name} `))
    .map(({ reason }) => reason);
  if (reference !== undefined) await editPlugins(file.path, ({ [reference]: _, ...plugins }) => plugins);
  const uninstalled = reference === undefined || reference === `npm:${package_}` ? package_ : undefined;
  if (uninstalled !== undefined) {
    const staged = await StagedPlugins.open(directory);
    try {
      await staged.uninstall(uninstalled);
      await staged.commit();
    } catch (cause) {
      const done =
        reference === undefined
          ? ''
          : ` It is already removed from ${file.path}; run this again to remove its files, too.`;
      throw new Error(`${uninstalled} could not be removed from ${directory}: ${messageOf(cause)}.${done}`, {
        cause,
      });
    } finally {
      await staged.close();
    }
  }
  return {
    name,
    missed,
    reference,
    configFile: file.path,
    uninstalled,
    others: [...new Set([...named.map(({ name }) => name), ...installed])],
  };
}
