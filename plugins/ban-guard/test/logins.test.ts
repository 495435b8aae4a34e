// Addresses that guess passwords.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import type { BanFacts } from '../contract.js';
import { RecordingDriver } from './recording-driver.js';

const BEHIND = { WEIR_TRUSTED_PROXIES: '127.0.0.1' };

async function boot(most = 3) {
  const driver = new RecordingDriver();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, driver.plugin],
    clock,
    env: BEHIND,
  });
  await panel.get('/panel/api/setting/update', {
    body: { banGuardDriver: 'recording', banGuardLoginFailures: most },
  });
  await panel.kernel.settled();
  await panel.get('/panel/api/system/jobs/ban-guard/reconcile', { method: 'POST' });
  const login = async (ip: string, password = 'wrong', username = 'admin') => {
    const answer = await panel.call('/login', {
      body: { username, password },
      anonymous: true,
      headers: { 'x-forwarded-for': ip },
    });
    await panel.kernel.settled();
    return answer.status;
  };
  const banned = async () =>
    (await panel.get<BanFacts[]>('/panel/api/x/ban-guard/bans')).map(
      ({ address, scope, reason }) => `${address} ${scope} ${reason}`,
    );
  return { panel, driver, clock, login, banned };
}

test('too many failures within ten minutes ban the real address from the panel, an IPv6 /64 as one', async (t) => {
  const { panel, driver, login, banned, clock } = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  for (const ip of ['2001:db8:0:3::1', '2001:db8:0:3::2']) await login(ip);
  t.deepEqual(await banned(), []);
  await login('2001:db8:0:3:4::5');
  t.deepEqual(await banned(), ['2001:db8:0:3:: panel login']);
  t.is(driver.bans.get('panel 2001:db8:0:3::')?.seconds, 3600);
  for (const [i, ip] of ['198.51.100.1', '198.51.100.1', '198.51.100.1'].entries()) {
    if (i === 2) clock.tick(600_000);
    await login(ip);
  }
  t.is((await banned()).length, 1, 'failures of ten minutes ago do not count');
});

test('a proxy, this machine and an address from which an admin works are never banned', async (t) => {
  const { panel, login, banned, clock } = await boot(1);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await login('127.0.0.1');
  await login('10.0.0.7');
  t.deepEqual(await banned(), []);
  await panel.get('/panel/api/setting/update', { body: { ipLimitAllowlist: '198.51.100.0/24' } });
  await login('198.51.100.9');
  t.deepEqual(await banned(), []);
  clock.tick(61_000);
  await panel.call('/panel/api/x/ban-guard/status', { headers: { 'x-forwarded-for': '203.0.113.4' } });
  await login('203.0.113.4');
  t.deepEqual(await banned(), []);
  await login('203.0.113.5');
  t.deepEqual(await banned(), ['203.0.113.5 panel login']);
});

test('0 bans nobody, and a name with a line break ends in no log line of bans', async (t) => {
  const { panel, login, banned } = await boot(0);
  t.teardown(() => panel[Symbol.asyncDispose]());
  for (let i = 0; i < 4; i++) await login('198.51.100.1', 'wrong', 'x\n1790000000 ban 9.9.9.9');
  t.deepEqual(await banned(), []);
});
