import test from 'ava';
import { FakeClock, FakeEngine, refused, TestPanel, until } from '../../../test/harness/index.js';

interface Group {
  readonly name: string;
  readonly clientCount: number;
  readonly trafficUsed: number;
  readonly up: number;
  readonly down: number;
}
const API = '/panel/api/clients';
const post = <T = null>(panel: TestPanel, path: string, body?: object): Promise<T> =>
  panel.get<T>(`${API}/${path}`, { method: 'POST', ...(body && { body }) });
const groups = (panel: TestPanel): Promise<Group[]> => panel.get(`${API}/groups`);
const names = async (panel: TestPanel): Promise<string[]> =>
  (await groups(panel)).map(({ name, clientCount }) => `${name} ${clientCount}`);
const boot = (engine = new FakeEngine(), clock = new FakeClock()): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [engine.plugin], clock });

test('lists created groups and groups that clients name', async (t) => {
  await using panel = await boot();
  const id = await panel.addInbound();
  t.deepEqual(await groups(panel), []);
  t.deepEqual(await post(panel, 'groups/create', { name: ' beta ' }), { name: 'beta' } as unknown as null);
  for (const [email, group] of [
    ['z', 'Alpha'],
    ['a', 'Alpha'],
    ['b', ''],
    ['c', 'gamma/x y'],
  ])
    await panel.addClient(email ?? '', [id], { group });
  t.deepEqual(await groups(panel), [
    { name: 'Alpha', clientCount: 2, trafficUsed: 0, up: 0, down: 0 },
    { name: 'beta', clientCount: 0, trafficUsed: 0, up: 0, down: 0 },
    { name: 'gamma/x y', clientCount: 1, trafficUsed: 0, up: 0, down: 0 },
  ]);
  t.deepEqual((await panel.get<{ groups: string[] }>(`${API}/list/paged`)).groups, [
    'Alpha',
    'beta',
    'gamma/x y',
  ]);
  t.deepEqual(await panel.get(`${API}/groups/Alpha/emails`), ['a', 'z']);
  t.deepEqual(await panel.get(`${API}/groups/${encodeURIComponent('gamma/x y')}/emails`), ['c']);
  t.deepEqual(await panel.get(`${API}/groups/nobody/emails`), []);
  await refused(
    t,
    panel,
    `${API}/groups/create`,
    { body: { name: 'beta' } },
    { status: 409, code: 'CLIENTS_GROUP_TAKEN', field: 'name' },
  );
  await post(panel, 'groups/create', { name: 'Alpha' });
  t.deepEqual(
    await names(panel),
    ['Alpha 2', 'beta 0', 'gamma/x y 1'],
    'a name on clients may be created as well',
  );
});

test('adds clients to groups and removes them; a rename keeps the clients', async (t) => {
  const engine = new FakeEngine();
  await using panel = await boot(engine);
  const id = await panel.addInbound();
  for (const email of ['a', 'b', 'c']) await panel.addClient(email, [id]);
  engine.told.length = 0;
  t.deepEqual(await post(panel, 'groups/bulkAdd', { emails: ['a', 'B', 'nobody'], group: 'one' }), {
    affected: 2,
  } as unknown as null);
  t.deepEqual(await post(panel, 'groups/bulkAdd', { emails: ['a', 'c'], group: 'one' }), {
    affected: 1,
  } as unknown as null);
  t.deepEqual(await post(panel, 'groups/rename', { oldName: 'one', newName: 'two' }), {
    affected: 3,
  } as unknown as null);
  t.deepEqual(await names(panel), ['two 3']);
  t.deepEqual(await post(panel, 'groups/rename', { oldName: 'two', newName: 'two' }), {
    affected: 0,
  } as unknown as null);
  t.deepEqual(await post(panel, 'groups/bulkRemove', { emails: ['a', 'b', 'c', 'a'] }), {
    affected: 3,
  } as unknown as null);
  t.deepEqual(await names(panel), ['two 0']);
  await post(panel, 'groups/bulkAdd', { emails: ['a'], group: 'two' });
  await post(panel, 'groups/create', { name: 'three' });
  await refused(
    t,
    panel,
    `${API}/groups/rename`,
    { body: { oldName: 'two', newName: 'three' } },
    { status: 409, code: 'CLIENTS_GROUP_TAKEN', field: 'newName' },
  );
  await refused(
    t,
    panel,
    `${API}/groups/rename`,
    { body: { oldName: 'nobody', newName: 'four' } },
    { status: 404, code: 'CLIENTS_GROUP_NOT_FOUND', field: 'oldName' },
  );
  t.deepEqual(await post(panel, 'groups/delete', { name: 'two' }), { affected: 1 } as unknown as null);
  t.deepEqual(await post(panel, 'groups/delete', { name: 'nobody' }), { affected: 0 } as unknown as null);
  t.deepEqual(await names(panel), ['three 0']);
  t.like(await panel.get(`${API}/get/a`), { group: '' });
  t.deepEqual(engine.told, [], 'groups are nothing to the core');
});

test('keeps the traffic of a group when its clients lose their counters; a reset sets it to zero', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await boot(engine, clock);
  const id = await panel.addInbound();
  for (const email of ['a', 'b', 'c']) await panel.addClient(email, [id], { group: 'g' });
  const used = async (): Promise<number | undefined> =>
    (await groups(panel)).find(({ name }) => name === 'g')?.trafficUsed;
  const move = async (client: number, total: number): Promise<void> => {
    engine.move(id, client, 40, 60);
    await until(() => {
      // A tick that meets a poll at work starts none.
      clock.tick(5000);
      return used().then((bytes) => bytes === total);
    }, `the group has used ${total}`);
  };
  await move(1, 100);
  await move(2, 200);
  await move(3, 300);
  t.like((await groups(panel))[0], { up: 120, down: 180, trafficUsed: 300 });
  await post(panel, 'resetTraffic/a');
  t.is(await used(), 300);
  await post(panel, 'del/b?keepTraffic=1');
  t.is(await used(), 300);
  await panel.addClient('b', [id], { group: 'g' });
  t.is(await used(), 300, 'what comes back was counted before');
  t.like(await panel.get(`${API}/traffic/b`), { up: 40, down: 60 });
  await post(panel, 'resetAllTraffics');
  t.is(await used(), 300);
  await post(panel, 'groups/resetTraffic', { name: 'g' });
  t.is(await used(), 0);
  await move(1, 100);
  await post(panel, 'groups/rename', { oldName: 'g', newName: 'h' });
  t.like((await groups(panel))[0], { name: 'h', trafficUsed: 100 });
  await refused(
    t,
    panel,
    `${API}/groups/resetTraffic`,
    { body: { name: 'g' } },
    { status: 404, code: 'CLIENTS_GROUP_NOT_FOUND', field: 'name' },
  );
});

test('rejects invalid group names', async (t) => {
  await using panel = await boot();
  for (const wrong of [undefined, null, 5, '', '   ', 'a\nb', 'x'.repeat(256), []]) {
    for (const [path, field] of [
      ['create', 'name'],
      ['delete', 'name'],
      ['resetTraffic', 'name'],
      ['rename', 'oldName'],
      ['rename', 'newName'],
      ['bulkAdd', 'group'],
    ] as const) {
      await refused(
        t,
        panel,
        `${API}/groups/${path}`,
        { body: { name: 'x', oldName: 'x', newName: 'y', group: 'x', emails: [], [field]: wrong } },
        { status: 400, code: 'KERNEL_INVALID', field },
      );
    }
  }
});
