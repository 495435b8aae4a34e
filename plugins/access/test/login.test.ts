// Logins in a whole panel: what other plugins receive, and a password that changes meanwhile.
import test from 'ava';
import { definePlugin, type Hooks, type RequestInfo, type SessionsApi, tap } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, TestPanel } from '../../../test/harness/panel.js';
import type { Admins } from '../admins.js';
import type { Attempts } from '../attempts.js';
import { loginAttempted } from '../contract.js';
import type { DeviceCookie } from '../device-cookie.js';
import type { KnownAddresses } from '../known-addresses.js';
import { Login } from '../login.js';
import { LoginReports } from '../login-reports.js';
import { SessionOpener } from '../session-opener.js';
import type { TwoFactor } from '../two-factor.js';

test('reports every login and its failure to other plugins, without secrets', async (t) => {
  const heard: object[] = [];
  const listener = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [tap(loginAttempted, ({ attempts }) => void heard.push(...attempts))],
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, listener],
    clock: new FakeClock(),
  });
  await panel.kernel.settled();
  t.deepEqual(heard.splice(0), [
    { username: ADMIN.username, ip: '127.0.0.1', ok: true, reason: '', method: 'password' },
  ]);
  for (let i = 0; i < 6; i++)
    await panel.call('/login', { body: { ...ADMIN, password: 'wrong' }, anonymous: true });
  await panel.kernel.settled();
  const failed = { username: ADMIN.username, ip: '127.0.0.1', ok: false, method: 'password' };
  t.deepEqual(heard, [
    ...Array.from({ length: 5 }, () => ({ ...failed, reason: 'invalid credentials' })),
    { ...failed, reason: 'too many failed attempts' },
  ]);
});

test('rejects a login whose password changes meanwhile', async (t) => {
  const open = new Set<string>();
  const sessions = {
    open: async () => {
      open.add('it');
      return { id: 'id', session: { digest: 'it' } };
    },
    close: async (digest: string) => void open.delete(digest),
  };
  const admins = { withPassword: async () => ({ id: 1 }), isUnchanged: async () => false };
  const hooks = {
    check: async () => undefined,
    choose: async () => undefined,
    isUsed: () => false,
  } as unknown as Hooks;
  const reports = new LoginReports({ hooks });
  const opener = new SessionOpener({
    admins: admins as unknown as Admins,
    addresses: { remember: () => t.fail('the address became known') } as unknown as KnownAddresses,
    devices: { set: () => t.fail('the device became known') } as unknown as DeviceCookie,
    sessions: sessions as unknown as SessionsApi,
    hooks,
    reports,
  });
  const attempts = { run: (_: unknown, check: (attempt: object) => unknown) => check({}) };
  const login = new Login({
    admins: admins as unknown as Admins,
    attempts: attempts as unknown as Attempts,
    twoFactor: {
      passes: async () => ({ factor: undefined }),
      stillCounts: async () => true,
    } as unknown as TwoFactor,
    sessions: sessions as unknown as SessionsApi,
    hooks,
    opener,
    reports,
  });
  const request = {
    ip: '192.0.2.1',
    headers: {},
    cookies: {},
    reply: { cookie: () => t.fail('a cookie was set') },
    signal: new AbortController().signal,
  } as unknown as RequestInfo;
  await t.throwsAsync(login.in(ADMIN, request), { message: /is wrong/ });
  t.is(open.size, 0);
});
