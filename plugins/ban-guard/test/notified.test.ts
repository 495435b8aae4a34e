import test from 'ava';
import { FakeClock, TestPanel } from '../../../test/harness/index.js';
import { until } from '../../../test/harness/until.js';
import { heardBy } from '../../notifications/test/channels.js';
import { bannedAddresses } from '../notified.js';
import { RecordingDriver } from './recording-driver.js';

test('bans are told in one notification to a channel that wants them', async (t) => {
  const driver = new RecordingDriver();
  const { plugin, heard } = heardBy('wanting', { events: () => ['addressesBanned'] });
  await using panel = await TestPanel.boot({
    plugins: [driver.plugin],
    outside: [plugin],
    clock: new FakeClock(),
  });
  await panel.get('/panel/api/setting/update', { body: { banGuardDriver: 'recording' } });
  await panel.kernel.settled();
  await panel.get('/panel/api/x/ban-guard/ban', { body: { address: '198.51.100.1' } });
  await until(() => heard.length === 1, 'the ban');
  t.like(heard[0], { severity: 'warning', text: 'An address was banned: 198.51.100.1 (by an admin).' });
  const of = (reason: string, email: string) => ({ address: '198.51.100.2', scope: 'proxy', reason, email });
  const bans = [of('limitIp', 'ada'), of('login', '')];
  const [told, ...more] = bannedAddresses.describe({ bans } as never);
  t.deepEqual(more, []);
  t.like(told, { args: { count: 2 }, data: { bans: [{ email: 'ada' }, { reason: 'login' }] } });
  t.false(JSON.stringify(told?.data).includes('"email":""'));
});
