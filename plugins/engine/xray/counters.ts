// Users' byte counters. A counter appears with its user's first connection and outlives the user.
import type { UserCounter } from '../driver.js';
import type { CoreApi } from './api.js';
import { decode } from './messages.js';
import { eachRecord } from './slices.js';

const BEGIN = 'user>>>';
const UP = '>>>traffic>>>uplink';
const DOWN = '>>>traffic>>>downlink';

/** int64 as a safe number */
const bytes = (value: number): number => Math.min(Math.max(value, 0), Number.MAX_SAFE_INTEGER);

export async function readCounters(api: CoreApi, prefix: string): Promise<UserCounter[]> {
  const begin = BEGIN + prefix;
  const byName = new Map<string, { name: string; up: number; down: number }>();
  await eachRecord(await api.queryStats(begin), 1, (record) => {
    const stat = decode('xray.app.stats.command.Stat', record);
    // the core matches the pattern anywhere in the name
    if (stat.value === 0 || !stat.name.startsWith(begin)) return;
    const end = stat.name.endsWith(UP) ? UP : stat.name.endsWith(DOWN) ? DOWN : undefined;
    if (end === undefined) return;
    const name = stat.name.slice(BEGIN.length, -end.length);
    const counter = byName.get(name) ?? { name, up: 0, down: 0 };
    counter[end === UP ? 'up' : 'down'] = bytes(stat.value);
    byName.set(name, counter);
  });
  return [...byName.values()];
}
