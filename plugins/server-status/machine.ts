// Samples the machine's load from /proc and node:os every two seconds.
import { cpus, freemem, loadavg, totalmem, uptime } from 'node:os';
import { type DiskTotals, diskTotals, diskUse } from './disk.js';
import { type NetworkTotals, networkTotals, publicAddresses, socketCount } from './network.js';
import { type Processors, processors } from './processors.js';
import { readProc } from './read-proc.js';

interface Share {
  readonly current: number;
  readonly total: number;
}
export interface MachineStatus extends Processors {
  /** percent, smoothed */
  readonly cpu: number;
  readonly mem: Share;
  readonly swap: Share;
  readonly disk: Share;
  /** bytes a second */
  readonly diskIO: DiskTotals;
  readonly diskTraffic: DiskTotals;
  /** bytes and packets a second */
  readonly netIO: {
    readonly up: number;
    readonly down: number;
    readonly pktUp: number;
    readonly pktDown: number;
  };
  readonly netTraffic: NetworkTotals;
  readonly tcpCount: number;
  readonly udpCount: number;
  readonly publicIP: { readonly ipv4: string; readonly ipv6: string };
  readonly uptime: number;
  readonly load: { readonly load1: number; readonly load5: number; readonly load15: number };
  readonly loads: number[];
}

/** Counters at a moment, in monotonic ms. */
export interface Counters {
  readonly network: NetworkTotals;
  readonly disk: DiskTotals;
  readonly at: number;
}

const SMOOTHING = 0.3;

function busyShare(): { busy: number; all: number } {
  let busy = 0,
    all = 0;
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.idle + times.irq;
    busy += sum - times.idle;
    all += sum;
  }
  return { busy, all };
}

async function memory() {
  const text = await readProc('meminfo');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1024;
  const total = bytes('MemTotal') || totalmem();
  return {
    mem: { total, current: total - (bytes('MemAvailable') || freemem()) },
    swap: { total: bytes('SwapTotal'), current: bytes('SwapTotal') - bytes('SwapFree') },
  };
}

/** What moved a second between two moments. */
export function ratesBetween(before: Counters, now: Counters): Pick<MachineStatus, 'diskIO' | 'netIO'> {
  const seconds = (now.at - before.at) / 1000;
  // Counters may fall when an interface appears or disappears; that is not traffic.
  const rate = (total: number, then: number) =>
    seconds > 0 ? Math.max(0, Math.round((total - then) / seconds)) : 0;
  return {
    diskIO: {
      read: rate(now.disk.read, before.disk.read),
      write: rate(now.disk.write, before.disk.write),
    },
    netIO: {
      up: rate(now.network.sent, before.network.sent),
      down: rate(now.network.recv, before.network.recv),
      pktUp: rate(now.network.pktSent, before.network.pktSent),
      pktDown: rate(now.network.pktRecv, before.network.pktRecv),
    },
  };
}

export class Machine {
  #cpu: number | undefined;
  #times = busyShare();
  #before: Counters | undefined;
  #last: MachineStatus | undefined;

  /** Resolves with the last sample, or takes the first one. */
  async status(): Promise<MachineStatus> {
    return this.#last ?? this.sample();
  }

  async sample(): Promise<MachineStatus> {
    const times = busyShare();
    const all = times.all - this.#times.all;
    const share = all > 0 ? (100 * (times.busy - this.#times.busy)) / all : 0;
    this.#cpu = this.#cpu === undefined ? share : this.#cpu + SMOOTHING * (share - this.#cpu);
    this.#times = times;
    const now = { network: await networkTotals(), disk: await diskTotals(), at: performance.now() };
    const before = this.#before ?? now;
    this.#before = now;
    const [load1 = 0, load5 = 0, load15 = 0] = loadavg();
    this.#last = {
      cpu: this.#cpu,
      ...(await processors()),
      ...(await memory()),
      disk: await diskUse(),
      ...ratesBetween(before, now),
      diskTraffic: now.disk,
      netTraffic: now.network,
      tcpCount: await socketCount('tcp'),
      udpCount: await socketCount('udp'),
      publicIP: publicAddresses(),
      uptime: Math.floor(uptime()),
      load: { load1, load5, load15 },
      loads: [load1, load5, load15],
    };
    return this.#last;
  }
}
