// Checks a declared series before anything is stored for it.
import type { Contributed, Plugin } from '../../kernel/index.js';
import type { Series } from './contract.js';
import { bytesOfKey } from './tiers.js';

const MOST_SERIES = 64;
const MOST_KEYS = 1_000;
const MOST_DAYS = 400;
const MOST_BYTES = 512 * 1024 * 1024;

const isWithin = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;

const bytesOf = (series: Series): number =>
  series.retention === 'tiers' ? bytesOfKey(series.kind) * series.mostKeys : 0;

/** Returns why a series is not valid, as a sentence. */
export function seriesProblem(
  series: Series,
  plugin: Pick<Plugin, 'name' | 'outside'>,
  others: readonly Contributed<Series>[],
): string | undefined {
  const { name, unit } = series;
  const { retention, kind }: { readonly retention: unknown; readonly kind: unknown } = series;
  // The name is also a file name.
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]{0,39}\.[A-Za-z][A-Za-z0-9-]{0,39}$/.test(name))
    return `the series ${JSON.stringify(name)} needs a name like ${plugin.name}.load, of letters, digits and -`;
  if (!name.startsWith(`${plugin.name}.`)) return `the series ${name} must be called ${plugin.name}.…`;
  if (typeof unit !== 'string' || unit.length > 20)
    return `the series ${name} needs a unit of at most 20 characters`;
  if (retention !== 'tiers' && retention !== 'daily')
    return `the series ${name} has the retention ${JSON.stringify(retention)}; make it with gauge, counter or dailyCounter`;
  if (kind !== 'counter' && (kind !== 'gauge' || retention === 'daily'))
    return `the series ${name} has the kind ${JSON.stringify(kind)}; make it with gauge, counter or dailyCounter`;
  if (series.retention === 'tiers' && !isWithin(series.mostKeys, MOST_KEYS))
    return `mostKeys of the series ${name} must be 1 to ${MOST_KEYS}`;
  if (series.retention === 'daily' && !isWithin(series.days, MOST_DAYS))
    return `days of the series ${name} must be 1 to ${MOST_DAYS}`;
  const own = others.filter(({ plugin: other }) => other === plugin.name).map(({ value }) => value);
  if (own.some((other) => other.name.toLowerCase() === name.toLowerCase()))
    return `the series ${name} is declared twice`;
  if (own.length >= MOST_SERIES) return `a plugin may have ${MOST_SERIES} series; ${name} is one too many`;
  const bytes = own.reduce((sum, other) => sum + bytesOf(other), bytesOf(series));
  return bytes > MOST_BYTES
    ? `with ${name} the series of the plugin may grow to ${Math.ceil(bytes / 1_048_576)} MiB on disk, of which 512 are allowed; lower mostKeys`
    : undefined;
}
