// The results of a list: which are shown, in which order, and what is said of the others.
import { type ScanResult, unknownResult } from './scan-result.js';
import { placeOf } from './target.js';
import type { TaskList } from './task-list.js';

export interface Scanned {
  readonly results: readonly ScanResult[];
  /** sentences about what the results do not show */
  readonly notes: readonly string[];
}
interface Network {
  silent: number;
  unscanned: number;
  refused: ScanResult | undefined;
}

/** @param results of the tasks, in their order; undefined if one was not scanned within `seconds` */
export function summaryOf(
  { tasks, invalid, cut }: TaskList,
  results: readonly (ScanResult | undefined)[],
  seconds: number,
): Scanned {
  const late = `it was not scanned: the list took longer than ${seconds} s`;
  const shown = invalid.map(({ entry, reason }) => ({ ...unknownResult(entry, '', 0), reason }));
  const networks = new Map<string, Network>();
  for (const [i, { target, network }] of tasks.entries()) {
    const { host, isAddress, port } = target;
    const result = results[i];
    if (network === undefined)
      shown.push(
        result ?? { ...unknownResult(placeOf(host, port), host, port, isAddress ? host : ''), reason: late },
      );
    else if (result && result.tlsVersion !== '') shown.push(result);
    else count(networks, network, result);
  }
  // One result stands for all addresses of a network that are not permitted.
  for (const [target, { refused }] of networks) if (refused) shown.push({ ...refused, target });
  const best = bestOf(shown);
  const left = shown.length - best.length;
  return {
    results: best,
    notes: [
      ...[...cut].map(
        ([network, size]) =>
          `${network}: only its first ${tasks.filter((task) => task.network === network).length} of ${size} addresses are scanned`,
      ),
      ...[...networks].flatMap(([network, { silent, unscanned }]) => [
        ...(silent > 0
          ? [`${network}: ${counted(silent, 'address has', 'addresses have')} no TLS server on port 443`]
          : []),
        ...(unscanned > 0
          ? [
              `${network}: ${counted(unscanned, 'address was', 'addresses were')} not scanned within ${seconds} s`,
            ]
          : []),
      ]),
      ...(left > 0
        ? [`${counted(left, 'result', 'results')} with the same target as a better one left out`]
        : []),
    ],
  };
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

function count(networks: Map<string, Network>, name: string, result: ScanResult | undefined): void {
  const network = networks.get(name) ?? { silent: 0, unscanned: 0, refused: undefined };
  networks.set(name, network);
  if (!result) network.unscanned++;
  else if (result.privateTarget) network.refused ??= result;
  else network.silent++;
}

/** Feasible ones first, then those with a handshake; within both, the fastest first. */
const rankOf = ({ feasible, latencyMs }: ScanResult): number => (feasible ? 0 : latencyMs > 0 ? 1 : 2);
const byRank = (a: ScanResult, b: ScanResult): number => rankOf(a) - rankOf(b) || a.latencyMs - b.latencyMs;

/** Of several with one target, which certificates of addresses may have, the first in rank. */
function bestOf(results: readonly ScanResult[]): ScanResult[] {
  const best = new Map<string, ScanResult>();
  for (const result of [...results].sort(byRank))
    if (!best.has(result.target)) best.set(result.target, result);
  return [...best.values()];
}
