// Runs on every database in test:full.
// What a group has used goes on, whatever becomes of the counters of its clients. Upload and download differ throughout.
import test from 'ava';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';

const API = '/panel/api/clients';
type Used = Record<string, string>;

async function boot(engine: FakeEngine, clock: FakeClock, dataDirectory?: string) {
  const panel = await TestPanel.boot({
    plugins: [engine.plugin],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  const post = (path: string, body: object = {}) => panel.get(`${API}/${path}`, { method: 'POST', body });
  const used = async (): Promise<Used> =>
    Object.fromEntries(
      (await panel.get<{ name: string; up: number; down: number }[]>(`${API}/groups`)).map(
        ({ name, up, down }) => [name, `${up} up, ${down} down`],
      ),
    );
  return { panel, post, used };
}

test('deleting, resetting and re-adding clients does not change the usage of their group', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const world = await boot(engine, clock);
  t.teardown(() => world.panel[Symbol.asyncDispose]());
  const { panel, post, used } = world;
  const id = await panel.addInbound();
  const add = async (email: string, group: string): Promise<number> =>
    (await panel.addClient(email, [id], { group })).id;
  const poll = async (): Promise<void> => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  const moves = [
    [1, 2],
    [30, 50],
    [700, 1100],
    [9000, 20_000],
  ] as const;
  for (const [i, [up, down]] of moves.entries()) engine.move(id, await add(`g${i}`, 'g'), up, down);
  engine.move(id, await add('h0', 'h'), 5, 6);
  await poll();
  const [g, h] = ['9731 up, 21152 down', '5 up, 6 down'];
  t.deepEqual(await used(), { g, h });

  await post('resetTraffic/g0');
  t.deepEqual(await used(), { g, h }, 'one is reset');
  await post('del/g1');
  t.deepEqual(await used(), { g, h }, 'one is deleted');
  await post('bulkDel', { emails: ['g2'], keepTraffic: true });
  t.deepEqual(await used(), { g, h }, 'one is deleted, and what it used is kept');
  await add('g2', 'h');
  t.deepEqual(await used(), { g, h }, 'it comes back in another group, which has not used these bytes');
  t.like(await panel.get(`${API}/traffic/g2`), { up: 700, down: 1100 });
  await post('bulkResetTraffic', { emails: ['g3', 'h0'] });
  t.deepEqual(await used(), { g, h }, 'many are reset');
  await post('updateTraffic/g2', { upload: 0, download: 0 });
  t.deepEqual(await used(), { g, h }, 'counters are set to nothing');
  const [g0, g3] = await Promise.all(
    ['g0', 'g3'].map((email) => panel.get<{ id: number }>(`${API}/traffic/${email}`)),
  );
  engine.move(id, g0?.id ?? 0, 10, 100);
  await poll();
  const more = '9741 up, 21252 down';
  t.deepEqual(await used(), { g: more, h }, 'new bytes come on top');
  await post('resetAllTraffics');
  t.deepEqual(await used(), { g: more, h }, 'all are reset');

  await panel.stop();
  const next = await boot(engine, clock, panel.dataDirectory);
  t.teardown(() => next.panel.stop());
  t.deepEqual(await next.used(), { g: more, h }, 'after a restart');
  const pollNext = async (): Promise<void> => {
    clock.tick(5000);
    await next.panel.kernel.settled();
  };

  await next.post('groups/resetTraffic', { name: 'g' });
  t.deepEqual(await next.used(), { g: '0 up, 0 down', h });
  engine.move(id, g3?.id ?? 0, 3, 8);
  await pollNext();
  t.deepEqual(await next.used(), { g: '3 up, 8 down', h });
  engine.move(id, g0?.id ?? 0, 40, 0);
  await pollNext();
  await next.post('groups/resetTraffic', { name: 'g' });
  t.deepEqual(await next.used(), { g: '0 up, 0 down', h }, 'reset while its clients have counters');
  engine.move(id, g3?.id ?? 0, 1, 4);
  await pollNext();
  await next.post('groups/rename', { oldName: 'g', newName: 'i' });
  await next.post('groups/create', { name: 'g' });
  t.deepEqual(await next.used(), { g: '0 up, 0 down', h, i: '1 up, 4 down' }, 'a name starts from zero');

  await next.post('groups/delete', { name: 'i' });
  t.deepEqual(await next.used(), { g: '0 up, 0 down', h }, 'its clients are in no group');
  await next.post('groups/bulkAdd', { emails: ['g3'], group: 'i' });
  t.deepEqual(
    (await next.used())['i'],
    '4 up, 12 down',
    'a group of the same name has what its clients have now',
  );
  await next.post('del/g3');
  t.is((await next.used())['i'], '4 up, 12 down');
});

test('a name on clients may be created, and take in a renamed group, also after their counters were reset', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const { panel, post, used } = await boot(engine, clock);
  t.teardown(() => panel[Symbol.asyncDispose]());
  const id = await panel.addInbound();
  for (const [i, name] of ['a', 'b', 'c'].entries()) {
    const client = await panel.addClient(name, [id], { group: name });
    engine.move(id, client.id, 10 ** i, 2 * 10 ** i);
  }
  clock.tick(5000);
  await panel.kernel.settled();
  for (const name of ['a', 'b', 'c']) await post(`resetTraffic/${name}`);
  const [a, b, c] = ['1 up, 2 down', '10 up, 20 down', '100 up, 200 down'];
  t.deepEqual(await used(), { a, b, c });

  await post('groups/create', { name: 'a' });
  t.deepEqual(await used(), { a, b, c });
  await post('resetTraffic/a');
  await refused(
    t,
    panel,
    `${API}/groups/create`,
    { body: { name: 'a' } },
    { status: 409, code: 'CLIENTS_GROUP_TAKEN', field: 'name' },
  );
  await post('groups/rename', { oldName: 'c', newName: 'b' });
  t.deepEqual(await used(), { a, b: '110 up, 220 down' });
  await refused(
    t,
    panel,
    `${API}/groups/rename`,
    { body: { oldName: 'b', newName: 'a' } },
    { status: 409, code: 'CLIENTS_GROUP_TAKEN', field: 'newName' },
  );
});
