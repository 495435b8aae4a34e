// Samples the machine's load from /proc and node:os every two seconds.
import { readFile, statfs } from 'node:fs/promises';
import { cpus, freemem, loadavg, totalmem, uptime } from 'node:os';

export interface MachineStatus {
  /** percent, smoothed */
  readonly cpu: number;
  readonly logicalPro: number;
  readonly mem: { readonly current: number; readonly total: number };
  readonly swap: { readonly current: number; readonly total: number };
  readonly disk: { readonly current: number; readonly total: number };
  /** bytes a second */
  readonly netIO: { readonly up: number; readonly down: number };
  readonly netTraffic: { readonly sent: number; readonly recv: number };
  readonly tcpCount: number;
  readonly udpCount: number;
  readonly uptime: number;
  readonly load: { readonly load1: number; readonly load5: number; readonly load15: number };
  readonly loads: number[];
}

/** Interfaces whose bytes are counted on another one, or never leave the machine. */
const NOT_COUNTED = /^(?:lo|docker|br-|veth|virbr|tun|tap|wg|tailscale|zt)/;
const SMOOTHING = 0.3;

const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
const linesOf = (text: string): number => Math.max(0, text.trim().split('\n').length - 1);

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

async function network(): Promise<{ sent: number; recv: number }> {
  let sent = 0,
    recv = 0;
  for (const line of (await read('/proc/net/dev')).split('\n').slice(2)) {
    const [name = '', figures = ''] = line.split(':');
    const columns = figures.trim().split(/\s+/).map(Number);
    if (name.trim() === '' || NOT_COUNTED.test(name.trim())) continue;
    recv += columns[0] ?? 0;
    sent += columns[8] ?? 0;
  }
  return { sent, recv };
}

async function memory() {
  const text = await read('/proc/meminfo');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1024;
  const total = bytes('MemTotal') || totalmem();
  return {
    mem: { total, current: total - (bytes('MemAvailable') || freemem()) },
    swap: { total: bytes('SwapTotal'), current: bytes('SwapTotal') - bytes('SwapFree') },
  };
}

const sockets = async (kind: 'tcp' | 'udp'): Promise<number> =>
  linesOf(await read(`/proc/net/${kind}`)) + linesOf(await read(`/proc/net/${kind}6`));

export class Machine {
  #cpu: number | undefined;
  #times = busyShare();
  #traffic: { sent: number; recv: number; at: number } | undefined;
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
    const traffic = { ...(await network()), at: performance.now() };
    const before = this.#traffic ?? traffic;
    this.#traffic = traffic;
    const seconds = (traffic.at - before.at) / 1000;
    // Counters may fall when an interface appears or disappears; that is not traffic.
    const rate = (now: number, then: number) =>
      seconds > 0 ? Math.max(0, Math.round((now - then) / seconds)) : 0;
    const disk = await statfs('/').catch(() => undefined);
    const [load1 = 0, load5 = 0, load15 = 0] = loadavg();
    this.#last = {
      cpu: this.#cpu,
      logicalPro: cpus().length,
      ...(await memory()),
      disk: disk
        ? { total: disk.blocks * disk.bsize, current: (disk.blocks - disk.bfree) * disk.bsize }
        : { total: 0, current: 0 },
      netIO: { up: rate(traffic.sent, before.sent), down: rate(traffic.recv, before.recv) },
      netTraffic: { sent: traffic.sent, recv: traffic.recv },
      tcpCount: await sockets('tcp'),
      udpCount: await sockets('udp'),
      uptime: Math.floor(uptime()),
      load: { load1, load5, load15 },
      loads: [load1, load5, load15],
    };
    return this.#last;
  }
}
