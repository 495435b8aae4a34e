// Each format of subscriptions has a path of its own.
import { errors } from './errors.js';
import type { Format } from './contract.js';

/**
 * Who is served where. Of two with the same path one is not: a route that is there twice would be a mistake of the
 * whole server, and no subscription would be served any more. Who had the path before keeps it.
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
  return served;
}

/** Refuses settings that would give two formats one path, whether or not both are on. */
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
        `${name} and ${other} would both be ${String(values[name])}; each format of subscriptions needs a path of its own`,
        {
          path: name,
        },
      );
  }
}
