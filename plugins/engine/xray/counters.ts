// Users' byte counters. A counter appears with its user's first connection and outlives the user.
import type { UserCounter } from '../driver.js';
import type { CoreApi } from './api.js';
import { decode } from './messages.js';
import { eachMessage } from './each-message.js';

const BEGIN = 'user>>>';
const UP = '>>>traffic>>>uplink';
const DOWN = '>>>traffic>>>downlink';

/** int64 as a safe number */
const safe = (value: number): number => Math.min(Math.max(value, 0), Number.MAX_SAFE_INTEGER);

export async function readCounters(api: CoreApi, prefix: string): Promise<UserCounter[]> {
  const begin = BEGIN + prefix;
  const byName = new Map<string, { name: string; up: number; down: number }>();
  await eachMessage(await api.queryStats(begin), 1, (bytes) => {
    const stat = decode('xray.app.stats.command.Stat', bytes);
    // the core matches the pattern anywhere in the name
    if (stat.value === 0 || !stat.name.startsWith(begin)) return;
    const end = stat.name.endsWith(UP) ? UP : stat.name.endsWith(DOWN) ? DOWN : undefined;
    if (end === undefined) return;
    const name = stat.name.slice(BEGIN.length, -end.length);
    const counter = byName.get(name) ?? { name, up: 0, down: 0 };
    counter[end === UP ? 'up' : 'down'] = safe(stat.value);
    byName.set(name, counter);
  });
  return [...byName.values()];
}
