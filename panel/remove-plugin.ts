// Takes a plugin from outside out of the config file and out of the data folder. What it keeps in the database stays.
import { messageOf } from '../kernel/errors/errors.js';
import { type Check, checkApart } from './check-apart.js';
import { isBuiltIn } from './choose.js';
import { configPath, dataDirectoryOf, readConfigFile } from './config-file.js';
import { editPlugins } from './edit-config.js';
import { isOutside, nameOf, pluginOfPackage } from './manifest.js';
import { placesOf } from './outside.js';
import type { Environment } from './variables.js';
import { installedIn, Workshop } from './workshop.js';

export interface Removed {
  /** of the plugin, as far as that is known */
  readonly name: string;
  /** what the config file called it, where it named it */
  readonly reference: string | undefined;
  readonly configFile: string;
  /** the package, where the data folder had it */
  readonly uninstalled: string | undefined;
  /** why others no longer run without it */
  readonly missed: readonly string[];
  /** those that there are, for who mistyped */
  readonly others: readonly string[];
}

/** `wanted` is the plugin's name, the package's, or what the config file says. Rejects with a sentence. */
export async function removePlugin(
  wanted: string,
  env: Environment,
  check: Check = checkApart,
): Promise<Removed> {
  const directory = dataDirectoryOf(env);
  const file = await readConfigFile(env);
  if (file.path !== '' && file.problems.length > 0 && file.plugins.size === 0)
    throw new Error(file.problems.join('; '));
  const places = placesOf(env, file.path);
  const references = [...file.plugins.keys()].filter(isOutside);
  const named = await Promise.all(
    references.map(async (reference) => ({ reference, name: await nameOf(reference, places) })),
  );
  const found = named.filter(
    ({ reference, name }) => [reference, name].includes(wanted) || reference === `npm:${wanted}`,
  );
  if (found.length > 1)
    throw new Error(
      `several plugins in ${file.path} are called ${wanted}: ${found.map(({ reference }) => reference).join(', ')}; name the one that is meant like this`,
    );
  const installed = Object.keys(await installedIn(directory));
  const package_ = installed.find((name) => [name, pluginOfPackage(name), `npm:${name}`].includes(wanted));
  const reference = found[0]?.reference;
  if (reference === undefined && package_ === undefined && (await isBuiltIn(wanted)))
    throw new Error(
      `${wanted} is built in and stays where it is; {"plugins": {"${wanted}": false}} in ${configPath(env)} switches it off`,
    );
  const name = found[0]?.name ?? (package_ === undefined ? wanted : (pluginOfPackage(package_) ?? wanted));
  const { failed } = reference === undefined ? { failed: [] } : await check({ env, without: reference });
  const missed = failed
    .filter(({ reason }) => reason.includes(`but the plugin ${name} `))
    .map(({ reason }) => reason);
  if (reference !== undefined) await editPlugins(file.path, ({ [reference]: _, ...plugins }) => plugins);
  const uninstalled = reference === undefined || reference === `npm:${package_}` ? package_ : undefined;
  if (uninstalled !== undefined) {
    const workshop = await Workshop.open(directory);
    try {
      await workshop.uninstall(uninstalled);
      await workshop.takeOver();
    } catch (cause) {
      const done =
        reference === undefined
          ? ''
          : ` It is out of ${file.path} already; run this again to take its files away, too.`;
      throw new Error(`${uninstalled} could not be taken out of ${directory}: ${messageOf(cause)}.${done}`, {
        cause,
      });
    } finally {
      await workshop.close();
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
