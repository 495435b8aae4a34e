// Replies as long as the panel has clients: time, bytes, and what they cost in memory.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPanel } from './bench-panel.js';
import { memoryOf } from './process-figures.js';
import { atMost, type Figure } from './report.js';

const MORE_MIB = 64;
const MB = 1e6;
const SETTLE_MS = 10_000;

/** Reads a reply to its end and keeps nothing of it. */
async function drain(bench: BenchPanel, path: string): Promise<number> {
  const { cookie, csrf, url } = bench.api;
  const headers = { cookie, 'x-csrf-token': csrf };
  const [response] = (await once(get(url + path, { headers }), 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`);
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
  return bytes;
}

export async function wholeLists(bench: BenchPanel): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [what, path, goal] of [
    ['inbounds/list', 'inbounds/list', undefined],
    ['inbounds/list?stats=0', 'inbounds/list?stats=0', undefined],
    ['clients/list', 'clients/list', atMost(MORE_MIB, 'MiB')],
    ['clients/export', 'clients/export', atMost(MORE_MIB, 'MiB')],
  ] as const) {
    let bytes = 0;
    let ms = 0;
    const { more } = await bench.memoryAliveOf(async () => {
      const began = performance.now();
      bytes = await drain(bench, `/panel/api/${path}`);
      ms = performance.now() - began;
    });
    figures.push(
      { what, value: ms, unit: 'ms' },
      { what: `${what}: bytes`, value: bytes / MB, unit: 'MB' },
      { what: `${what}: memory more`, value: more, unit: 'MiB', goal },
    );
  }
  return figures;
}

/** The clients of one panel, into another that has none. What they take for good is not counted as more. */
export async function importInto(other: BenchPanel, bench: BenchPanel): Promise<Figure[]> {
  const exported = await bench.api.get<unknown[]>('/panel/api/clients/export');
  const rawBody = Buffer.from(JSON.stringify({ data: JSON.stringify(exported) }));
  const began = performance.now();
  let created = 0;
  let seconds = 0;
  const { peak } = await other.memoryAliveOf(async () => {
    const headers = { 'content-type': 'application/json' };
    const path = '/panel/api/clients/import';
    ({ created } = await other.api.get<{ created: number }>(path, { rawBody, headers }));
    seconds = (performance.now() - began) / 1000;
    // Garbage goes when there is time for it.
    await sleep(SETTLE_MS);
  });
  if (created !== exported.length) throw new Error(`only ${created} of ${exported.length} were imported`);
  const { now } = await memoryOf(other.pid);
  return [
    { what: 'clients/import', value: seconds * 1000, unit: 'ms' },
    { what: 'clients/import: bytes', value: rawBody.length / MB, unit: 'MB' },
    { what: 'clients/import: clients', value: created / seconds, unit: '/s' },
    {
      what: 'clients/import: memory more than afterwards',
      value: peak - now,
      unit: 'MiB',
      goal: atMost(MORE_MIB, 'MiB'),
    },
  ];
}
