import test from 'ava';
import { FakeEngine, TestPanel } from '@weir-panel/weir/testing';
import audit from '../index.js';

interface Entry {
  readonly whoKind: string;
  readonly who: string;
  readonly about: string;
  readonly change: string;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
}

test('each change has an entry with who made it, and one that is refused has none', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [audit] });
  const entries = () => panel.get<Entry[]>('/panel/api/x/acme-audit/entries');
  const inbound = await panel.addInbound();
  await panel.addClient('ada', [inbound]);
  await panel.call('/panel/api/clients/update/ada', { body: { totalGB: 5 } });
  const twin = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'ada' }, inboundIds: [inbound] },
  });
  t.is(twin.status, 409);
  await panel.call('/panel/api/setting/update', { body: { pageSize: 50 } });
  await panel.call('/panel/api/setting/apiTokens/create', { body: { name: 'ci' } });
  await panel.call('/panel/api/clients/del/ada', { method: 'POST' });

  const found = (await entries()).toReversed();
  t.deepEqual(
    found.map(({ about, change }) => `${change} ${about}`),
    [
      'added admin',
      'added inbound',
      'added client',
      'updated client',
      'updated setting',
      'added token',
      'deleted client',
    ],
  );
  const [first, ...others] = found;
  t.like(first, { whoKind: 'plugin', who: 'access' });
  t.true(others.every(({ whoKind, who }) => whoKind === 'session' && who === 'admin'));
  const [, added, updated, setting] = others;
  t.is(added?.before, null);
  t.like(added?.after, { email: 'ada', inboundIds: [inbound] });
  t.deepEqual([updated?.before?.['totalGB'], updated?.after?.['totalGB']], [0, 5]);
  t.deepEqual(setting?.after, { name: 'pageSize', value: 50 });
});

test('thousands of clients in one call are one record', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [audit] });
  const inbound = await panel.addInbound();
  const items = Array.from({ length: 1500 }, (_, i) => ({
    client: { email: `c${i}` },
    inboundIds: [inbound],
  }));
  const reply = await panel.call<{ created: number }>('/panel/api/clients/bulkCreate', { body: items });
  t.is(reply.body.obj?.created, 1500);
  const found = await panel.get<Entry[]>('/panel/api/x/acme-audit/entries?limit=1000');
  t.is(found.length, 1000);
  t.true(found.every(({ about }) => about === 'client'));
  t.deepEqual(panel.faults, []);
});
