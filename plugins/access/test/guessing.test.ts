// Guessing from many addresses, over real sockets: strangers are held back, an admin who was here before is not.
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { Secret, TOTP } from 'otpauth';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { ADMIN, type Answer, type TestPanel } from '../../../test/harness/panel.js';
import { bootBehindProxy } from './behind-proxy.js';

const test = anyTest as TestFn<{ panel: TestPanel; clock: FakeClock }>;
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const WRONG = { ...ADMIN, password: 'wrong' };

test.beforeEach(async (t) => {
  const clock = new FakeClock();
  t.context = { clock, panel: await bootBehindProxy(clock) };
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());
type Test = ExecutionContext<{ panel: TestPanel; clock: FakeClock }>;

/** Through the proxy on loopback that the panel trusts. */
const login = (
  { context: { panel } }: Test,
  ip: string,
  body: object = ADMIN,
  cookie = '',
): Promise<Answer> =>
  panel.call('/login', { body, anonymous: true, headers: { 'x-forwarded-for': ip, cookie } });
const statusOf = (answer: Promise<Answer>) => answer.then(({ status }) => status);
const deviceOf = ({ headers }: Answer): string =>
  headers
    .getSetCookie()
    .find((line) => line.startsWith('weir_device='))
    ?.split(';')[0] ?? '';
async function restart(t: Test): Promise<void> {
  const { panel, clock } = t.context;
  await panel.stop();
  t.context.panel = await bootBehindProxy(clock, panel.dataDirectory);
}
async function fail(t: Test, times: number, ip: (i: number) => string, body: object = WRONG): Promise<void> {
  for (let i = 0; i < times; i++) t.is(await statusOf(login(t, ip(i), body)), 401);
}

test('refuses most guesses at one name at once, from any number of networks', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => login(t, `2001:db8:${i.toString(16)}::1`, WRONG)),
  );
  const refusals = answers.filter(({ status }) => status === 429);
  t.log(`${answers.length - refusals.length} of ${answers.length} were checked`);
  t.true(refusals.length > 40, `${refusals.length} of 60 were refused`);
  for (const { headers } of refusals) t.is(headers.get('retry-after'), '5');
  t.is(await statusOf(login(t, '127.0.0.1')), 200);
});

test('while strangers use up a name, a known address and a known device log in at once, also after a restart', async (t) => {
  t.is(await statusOf(login(t, '192.0.2.1')), 200);
  const device = deviceOf(await login(t, '192.0.2.2'));
  await restart(t);
  const { panel } = t.context;
  t.regex(device, /^weir_device=[\w-]{22}\.\d+\.[\w-]{43}$/);
  await fail(t, 5, (i) => `198.51.100.${i}`);
  const order: string[] = [];
  const strangers = Array.from({ length: 4 }, (_, i) =>
    login(t, `203.0.113.${i}`, WRONG).then(() => order.push('stranger')),
  );
  // A fifth one is refused as soon as the four are under way.
  for (let i = 0; (await statusOf(login(t, `198.51.100.${100 + i}`, WRONG))) !== 429; i++)
    t.true(i < 20, 'the name never fills');
  const note = (answer: Promise<Answer>) => statusOf(answer).then((status) => order.push(String(status)));
  const logins = Promise.all([note(login(t, '192.0.2.1')), note(login(t, '203.0.113.77', ADMIN, device))]);
  // After the logins: a change of the password refuses those that are under way.
  const change = logins.then(() =>
    note(
      panel.call('/panel/api/setting/updateUser', {
        body: {
          oldUsername: ADMIN.username,
          oldPassword: ADMIN.password,
          newUsername: ADMIN.username,
          newPassword: ADMIN.password,
        },
        headers: { 'x-forwarded-for': '203.0.113.78' },
      }),
    ),
  );
  await Promise.all([change, ...strangers]);
  t.is(order.lastIndexOf('200') < order.lastIndexOf('stranger'), true, order.join(', '));
  t.is(order.filter((what) => what === '200').length, 3, order.join(', '));
});

test("a device cookie gives no access, and a forged one counts as a stranger's", async (t) => {
  const device = deviceOf(await login(t, '192.0.2.2'));
  await fail(t, 5, () => '198.51.100.1');
  t.is(await statusOf(login(t, '198.51.100.1')), 429);
  const [id = '', at = '', signature = ''] = device.replace('weir_device=', '').split('.');
  for (const forged of [
    `${'x'.repeat(22)}.${at}.${signature}`,
    `${id}.${Number(at) + 1}.${signature}`,
    `${id}.${at}.${'x'.repeat(43)}`,
    '..',
  ])
    t.is(await statusOf(login(t, '198.51.100.1', ADMIN, `weir_device=${forged}`)), 429, forged);
  t.is(
    (
      await t.context.panel.call('/panel/api/inbounds/list', {
        anonymous: true,
        headers: { cookie: device },
      })
    ).status,
    401,
  );
  t.is(await statusOf(login(t, '198.51.100.1', WRONG, device)), 401);
  const again = await login(t, '198.51.100.1', ADMIN, device);
  t.is(again.status, 200);
  t.is(deviceOf(again).split('.')[0], device.split('.')[0], 'a device keeps its id');
});

test('blocks of an address and of a pair, and known devices, survive a restart; a block ends after it', async (t) => {
  const { clock } = t.context;
  const device = deviceOf(await login(t, '192.0.2.1'));
  await fail(t, 5, () => '198.51.100.1', { ...WRONG, username: 'ada' });
  for (let i = 0; i < 20; i++) await fail(t, 1, () => `2001:db8::${i}`, { ...WRONG, username: `name ${i}` });
  await restart(t);
  const pair = await login(t, '198.51.100.1', { ...ADMIN, username: 'ada' });
  t.is(pair.status, 429);
  t.is(pair.headers.get('retry-after'), '900');
  t.is(await statusOf(login(t, '2001:db8::99')), 429, 'the whole /64 is');
  t.is(await statusOf(login(t, '198.51.100.1')), 200, 'another name from that address is not');
  t.is(await statusOf(login(t, '2001:db8::99', ADMIN, device)), 200, 'the device is known');
  await restart(t);
  t.is(await statusOf(login(t, '198.51.100.1', { ...ADMIN, username: 'ada' })), 429);
  clock.tick(15 * 60_000);
  t.is(await statusOf(login(t, '2001:db8::99')), 200);
});

test('wrong two-factor codes from many addresses block neither the name nor the admin', async (t) => {
  const { panel, clock } = t.context;
  const code = () => TOTP.generate({ secret: Secret.fromBase32(SECRET), timestamp: clock.now() });
  await panel.get('/panel/api/setting/update', {
    body: { twoFactorEnable: true, twoFactorToken: SECRET, twoFactorCode: code() },
  });
  clock.tick(30_000);
  await fail(t, 6, (i) => `198.51.100.${i}`, { ...ADMIN, twoFactorCode: '000000' });
  t.is(await statusOf(login(t, '127.0.0.1', { ...ADMIN, twoFactorCode: code() })), 200);
  clock.tick(30_000);
  t.is(await statusOf(login(t, '203.0.113.1', { ...ADMIN, twoFactorCode: code() })), 200, 'a stranger waits');
});

test("strangers at an admin's address lock out neither sessions nor tokens there", async (t) => {
  const { panel, clock } = t.context;
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'ci' },
  });
  for (let i = 0; i < 20; i++) await fail(t, 1, () => '127.0.0.1', { ...WRONG, username: `name ${i}` });
  t.is(await statusOf(login(t, '127.0.0.1')), 429, 'the address is blocked');
  const twoFactorCode = TOTP.generate({ secret: Secret.fromBase32(SECRET), timestamp: clock.now() });
  const on = { twoFactorEnable: true, twoFactorToken: SECRET, twoFactorCode };
  const { recoveryCodes } = await panel.get<{ recoveryCodes: string[] }>('/panel/api/setting/update', {
    body: on,
  });
  t.is(recoveryCodes.length, 10);
  const off = { twoFactorEnable: false, twoFactorCode: recoveryCodes[0] };
  const headers = { authorization: `Bearer ${token}` };
  t.is(await statusOf(panel.call('/panel/api/setting/update', { body: off, anonymous: true, headers })), 200);
});

test('a request that waited since before two-factor was enabled cannot set its own secret', async (t) => {
  const { panel, clock } = t.context;
  const OTHER = 'KRUGS4ZANFZSAYLOMRZWC3TEON2HKZTG';
  const switchOn = (secret: string, at: number, ip: string): Promise<Answer> =>
    panel.call('/panel/api/setting/update', {
      body: {
        twoFactorEnable: true,
        twoFactorToken: secret,
        twoFactorCode: TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now() + at }),
      },
      headers: { 'x-forwarded-for': ip },
    });
  // From then on, a session from an unknown address waits.
  for (let i = 0; i < 7; i++) t.is(await statusOf(switchOn(OTHER, 600_000, `198.51.100.${i}`)), 403);
  const waiting = switchOn(OTHER, 30_000, '198.51.100.9');
  t.is(await statusOf(switchOn(SECRET, 0, '127.0.0.1')), 200);
  t.is(await statusOf(waiting), 403);
  clock.tick(60_000);
  const twoFactorCode = TOTP.generate({ secret: Secret.fromBase32(SECRET), timestamp: clock.now() });
  t.is(await statusOf(login(t, '127.0.0.1', { ...ADMIN, twoFactorCode })), 200);
});
