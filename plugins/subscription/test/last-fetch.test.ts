// Runs on every database.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

test('when a client last fetched is told at once, and is still known after a restart', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-fetch-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const clock = new FakeClock();
  const boot = () => TestPanel.boot({ plugins: [new FakeEngine().plugin], clock, dataDirectory });
  const lastFetch = async (panel: TestPanel, email: string) =>
    (await panel.get<{ client: { lastSubFetch: number } }>(`/panel/api/clients/get/${email}`)).client.lastSubFetch;
  const fetched = new Map<string, number>();
  {
    await using panel = await boot();
    const id = await panel.addInbound();
    for (const email of ['ann', 'bob', 'eve']) await panel.addClient(email, [id], { subId: `sub-${email}` });
    await panel.get('/panel/api/setting/update', { body: { subPath: '/s/' } });
    const fetches = async (...emails: string[]) => {
      clock.tick(1000);
      for (const email of emails) {
        t.is((await fetch(`${panel.subscriptionUrl}/s/sub-${email}`)).status, 200);
        fetched.set(email, clock.now());
        t.is(await lastFetch(panel, email), clock.now());
      }
    };
    await fetches('ann', 'bob');
    await fetches('ann');
    // Past a write of the fetches so far.
    clock.tick(10_000);
    await fetches('ann', 'ann');
    t.is((await fetch(`${panel.subscriptionUrl}/s/sub-eve`, { method: 'HEAD' })).status, 200);
  }
  await using panel = await boot();
  for (const [email, at] of fetched) t.is(await lastFetch(panel, email), at, email);
  t.is(await lastFetch(panel, 'eve'), 0);
});
