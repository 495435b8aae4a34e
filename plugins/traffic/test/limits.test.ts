// Runs on every database.
// When a client's time begins and ends, and what a poll writes together.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { TestPanel } from '../../../test/harness/index.js';
import { trafficDeltas } from '../contract.js';
import { openWorld } from './world.js';

const DAY_MS = 86_400_000;

interface Usage {
  readonly up: number;
  readonly down: number;
  readonly enable: boolean;
  readonly expiryTime: number;
}
const usageOf = (panel: TestPanel, email: string): Promise<Usage> =>
  panel.get<Usage>(`/panel/api/clients/traffic/${email}`);

test('a negative expiry starts with the first bytes, at the time of that poll, and survives a restart', async (t) => {
  const { engine, clock, panel, poll, inboundId } = await openWorld();
  t.teardown(() => panel.stop());
  const ann = await panel.addClient('ann', [inboundId], { expiryTime: -3 * DAY_MS });
  const idle = await panel.addClient('idle', [inboundId], { expiryTime: -3 * DAY_MS });
  // The core has a counter as soon as somebody connects.
  engine.move(inboundId, idle.id, 0, 0);
  await poll();
  t.is((await usageOf(panel, 'ann')).expiryTime, -3 * DAY_MS, 'a poll without bytes leaves it');
  engine.move(inboundId, ann.id, 1, 2);
  const at = await poll();
  t.is((await usageOf(panel, 'ann')).expiryTime, at + 3 * DAY_MS);
  engine.move(inboundId, ann.id, 1, 2);
  await poll();
  t.is((await usageOf(panel, 'ann')).expiryTime, at + 3 * DAY_MS, 'later bytes do not move it');
  await panel.stop();

  const again = await TestPanel.boot({
    plugins: [engine.plugin],
    clock,
    dataDirectory: panel.dataDirectory,
  });
  await using _ = again;
  t.is((await usageOf(again, 'ann')).expiryTime, at + 3 * DAY_MS);
  t.is((await usageOf(again, 'idle')).expiryTime, -3 * DAY_MS);
});

test('a client expires at its expiry time, not one millisecond before', async (t) => {
  const { clock, panel, poll, inboundId } = await openWorld();
  await using _ = panel;
  const expiryTime = clock.now() + 10_000;
  await panel.addClient('exact', [inboundId], { expiryTime });
  await panel.addClient('later', [inboundId], { expiryTime: expiryTime + 1 });
  await poll();
  t.true((await usageOf(panel, 'exact')).enable);
  t.is(await poll(), expiryTime);
  t.false((await usageOf(panel, 'exact')).enable);
  t.true((await usageOf(panel, 'later')).enable);
});

test('a client that an admin disabled stays disabled through polls, a higher quota and a restart', async (t) => {
  const { engine, clock, panel, poll, inboundId } = await openWorld();
  t.teardown(() => panel.stop());
  const ann = await panel.addClient('ann', [inboundId], { totalGB: 1000 });
  await panel.get('/panel/api/clients/update/ann', { body: { email: 'ann', enable: false } });
  engine.move(inboundId, ann.id, 0, 5000);
  await poll();
  await panel.get('/panel/api/clients/update/ann', { body: { email: 'ann', totalGB: 1_000_000 } });
  t.false((await usageOf(panel, 'ann')).enable);
  await poll();
  await panel.stop();

  const { dataDirectory } = panel;
  await using again = await TestPanel.boot({ plugins: [engine.plugin], clock, dataDirectory });
  clock.tick(5000);
  await again.kernel.settled();
  t.false((await usageOf(again, 'ann')).enable);
  t.false(engine.users.has(`i${inboundId}.c${ann.id}`));
});

test('a plugin that multiplies traffic changes what is counted, never what is read next', async (t) => {
  const double = definePlugin({
    name: 'double',
    version: '1.0.0',
    api: 1,
    about: 'Counts every byte twice.',
    taps: () => [
      tap(trafficDeltas, (usage) =>
        usage.map((entry) => ({ ...entry, up: entry.up * 1.5, down: entry.down * 2 })),
      ),
    ],
  });
  const { engine, panel, poll, inboundId } = await openWorld([double]);
  await using _ = panel;
  const ann = await panel.addClient('ann', [inboundId]);
  for (const [up, down] of [
    [150, 2000],
    [300, 4000],
  ]) {
    engine.move(inboundId, ann.id, 100, 1000);
    await poll();
    t.like(await usageOf(panel, 'ann'), { up, down });
  }
  await poll();
  t.like(await usageOf(panel, 'ann'), { up: 300, down: 4000 }, 'an idle poll adds nothing');
  t.is((await panel.get<{ down: number }>(`/panel/api/inbounds/get/${inboundId}`)).down, 4000);
});

test('Subscription-Userinfo tells upload and download apart, and a depleted client has no links before the next poll', async (t) => {
  const { engine, clock, panel, poll, inboundId } = await openWorld();
  await using _ = panel;
  const expiryTime = clock.now() + DAY_MS;
  const ann = await panel.addClient('ann', [inboundId], { totalGB: 10_000, expiryTime });
  engine.move(inboundId, ann.id, 700, 5000);
  await poll();
  const fetched = async () => {
    const response = await fetch(`${panel.subscriptionUrl}${subPath}${ann.subId}`);
    return { userInfo: response.headers.get('subscription-userinfo'), body: await response.text() };
  };
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const before = await fetched();
  t.is(before.userInfo, `upload=700; download=5000; total=10000; expire=${Math.floor(expiryTime / 1000)}`);
  t.not(before.body, '');
  // No poll runs between the expiry and the fetch: the fake clock calls jobs only when a period is over.
  clock.tick(DAY_MS);
  await panel.kernel.settled();
  await panel.login();
  await panel.get('/panel/api/clients/update/ann', {
    body: { email: 'ann', expiryTime: clock.now() + 2000 },
  });
  t.not((await fetched()).body, '');
  clock.tick(2001);
  t.is(
    Buffer.from((await fetched()).body, 'base64')
      .toString()
      .trim(),
    '',
  );
  t.true((await usageOf(panel, 'ann')).enable, 'no poll has seen it yet');
});
