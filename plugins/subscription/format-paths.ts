// Ensures that each subscription format has a path of its own.
import { errors } from './errors.js';
import type { Format } from './contract.js';

/** The setting with the path of the format that is the usual one of subscriptions, and that `subURI` is for. */
export const STANDARD_PATH = 'subPath';

/**
 * Assigns paths to formats. If two have the same path, one is not served: a duplicate route would be an error of the
 * whole listener, and no subscription would be served. The format that had the path before keeps it.
 */
export function pathsOf(
  formats: readonly Format[],
  before: ReadonlyMap<string, Format>,
  taken: (format: Format, by: Format) => void,
): Map<string, Format> {
  const wanted = formats.map((format) => ({ format, prefix: format.prefix() }));
  const served = new Map<string, Format>();
  for (const { format, prefix } of wanted)
    if (prefix !== undefined && (!served.has(prefix) || before.get(prefix) === format))
      served.set(prefix, format);
  for (const { format, prefix } of wanted) {
    const by = prefix === undefined ? undefined : served.get(prefix);
    if (by && by !== format) taken(format, by);
  }
  // After all paths of their own: those are found first.
  for (const { format, prefix } of wanted)
    for (const alias of (prefix === undefined ? undefined : format.aliases?.()) ?? []) {
      const by = served.get(alias);
      if (!by) served.set(alias, format);
      else if (by !== format) taken(format, by);
    }
  return served;
}

/** Refuses settings that give two formats the same path, whether or not both are enabled. */
export function refuseSharedPath(
  formats: readonly Format[],
  changes: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
): void {
  const settings = formats.flatMap(({ pathSetting }) => (pathSetting === undefined ? [] : [pathSetting]));
  for (const name of settings.filter((setting) => setting in changes)) {
    const other = settings.find((setting) => setting !== name && values[setting] === values[name]);
    if (other)
      throw errors.PATH_TAKEN(
        `${name} and ${other} would both be ${String(values[name])}; each subscription format needs its own path`,
        {
          path: name,
        },
      );
  }
}
