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
  const data = JSON.stringify(await panel.get('/panel/api/clients/export'));
  await panel.get('/panel/api/clients/bulkDel', { body: { emails: ['expired', 'off'] } });
  await panel.get('/panel/api/clients/import', { body: { data } });
  const isEnabled = async (email: string) =>
    (await panel.get<{ enable: boolean }>(`/panel/api/clients/get/${email}`)).enable;
  t.deepEqual([await isEnabled('expired'), await isEnabled('off')], [false, false]);
  for (const email of ['expired', 'off'])
    await panel.get(`/panel/api/clients/update/${email}`, { body: { expiryTime: later } });
  t.deepEqual([await isEnabled('expired'), await isEnabled('off')], [true, false]);
});
