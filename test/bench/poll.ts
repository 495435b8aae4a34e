// One traffic poll with a delta for every client, in this process, on a real database file.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { definePlugin, tap } from '../../kernel/index.js';
import { trafficCounted } from '../../plugins/traffic/contract.js';
import { FakeClock } from '../harness/fake-clock.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';
import { seed } from './seed.js';

export interface PollTimes {
  readonly ms: number;
  readonly longestStallMs: number;
}

/** The median of a few polls; the longest time in which the event loop did nothing else. */
export async function timePoll(clients: number): Promise<PollTimes> {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  let counted = () => {};
  const listener = definePlugin({
    name: 'bench-listener',
    version: '0.0.0',
    api: 1,
    about: 'Hears when a poll is done.',
    taps: () => [tap(trafficCounted, () => counted())],
  });
  await using panel = await TestPanel.boot({ plugins: [engine.plugin, listener], clock });
  const inboundId = await panel.addInbound();
  await seed(panel, clients, [inboundId]);
  const times: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  for (let round = 1; round <= 5; round++) {
    for (let clientId = 1; clientId <= clients; clientId++) engine.move(inboundId, clientId, 100, 1000);
    // A poll that has not quite ended would swallow the next tick.
    await sleep(50);
    const done = new Promise<void>((resolve) => (counted = resolve));
    delay.enable();
    const began = performance.now();
    clock.tick(5000);
    await done;
    times.push(performance.now() - began);
    delay.disable();
  }
  return { ms: times.toSorted((a, b) => a - b)[2] ?? 0, longestStallMs: delay.max / 1e6 };
}
