// A panel without a core, whose time begins at the present and whose polls come when a test says so.
import { FakeClock } from '../harness/fake-clock.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';

export async function openWorld(options: Parameters<typeof TestPanel.boot>[0] = {}) {
  const engine = new FakeEngine();
  const clock = new FakeClock(Date.now());
  const panel = await TestPanel.boot({
    clock,
    ...options,
    plugins: [engine.plugin, ...(options.plugins ?? [])],
  });
  /** Resolves when the counters of the core are read and all that follows from them is done. */
  const poll = async (): Promise<void> => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  return { engine, clock, panel, poll };
}
