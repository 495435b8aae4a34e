// Runs on every database.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { beforeSubscription } from '../contract.js';

test('when a client last fetched is told at once, and is still known after a restart', async (t) => {
  const clock = new FakeClock();
  const boot = (options: { dataDirectory?: string } = {}) =>
    TestPanel.boot({ plugins: [new FakeEngine().plugin], clock, ...options });
  const lastFetch = async (panel: TestPanel, email: string) =>
    (await panel.get<{ lastSubFetch: number }>(`/panel/api/clients/traffic/${email}`)).lastSubFetch;

  const panel = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  const id = await panel.addInbound();
  for (const email of ['ann', 'bob', 'eve']) await panel.addClient(email, [id], { subId: `sub-${email}` });
  await panel.get('/panel/api/setting/update', { body: { subPath: '/s/' } });
  const fetched = new Map<string, number>();
  // The pauses are shorter and longer than what lies between two writes.
  for (const [pause, email] of [
    [1000, 'ann'],
    [0, 'bob'],
    [1000, 'ann'],
    [20_000, 'ann'],
    [0, 'ann'],
  ] as const) {
    clock.tick(pause);
    t.is((await fetch(`${panel.subscriptionUrl}/s/sub-${email}`)).status, 200);
    t.is(await lastFetch(panel, email), clock.now());
    fetched.set(email, clock.now());
  }
  t.is((await fetch(`${panel.subscriptionUrl}/s/sub-eve`, { method: 'HEAD' })).status, 200);
  await panel.stop();

  const next = await boot({ dataDirectory: panel.dataDirectory });
  t.teardown(() => next.stop());
  for (const [email, at] of fetched) t.is(await lastFetch(next, email), at, email);
  t.is(await lastFetch(next, 'eve'), 0);
});

test('a fetch that a plugin taps into counts as any other, and one for the headers alone does not', async (t) => {
  const clock = new FakeClock();
  const onlooker = definePlugin({
    name: 'onlooker',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [tap(beforeSubscription, () => undefined)],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, onlooker], clock });
  await panel.addClient('ann', [await panel.addInbound()], { subId: 'sub-ann' });
  await panel.get('/panel/api/setting/update', { body: { subPath: '/s/' } });
  const fetchedAt = async (method: string): Promise<number> => {
    clock.tick(1000);
    await fetch(`${panel.subscriptionUrl}/s/sub-ann`, { method });
    return (await panel.get<{ lastSubFetch: number }>('/panel/api/clients/traffic/ann')).lastSubFetch;
  };
  t.is(await fetchedAt('HEAD'), 0);
  t.is(await fetchedAt('GET'), clock.now());
  const at = clock.now();
  t.is(await fetchedAt('HEAD'), at);
});
