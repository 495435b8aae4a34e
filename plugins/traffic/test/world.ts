// A panel without a core, whose polls come when a test says so.
import type { Plugin } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

/** The end of the test closes the panel: `await using _ = panel`. */
export async function openWorld(plugins: readonly Plugin[] = []) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [engine.plugin, ...plugins], clock });
  /** Resolves with the time of the poll, in Unix ms, when all that follows from it is done. */
  const poll = async (): Promise<number> => {
    clock.tick(5000);
    await panel.kernel.settled();
    return clock.now();
  };
  return { engine, clock, panel, poll, inboundId: await panel.addInbound() };
}
