// The panel's own process, under the names that dashboards for Node know.
import { readdir } from 'node:fs/promises';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metric } from './contract.js';

const RESOLUTION_MS = 20;

export class ProcessMetrics {
  #delay: IntervalHistogram | undefined;

  start(): void {
    this.#delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#delay.enable();
  }
  stop(): void {
    this.#delay?.disable();
  }

  list(): Metric[] {
    const gauge = (name: string, help: string, value: () => number | Promise<number>): Metric => ({
      name,
      help,
      type: 'gauge',
      collect: async () => [{ value: await value() }],
    });
    return [
      {
        name: 'process_cpu_seconds_total',
        help: 'CPU time of the panel in seconds.',
        type: 'counter',
        collect: () => {
          const { user, system } = process.cpuUsage();
          return [{ value: (user + system) / 1e6 }];
        },
      },
      gauge('process_resident_memory_bytes', 'Memory of the panel in bytes.', () =>
        process.memoryUsage.rss(),
      ),
      gauge('process_start_time_seconds', 'Start of the panel in Unix seconds.', () =>
        Math.round(performance.timeOrigin / 1000),
      ),
      gauge(
        'process_open_fds',
        'Open files and sockets of the panel.',
        async () => (await readdir('/proc/self/fd').catch(() => [])).length,
      ),
      gauge(
        'nodejs_heap_size_used_bytes',
        'Used heap of the panel in bytes.',
        () => process.memoryUsage().heapUsed,
      ),
      gauge(
        'nodejs_heap_size_total_bytes',
        'Heap of the panel in bytes.',
        () => process.memoryUsage().heapTotal,
      ),
      gauge(
        'nodejs_external_memory_bytes',
        'Memory of the panel outside of its heap.',
        () => process.memoryUsage().external,
      ),
      {
        name: 'nodejs_eventloop_lag_max_seconds',
        help: 'Longest delay of the event loop since the last scrape.',
        type: 'gauge',
        collect: () => [{ value: this.#longest() }],
      },
    ];
  }

  /** The timer of the histogram counts its own interval as a delay. */
  #longest(): number {
    const { max = 0 } = this.#delay ?? {};
    this.#delay?.reset();
    return Math.max(0, max / 1e9 - RESOLUTION_MS / 1000);
  }
}
