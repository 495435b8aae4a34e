import test from 'ava';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';

interface Item {
  readonly client: Record<string, unknown> & { readonly email: string };
  readonly inboundIds: readonly number[];
}
const API = '/panel/api/clients';
const boot = (engine = new FakeEngine()): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [engine.plugin], clock: new FakeClock() });
const bring = (
  panel: TestPanel,
  data: string,
): Promise<{ created: number; skipped: { email: string; code: string }[]; skippedCount: number }> =>
  panel.get(`${API}/import`, { body: { data } });

test('imports an export into another panel, which then exports the same', async (t) => {
  await using old = await boot();
  const ids = [await old.addInbound(), await old.addInbound()];
  t.deepEqual(await old.get(`${API}/export`), []);
  await old.addClient('whole', ids, {
    totalGB: 5,
    expiryTime: -1000,
    flow: 'xtls-rprx-vision',
    limitIp: 1,
    limitHwid: 2,
    tgId: 3,
    group: 'g',
    comment: 'two\nlines',
    reset: 4,
    resetDay: 5,
    resetMax: 6,
    reverse: { tag: 'r' },
  });
  await old.addClient('off', [ids[0] as number], { enable: false });
  await old.addClient('orphan', ids);
  await old.get(`${API}/orphan/detach`, { body: { inboundIds: ids } });
  const items = await old.get<Item[]>(`${API}/export`);
  t.deepEqual(
    items.map(({ client, inboundIds }) => [client.email, inboundIds]),
    [
      ['whole', ids],
      ['off', [ids[0]]],
      ['orphan', []],
    ],
  );
  t.is(items[0]?.client['id'], items[0]?.client['uuid']);

  const engine = new FakeEngine();
  await using fresh = await boot(engine);
  for (const _ of ids) await fresh.addInbound();
  t.deepEqual(await bring(fresh, JSON.stringify(items)), { created: 3, skipped: [], skippedCount: 0 });
  t.deepEqual(await fresh.get(`${API}/export`), items);
  t.is(engine.users.size, 2);
  const again = await bring(fresh, JSON.stringify(items));
  t.is(again.created, 0);
  t.deepEqual(
    again.skipped.map(({ email, code }) => `${email} ${code}`),
    ['whole CLIENTS_EMAIL_TAKEN', 'off CLIENTS_EMAIL_TAKEN', 'orphan CLIENTS_EMAIL_TAKEN'],
  );
});

test('an import skips what cannot be created and takes null for no inbounds', async (t) => {
  await using panel = await boot();
  const items = [
    { client: { email: 'a' }, inboundIds: null },
    { client: { email: 'b' } },
    { client: { email: 'c' }, inboundIds: [9] },
    { client: { email: 'a b' } },
    5,
    { client: { email: 'A' } },
  ];
  const { created, skipped } = await bring(panel, JSON.stringify(items));
  t.is(created, 2);
  t.deepEqual(skipped.map(({ code }) => code).sort(), [
    'CLIENTS_EMAIL_TAKEN',
    'INBOUNDS_NOT_FOUND',
    'KERNEL_INVALID',
    'KERNEL_INVALID',
  ]);
  t.deepEqual(await bring(panel, '[]'), { created: 0, skipped: [], skippedCount: 0 });
  for (const data of ['', '{', '{}', '"x"', 5, null, undefined, []])
    await refused(
      t,
      panel,
      `${API}/import`,
      { body: { data } },
      { status: 400, code: 'KERNEL_INVALID', field: 'data' },
    );
});
