// After the load: the panel has counted what was moved, and its database, memory and core agree.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPanel } from '../bench/bench-panel.js';
import { databaseEnvironment } from '../harness/database.js';
import { weirProcess } from '../harness/weir-command.js';
import type { Moved } from './users-process.js';
import type { Verdict } from './verdict.js';

/** Two polls and more. */
const COUNTED_LIMIT_MS = 30_000;

export async function countedOf(bench: BenchPanel, moved: readonly Moved[]): Promise<Moved[]> {
  const all = async (): Promise<Moved[]> => {
    const usages: Moved[] = [];
    for (const n of moved.keys())
      usages.push(await bench.api.get<Moved>(`/panel/api/clients/traffic/user${n}@bench`));
    return usages;
  };
  const isWhole = (usages: readonly Moved[]) =>
    usages.every(({ up, down }, n) => up >= (moved[n]?.up ?? 0) && down >= (moved[n]?.down ?? 0));
  for (const deadline = Date.now() + COUNTED_LIMIT_MS; ; await sleep(1000)) {
    const usages = await all();
    if (isWhole(usages) || Date.now() > deadline) return usages;
  }
}

/** `weir check --deep`; undefined where this build has none. */
export async function invariants(bench: BenchPanel): Promise<Verdict | undefined> {
  const { dataDirectory } = bench.process;
  const env = await databaseEnvironment(dataDirectory);
  const { code, said, complained } = await weirProcess(dataDirectory, ['check', '--deep'], env);
  if (/--deep/.test(complained)) return undefined;
  return {
    what: 'weir check --deep',
    found: code === 0 ? (said.trim().split('\n').at(-1) ?? '') : complained.trim(),
    wanted: 'database, memory and core agree',
    isGood: code === 0,
  };
}

/** Errors and faults in the panel's log. */
export function logOf(bench: BenchPanel): Verdict {
  const lines = bench.process.log.filter(({ level, msg }) => level === 'error' || msg === 'plugin fault');
  return {
    what: "errors in the panel's log",
    found: [String(lines.length), ...lines.slice(0, 3).map((line) => JSON.stringify(line))].join('; '),
    wanted: 'none',
    isGood: lines.length === 0,
  };
}
