// Runs on every database.
// Calls that create, cut off between their commit and the storing of their reply: a repetition is answered from the facts
// that the call has noted, as the first one was, and creates nothing.
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { freePort } from '../../../test/harness/free-port.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { type CallStore, LARGEST_REPLY } from '../call-store.js';
import idempotency from '../index.js';

test('every route that creates notes what its reply is made of, with its change', async (t) => {
  const inside = servicesOf<{ store: CallStore }>(idempotency);
  await using panel = await TestPanel.boot({ plugins: [inside.plugin, new FakeEngine().plugin] });
  const { store } = inside.services;
  const [first, second] = [await panel.addInbound(), await panel.addInbound()];
  await panel.addClient('ada', [first], { totalGB: 1000, group: 'old' });
  const inbound = (port: number, email: string) => ({
    protocol: 'vless',
    port,
    listen: '127.0.0.1',
    settings: { clients: [{ email }] },
  });
  const { mark } = store;
  const calls: readonly (readonly [path: string, body: unknown])[] = [
    ['clients/add', { client: { email: 'bob' }, inboundIds: [first] }],
    [
      'clients/bulkCreate',
      [
        { client: { email: 'ada' }, inboundIds: [first] },
        { client: { email: '' }, inboundIds: [first] },
        { client: { email: 'eve' }, inboundIds: [first, second] },
      ],
    ],
    ['clients/bulkAttach', { emails: ['ada', 'nobody'], inboundIds: [first, second, 4711] }],
    ['clients/eve/attach', { inboundIds: [first] }],
    ['clients/bulkAdjust', { emails: ['ada', 'eve', 'nobody'], addDays: 1, addBytes: 500 }],
    ['clients/groups/create', { name: 'family' }],
    ['setting/apiTokens/create', { name: 'robot' }],
    ['hosts/add', { remark: 'a host', inboundIds: [first] }],
    ['inbounds/add', inbound(await freePort(), 'in')],
    ['inbounds/import', { data: inbound(await freePort(), 'im') }],
  ];
  const lists = ['clients/list', 'inbounds/list', 'hosts/list', 'setting/apiTokens', 'clients/groups'];
  const state = async (): Promise<string> =>
    JSON.stringify(await Promise.all(lists.map((list) => panel.get(`/panel/api/${list}`))));
  for (const [i, [path, body]] of calls.entries()) {
    const send = () =>
      panel.call(`/panel/api/${path}`, { body, headers: { 'Idempotency-Key': `call-${i}` } });
    // The panel is killed before it stores the reply.
    store.mark = async (tx, id, stage, text) => {
      if (stage === 'done') throw new Error('killed');
      return mark.call(store, tx, id, stage, text);
    };
    const done = await send();
    store.mark = mark;
    t.is(done.status, 200, `${path}: ${done.text}`);
    const before = await state();
    const again = await send();
    t.deepEqual([again.status, again.text], [200, done.text], path);
    t.is(await state(), before, path);
    t.is((await send()).headers.get('idempotency-replayed'), 'true', path);
  }
  const adjusted = await panel.get<{ totalGB: number }>('/panel/api/clients/get/ada');
  t.is(adjusted.totalGB, 1500);
});

test('a reply that is too large to be sealed is kept as it is, and one that fits is sealed', async (t) => {
  const inside = servicesOf<{ store: CallStore; db: Database }>(idempotency);
  await using _ = await TestPanel.boot({ plugins: [inside.plugin, new FakeEngine().plugin] });
  const { store, db } = inside.services;
  for (const [id, length, isSealed] of [
    ['small', 60 * 1024, true],
    ['large', 60 * 1024 + 1, false],
    ['largest', LARGEST_REPLY, false],
  ] as const) {
    const text = 'x'.repeat(length);
    await store.begin({ id, caller: 'c', fingerprint: 'f' });
    await db.write((tx) => store.mark(tx, id, 'done', text));
    t.is((await store.find(id))?.reply, text, id);
    const [row] = await db.query<{ reply: string }>('SELECT reply FROM idempotent_calls WHERE id = :id', {
      id,
    });
    t.is(row?.reply.startsWith('weir1:'), isSealed, id);
  }
});
