// What /proc/cpuinfo says of the processors. It is read once: node:os knows neither cores nor, in many virtual machines, a speed.
import { cpus } from 'node:os';
import { readProc } from './read-proc.js';

export interface Processors {
  /** physical cores; the logical processors where the system does not tell them apart */
  readonly cpuCores: number;
  readonly logicalPro: number;
  /** of the first processor; 0 where the system does not say */
  readonly cpuSpeedMhz: number;
}

export function processorsIn(cpuinfo: string, logicalPro: number): Processors {
  const field = (block: string, name: string) => new RegExp(`^${name}\\s*:\\s*(.+)$`, 'm').exec(block)?.[1];
  const cores = new Set<string>();
  for (const block of cpuinfo.split('\n\n')) {
    const core = field(block, 'core id');
    if (core !== undefined) cores.add(`${field(block, 'physical id')} ${core}`);
  }
  return {
    cpuCores: cores.size || logicalPro,
    logicalPro,
    cpuSpeedMhz: Number(field(cpuinfo, 'cpu MHz') ?? 0) || (cpus()[0]?.speed ?? 0),
  };
}

let known: Promise<Processors> | undefined;
export const processors = (): Promise<Processors> =>
  (known ??= readProc('cpuinfo').then((text) => processorsIn(text, cpus().length)));
