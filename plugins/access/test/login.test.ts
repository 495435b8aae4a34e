// Logins: what limits guessing, what others hear of them, and a password that changes meanwhile.
import test from 'ava';
import { definePlugin, type Hooks, type RequestInfo, type SessionsApi, tap } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, TestPanel } from '../../../test/harness/panel.js';
import type { Admins } from '../admins.js';
import { Attempts } from '../attempts.js';
import { loginAttempted } from '../contract.js';
import { Login } from '../login.js';
import { LoginLimits } from '../login-limits.js';
import type { TwoFactor } from '../two-factor.js';

const MINUTE = 60_000;
const limitsOf = (clock = new FakeClock()) => ({ clock, limits: new LoginLimits({ clock }) });
const fail = (limits: LoginLimits, times: number, ip: string, username = 'admin') =>
  Array.from({ length: times }, () => limits.attempt(ip, username));
const isBlocked = (verdict: object | undefined): boolean => verdict !== undefined && 'blockedFor' in verdict;

test('five failures for a name from one address block the pair, not the address and not the name', (t) => {
  const { limits, clock } = limitsOf();
  t.false(fail(limits, 5, '192.0.2.1').some(isBlocked));
  t.deepEqual(limits.attempt('192.0.2.1', 'admin'), { blockedFor: 15 * MINUTE });
  t.true(isBlocked(limits.attempt('192.0.2.1', ' ADMIN ')));
  t.false(isBlocked(limits.attempt('192.0.2.1', 'other')));
  t.false(isBlocked(limits.attempt('192.0.2.2', 'admin')));
  clock.tick(15 * MINUTE);
  t.false(isBlocked(limits.attempt('192.0.2.1', 'admin')), 'a block ends');
});

test('failures are forgotten after five minutes, and by a success', (t) => {
  const { limits, clock } = limitsOf();
  fail(limits, 5, '192.0.2.1');
  clock.tick(5 * MINUTE);
  t.false(fail(limits, 5, '192.0.2.1').some(isBlocked));
  limits.succeeded('192.0.2.1', 'admin');
  t.false(fail(limits, 5, '192.0.2.1').some(isBlocked));
  t.true(isBlocked(limits.attempt('192.0.2.1', 'admin')));
  limits.forget();
  t.false(isBlocked(limits.attempt('192.0.2.1', 'admin')));
});

test('one address, or one IPv6 network, cannot try one password on many names', (t) => {
  const { limits } = limitsOf();
  for (const addresses of [(): string => '192.0.2.1', (i: number): string => `2001:db8:1:2:${i}::1`]) {
    const verdicts = Array.from({ length: 21 }, (_, i) => limits.attempt(addresses(i), `name${i}`));
    t.is(verdicts.findIndex(isBlocked), 20);
    t.true(isBlocked(limits.attempt(addresses(99), 'another')));
  }
  t.false(isBlocked(limits.attempt('2001:db8:1:3::1', 'another')));
});

test('a name that is tried from everywhere is slowed down, never blocked', (t) => {
  const { limits } = limitsOf();
  const verdicts = Array.from({ length: 40 }, (_, i) => limits.attempt(`192.0.2.${i}`, 'admin'));
  t.false(verdicts.some(isBlocked));
  t.deepEqual(
    verdicts.slice(0, 6),
    [0, 0, 0, 100, 200, 400].map((delay) => ({ delay })),
  );
  t.deepEqual(verdicts.at(-1), { delay: 5000 });
});

test('others hear of every login and why it failed, in words without secrets', async (t) => {
  const heard: object[] = [];
  const listener = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    hooks: () => [tap(loginAttempted, ({ attempts }) => void heard.push(...attempts))],
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, listener],
    clock: new FakeClock(),
  });
  await panel.kernel.settled();
  heard.length = 0;
  for (let i = 0; i < 6; i++)
    await panel.call('/login', { body: { ...ADMIN, password: 'wrong' }, anonymous: true });
  await panel.kernel.settled();
  const failed = { username: ADMIN.username, ip: '127.0.0.1', ok: false };
  t.deepEqual(heard, [
    ...Array.from({ length: 5 }, () => ({ ...failed, reason: 'invalid credentials' })),
    { ...failed, reason: 'too many failed attempts' },
  ]);
});

test('a login that began with a password which is changed meanwhile opens nothing', async (t) => {
  const open = new Set<string>();
  const sessions = {
    open: async () => {
      open.add('it');
      return { id: 'id', session: { digest: 'it' } };
    },
    close: async (digest: string) => void open.delete(digest),
  };
  const admins = { withPassword: async () => ({ id: 1 }), isUnchanged: async () => false };
  const { limits } = limitsOf();
  const login = new Login({
    admins: admins as unknown as Admins,
    attempts: new Attempts({ limits }),
    twoFactor: { isOn: false } as TwoFactor,
    sessions: sessions as unknown as SessionsApi,
    hooks: { check: async () => undefined, isUsed: () => false } as unknown as Hooks,
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
