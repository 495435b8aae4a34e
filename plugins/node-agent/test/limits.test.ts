// What one central can cost others, and how a panel finds out that it is not meant.
import test from 'ava';
import { refused } from '../../../test/harness/refused.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { Database } from '../../../kernel/index.js';
import nodeAgent from '../index.js';
import { newRecord, type Records } from '../records.js';
import { CENTRAL, client, inbound, openManaged, OTHER, wire } from './world.js';

test('a central that names a seq of the future costs one epoch, not all of them', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  await world.move(1, 0, 100);
  const [first] = await world.usage();
  const liar = wire(world.panel, OTHER);
  await liar.apply();
  const names = new Set<string>();
  for (let i = 0; i < 20; i++) {
    const epochs = await liar.usage([...names].at(-1) ?? first?.epoch ?? '', 9e15);
    names.add(epochs.at(-1)?.epoch ?? '');
  }
  t.is(names.size, 1, 'one new epoch');
  await world.move(1, 0, 1_000);
  await world.move(1, 0, 10);
  const told = await world.usage();
  t.deepEqual(
    told.map(({ users }) => users.map(({ down }) => down)),
    [[100], [10]],
    'its first poll is not told',
  );
  await world.settle(11 * 60_000);
  await liar.usage(told.at(-1)?.epoch, 9e15);
  t.is((await world.usage()).length, 3, 'a machine may be restored more than once');
});

test('inbounds of a central are bounded, refused ones too', async (t) => {
  const observed = servicesOf(nodeAgent);
  const world = await openManaged({ plugins: [observed.plugin] });
  await using _ = world.panel;
  const { db, records } = observed.services as unknown as { db: Database; records: Records };
  const many = Array.from({ length: 4_999 }, (_x, i) => newRecord(1, 'inbound', 100 + i));
  await db.write((tx) => records.save(tx, many));
  const before = await records.count(1);
  t.is(await records.countInbounds(1), 5_000);
  const [more, gone] = await world.apply(inbound(9_000, 1), inbound(9_001, 1, null));
  t.regex(more?.reason ?? '', /5000 inbounds/);
  t.deepEqual([more?.ok, gone?.ok], [false, false]);
  t.is(await records.count(1), before);
  t.true((await world.apply(inbound(100, 1, null)))[0]?.ok);
  const [now] = await world.apply(inbound(9_000, 1));
  t.true(now?.ok, 'there is room again');
});

test('every refused inbound is tried again, however many are refused before it', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const own = await world.panel.addInbound({ tag: 'own', protocol: 'trojan' });
  const port = (await world.inbounds()).find(({ tag }) => tag === 'own')?.port ?? 0;
  const wrong = Array.from({ length: 25 }, (_x, i) => inbound(20 + i, 1, { protocol: 'nonsense' }));
  await world.apply(...wrong, inbound(60, 1, { port }));
  await world.panel.get(`/panel/api/inbounds/del/${own}`, { method: 'POST' });
  for (let i = 0; i < 2; i++)
    await world.panel.call('/panel/api/system/jobs/node-agent/retry', { method: 'POST' });
  const last = (await world.records()).find(({ id }) => id === 60);
  t.is(last?.state, 'ok', last?.refused);
});

test('every refused client is tried again with later calls, however many are refused before it', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  await world.panel.addClient('taken', [await world.panel.addInbound()]);
  const wrong = Array.from({ length: 25 }, (_x, i) => client(20 + i, 1, { totalGB: -1 }));
  await world.apply(...wrong, client(60, 1, { email: 'taken' }));
  await world.panel.get('/panel/api/clients/del/taken', { method: 'POST' });
  for (let i = 0; i < 2; i++) await world.apply(client(1, 2 + i));
  const last = (await world.records()).find(({ id }) => id === 60);
  t.is(last?.state, 'ok', last?.refused);
});

test('a call that is meant for another panel changes nothing', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const body = { central: CENTRAL, node: 'another-panel', changes: [client(3, 1)] };
  await refused(
    t,
    world.panel,
    '/panel/api/x/node/apply',
    { body },
    { status: 409, code: 'NODE_AGENT_OTHER_PANEL', field: 'node' },
  );
  t.is((await world.records()).length, 3);
});
