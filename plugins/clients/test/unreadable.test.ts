// Memory that cannot be loaded: callers are told to come again, and the next use after the repair is served.
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import clients from '../index.js';
import type { ClientStore } from '../model/client-store.js';

test('while the clients cannot be loaded, subscriptions and calls answer 503; afterwards they are served', async (t) => {
  const observed = servicesOf<{ db: Database; store: ClientStore }>(clients);
  await using panel = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin] });
  const { db, store } = observed.services;
  const { subId } = await panel.addClient('a', [await panel.addInbound()]);
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const fetched = async () => (await fetch(`${panel.subscriptionUrl}${subPath}${subId}`)).status;
  const calls = async () => [
    await fetched(),
    (await panel.call('/panel/api/clients/get/a')).status,
    (await panel.call('/panel/api/clients/list')).status,
    (await panel.call('/panel/api/clients/update/a', { body: { comment: 'x' } })).status,
  ];
  t.deepEqual(await calls(), [200, 200, 200, 200]);
  await db.write((tx) => tx.run('ALTER TABLE client_seen RENAME TO client_seen_away'));
  await db.write(async (tx) => tx.apply(store.projection, null as never));
  t.deepEqual(await calls(), [503, 503, 503, 503]);
  await db.write((tx) => tx.run('ALTER TABLE client_seen_away RENAME TO client_seen'));
  await fetched();
  await store.projection.load();
  t.deepEqual(await calls(), [200, 200, 200, 200]);
});
