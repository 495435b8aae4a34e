// From the start of the process to its word that it is ready, and until a client is served.
import type { BenchPanel } from './bench-panel.js';
import { atMost, type Figure } from './report.js';
import { until } from './vless.js';

const READY_MS = 4000;

export async function start(bench: BenchPanel, echoPort: number): Promise<Figure[]> {
  const uuid = await bench.uuidOf(bench.clients - 1);
  const stopped = await bench.stop();
  const began = performance.now();
  const starting = bench.startAgain();
  // The core opens its ports before or after the panel is ready.
  const served = until(bench.way(echoPort), uuid, true).then(() => performance.now() - began);
  await starting;
  const ready = performance.now() - began;
  return [
    { what: 'stop, core included', value: stopped, unit: 'ms' },
    { what: 'start until ready', value: ready, unit: 'ms', goal: atMost(READY_MS, 'ms') },
    { what: 'start until the core serves', value: await served, unit: 'ms' },
  ];
}
