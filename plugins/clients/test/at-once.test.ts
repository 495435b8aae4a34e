// Runs on every database in test:full.
// Calls that come at the same moment: the core has the users that memory and the database say, whoever came first.
import test, { type ExecutionContext } from 'ava';
import type { Database, Principal } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { GroupStore } from '../groups/group-store.js';
import clients from '../index.js';
import type { ClientStore } from '../model/client-store.js';

interface Inside {
  readonly db: Database;
  readonly self: Principal;
  readonly store: ClientStore;
  readonly groupStore: GroupStore;
}

async function boot(t: ExecutionContext) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const observed = servicesOf<Inside>(clients);
  const panel = await TestPanel.boot({ plugins: [observed.plugin, engine.plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const [first, second] = [await panel.addInbound(), await panel.addInbound()];
  const { id } = await panel.addClient('a', [first]);
  const post = (path: string, body: object = {}): Promise<unknown> =>
    panel.get(`/panel/api/clients/${path}`, { method: 'POST', body });
  const { db, self, store, groupStore } = observed.services;
  return { db, self, store, groupStore, engine, clock, panel, first, second, id, post };
}

test('a client that is disabled while it is attached is a user of no inbound', async (t) => {
  const { engine, second, post } = await boot(t);
  await Promise.all([post('a/attach', { inboundIds: [second] }), post('update/a', { enable: false })]);
  t.deepEqual([...engine.users.keys()], []);
});

test('a client that is deleted while it is attached is a user of no inbound', async (t) => {
  const { engine, second, post } = await boot(t);
  await Promise.all([post('a/attach', { inboundIds: [second] }), post('del/a')]);
  t.deepEqual([...engine.users.keys()], []);
});

test('a client whose UUID changes while it is attached has the new one at every inbound', async (t) => {
  const { engine, second, post } = await boot(t);
  const uuid = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
  await Promise.all([post('a/attach', { inboundIds: [second] }), post('update/a', { uuid })]);
  t.deepEqual(
    [...engine.users.values()].map((account) => account['id']),
    [uuid, uuid],
  );
});

test('limits are applied to what the database says, not to memory that lacks the write before', async (t) => {
  const { db, self, store, id, post } = await boot(t);
  const [used, granted] = [1000, 5000];
  await post('update/a', { totalGB: used, expiryTime: -1000 });
  await db.write((tx) => store.addUsage(tx, [{ clientId: id, inboundId: 1, up: used, down: 0 }], 1));
  await db.write(async (tx) => t.deepEqual([...(await store.atLimit(tx, [id], 1))], [id]));
  const raised = db.write((tx) =>
    tx.run('UPDATE clients SET total_gb = :granted, expiry_time = 7000 WHERE id = :id', { granted, id }),
  );
  const limited = db.write(async (tx) => {
    t.deepEqual([...(await store.atLimit(tx, [id], 1))], []);
    await store.startExpiry(tx, [id], 1, self);
  });
  await Promise.all([raised, limited]);
  const [row] = await db.query<{ at: number }>('SELECT expiry_time AS at FROM clients WHERE id = :id', {
    id,
  });
  t.is(row?.at, 7000);
});

test('a group that is reset together with its clients counts from zero', async (t) => {
  const { db, store, id, post, panel } = await boot(t);
  const usedOf = async () => (await panel.get<{ up: number }[]>('/panel/api/clients/groups'))[0]?.up;
  const use = (up: number) =>
    db.write((tx) => store.addUsage(tx, [{ clientId: id, inboundId: 1, up, down: 0 }], 1));
  await post('update/a', { group: 'g' });
  for (let round = 0; round < 5; round++) {
    await use(500);
    await Promise.all([post('resetTraffic/a'), post('groups/resetTraffic', { name: 'g' })]);
    t.is(await usedOf(), 0);
    await use(100);
    t.is(await usedOf(), 100, `round ${round}`);
    await post('groups/resetTraffic', { name: 'g' });
  }
});

test('a group that is renamed while its clients are reset keeps its traffic', async (t) => {
  const { db, store, id, post, panel } = await boot(t);
  await post('update/a', { group: 'g0' });
  for (let round = 0; round < 5; round++) {
    await db.write((tx) => store.addUsage(tx, [{ clientId: id, inboundId: 1, up: 500, down: 0 }], 1));
    await Promise.all([
      post('resetTraffic/a'),
      post('groups/rename', { oldName: `g${round}`, newName: `g${round + 1}` }),
    ]);
    t.like(await panel.get('/panel/api/clients/groups'), [{ name: `g${round + 1}`, up: 500 * (round + 1) }]);
  }
});
