// What was expired in one panel is expired in the next, and comes back in the same way.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

test('an expired client that was exported and imported is enabled by a later expiry, one that an admin disabled is not', async (t) => {
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  const inboundIds = [await panel.addInbound()];
  const [past, later] = [clock.now() - 1000, clock.now() + 1_000_000];
  await panel.addClient('expired', inboundIds, { expiryTime: past });
  await panel.addClient('off', inboundIds, { expiryTime: past, enable: false });
  // Another panel does not say which limit disabled a client.
  const moved = { client: { email: 'moved', enable: false, expiryTime: past }, inboundIds };
  const items = await panel.get<object[]>('/panel/api/clients/export');
  const data = JSON.stringify([...items, moved]);
  await panel.get('/panel/api/clients/bulkDel', { body: { emails: ['expired', 'off'] } });
  await panel.get('/panel/api/clients/import', { body: { data } });
  const isEnabled = async (email: string) =>
    (await panel.get<{ enable: boolean }>(`/panel/api/clients/get/${email}`)).enable;
  const emails = ['expired', 'off', 'moved'];
  t.deepEqual(await Promise.all(emails.map(isEnabled)), [false, false, false]);
  for (const email of emails)
    await panel.get(`/panel/api/clients/update/${email}`, { body: { expiryTime: later } });
  t.deepEqual(await Promise.all(emails.map(isEnabled)), [true, false, true]);
});

test('what a client used travels with it, and with that its quota', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  const inboundIds = [await panel.addInbound()];
  const use = (email: string, upload: number, download: number) =>
    panel.get(`/panel/api/clients/updateTraffic/${email}`, { body: { upload, download } });
  for (const [email, totalGB] of [
    ['some', 100],
    ['over', 100],
    ['none', 0],
  ] as const)
    await panel.addClient(email, inboundIds, { totalGB });
  await use('some', 10, 20);
  await use('over', 60, 70);
  await panel.get('/panel/api/clients/update/over', { body: { comment: 'x' } });
  const items =
    await panel.get<{ client: { email: string; enable: boolean }; traffic?: object }[]>(
      '/panel/api/clients/export',
    );
  t.true(items[1]?.client.enable, 'a limit is not the choice of an admin');
  t.deepEqual(
    items.map(({ traffic }) => traffic),
    [{ up: 10, down: 20 }, { up: 60, down: 70 }, undefined],
  );
  await panel.get('/panel/api/clients/bulkDel', { body: { emails: ['some', 'over', 'none'] } });
  const broken = { client: { email: 'broken' }, traffic: { up: -1, down: 0 } };
  const result = await panel.get<{ created: number; skipped: { email: string }[] }>(
    '/panel/api/clients/import',
    { body: { data: JSON.stringify([broken, ...items]) } },
  );
  t.is(result.created, 3);
  t.like(result.skipped, [{ email: 'broken' }]);
  const get = (email: string) =>
    panel.get<{ enable: boolean; traffic: { up: number; down: number } }>(`/panel/api/clients/get/${email}`);
  t.like(await get('some'), { enable: true, traffic: { up: 10, down: 20 } });
  t.like(await get('over'), { enable: false, traffic: { up: 60, down: 70 } });
  t.deepEqual(await panel.get('/panel/api/clients/export'), items);
  await panel.get('/panel/api/clients/update/over', { body: { totalGB: 1000 } });
  t.true((await get('over')).enable, 'a higher quota enables it');
});
