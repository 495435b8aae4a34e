// Warnings are given by the panel that leads, also for clients whom only a core of another panel serves.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import traffic from '../../traffic/index.js';
import limitWarnings from '../index.js';

interface Counted {
  readonly clientId: number;
}

test('clients that any panel has counted are looked at', async (t) => {
  const clock = new FakeClock();
  const inTraffic = servicesOf<{ streamBaselines: { takeMoved(): readonly object[] } }>(traffic);
  const inWarnings = servicesOf<{ warnings: { counted(usage: readonly Counted[]): Promise<void> } }>(
    limitWarnings,
  );
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, inTraffic.plugin, inWarnings.plugin],
    clock,
  });
  await using _ = panel;
  const looked: number[] = [];
  inWarnings.services.warnings.counted = async (usage) =>
    void looked.push(...usage.map(({ clientId }) => clientId));
  // What the projection of the readings learns of other panels.
  inTraffic.services.streamBaselines.takeMoved = () => [{ clientId: 7, inboundId: 1, up: 0, down: 0 }];
  clock.tick(5000);
  await panel.kernel.settled();
  t.deepEqual(looked, [7]);
  t.deepEqual(panel.faults, []);
});
