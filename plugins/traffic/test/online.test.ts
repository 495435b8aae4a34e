import test from 'ava';
import { rm } from 'node:fs/promises';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { OnlineClients } from '../online.js';

const onlines = (panel: TestPanel): Promise<string[]> =>
  panel.get('/panel/api/clients/onlines', { method: 'POST' });
const lastOnline = (panel: TestPanel): Promise<Record<string, number>> =>
  panel.get('/panel/api/clients/lastOnline', { method: 'POST' });
const onlineInList = async (panel: TestPanel): Promise<string[]> =>
  (await panel.get<{ summary: { online: string[] } }>('/panel/api/clients/list/paged')).summary.online;

/** A panel with the clients `ada` and `bob`, and a poll that ends before the function returns. */
async function boot() {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  const inboundId = await panel.addInbound();
  const ada = await panel.addClient('ada', [inboundId]);
  const bob = await panel.addClient('bob', [inboundId]);
  const poll = async (): Promise<void> => {
    // Its own bytes prove that the poll took place.
    engine.move(inboundId, bob.id, 0, 1);
    const before = await used(panel, 'bob');
    // A tick during a poll starts no other poll.
    await panel.kernel.settled();
    clock.tick(5000);
    await panel.kernel.settled();
    if ((await used(panel, 'bob')) <= before) throw new Error('no poll took place');
  };
  return { engine, clock, panel, inboundId, ada, bob, poll };
}
const used = async (panel: TestPanel, email: string): Promise<number> =>
  (await panel.get<{ down: number }>(`/panel/api/clients/traffic/${email}`)).down;

test('a client that moved bytes within 20 seconds is online, in both lists', async (t) => {
  const { engine, panel, inboundId, ada, poll } = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  t.deepEqual(await onlines(panel), []);
  engine.move(inboundId, ada.id, 10, 20);
  await poll();
  t.deepEqual((await onlines(panel)).sort(), ['ada', 'bob']);
  t.deepEqual((await onlineInList(panel)).sort(), ['ada', 'bob']);
  for (let i = 0; i < 3; i++) await poll();
  t.deepEqual((await onlines(panel)).sort(), ['ada', 'bob'], '15 seconds later');
  await poll();
  t.deepEqual(await onlines(panel), ['bob'], '20 seconds later');
  t.deepEqual(await onlineInList(panel), ['bob']);
});

test('a disabled or deleted client is not online', async (t) => {
  const { engine, panel, inboundId, ada, poll } = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  engine.move(inboundId, ada.id, 10, 20);
  await poll();
  await panel.get('/panel/api/clients/update/ada', { body: { enable: false } });
  t.deepEqual(await onlines(panel), ['bob']);
  await panel.get('/panel/api/clients/del/bob', { method: 'POST' });
  t.deepEqual(await onlines(panel), []);
});

test('no client is online without a core, nor right after a new one starts', async (t) => {
  const { engine, clock, panel, poll } = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  await poll();
  engine.running = false;
  t.deepEqual(await onlines(panel), []);
  t.deepEqual(await onlineInList(panel), []);
  clock.tick(5000);
  await panel.kernel.settled();
  t.deepEqual(await onlines(panel), []);
  engine.running = true;
  t.deepEqual(await onlines(panel), []);
});

test('lastOnline is in seconds, 0 for never, and outlives a restart', async (t) => {
  const { engine, clock, panel, inboundId, ada, poll } = await boot();
  t.teardown(() => rm(panel.dataDirectory, { recursive: true, force: true }));
  await panel.addClient('__proto__', [inboundId]);
  engine.move(inboundId, ada.id, 10, 20);
  await poll();
  const then = clock.now();
  const expected = Object.fromEntries([
    ['ada', then / 1000],
    ['bob', then / 1000],
    ['__proto__', 0],
  ]);
  t.deepEqual(Object.entries(await lastOnline(panel)), Object.entries(expected));
  await panel.stop();

  const second = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(then + 3_600_000),
    dataDirectory: panel.dataDirectory,
  });
  t.teardown(() => second.stop());
  t.deepEqual(Object.entries(await lastOnline(second)), Object.entries(expected));
  t.deepEqual(await onlines(second), []);
  t.is((await second.get<{ lastOnline: number }>('/panel/api/clients/traffic/ada')).lastOnline, then);
});

test('by guid of this panel: who is online, and which inbounds moved bytes', async (t) => {
  const { engine, panel, inboundId, ada, poll } = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  const post = (path: string) =>
    panel.get<Record<string, string[]>>(`/panel/api/clients/${path}`, { method: 'POST' });
  const { tag, originNodeGuid: guid } = await panel.get<{ tag: string; originNodeGuid: string }>(
    `/panel/api/inbounds/get/${inboundId}`,
  );
  t.deepEqual([await post('onlinesByGuid'), await post('activeInbounds')], [{ [guid]: [] }, { [guid]: [] }]);
  await panel.addInbound();
  engine.move(inboundId, ada.id, 10, 20);
  await poll();
  t.deepEqual((await post('onlinesByGuid'))[guid]?.sort(), ['ada', 'bob']);
  t.deepEqual(await post('activeInbounds'), { [guid]: [tag] });
  for (let i = 0; i < 4; i++) await poll();
  t.deepEqual(await post('onlinesByGuid'), { [guid]: ['bob'] }, '20 seconds later');
});

test('lastOnline is in seconds, in the record of the client in ms', async (t) => {
  const { engine, clock, panel, inboundId, ada, poll } = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  engine.move(inboundId, ada.id, 10, 20);
  await poll();
  const at = clock.now();
  t.is((await lastOnline(panel))['ada'], Math.floor(at / 1000));
  t.like(await panel.get('/panel/api/clients/traffic/ada'), { lastOnline: at });
});

test('for thousands of clients that moved bytes, a place is asked for once for each inbound', (t) => {
  let asked = 0;
  const online = new OnlineClients({
    inbounds: {
      get: (id: number) => ({ id }),
      placeOf: ({ id }: { id: number }) => {
        asked += 1;
        return { guid: `guid-${id}`, name: '' };
      },
    },
    identity: { guid: 'here' },
  } as never);
  const usage = Array.from({ length: 3_000 }, (_, i) => ({
    ...{ clientId: i + 1, inboundId: (i % 3) + 1 },
    ...{ up: 1, down: 1 },
  }));
  online.moved(usage, 1_000, 'source');
  t.is(asked, 3);
});
