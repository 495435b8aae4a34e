// The admin's own name and password, and the sessions that end with them.
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { Secret, TOTP } from 'otpauth';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, TestPanel } from '../../../test/harness/panel.js';
import { refused } from '../../../test/harness/refused.js';

const test = anyTest as TestFn<{ panel: TestPanel; clock: FakeClock }>;
const UPDATE_USER = '/panel/api/setting/updateUser';
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const NEW = { newUsername: 'grace', newPassword: 'another long word' } as const;
const CHANGE = { oldUsername: ADMIN.username, oldPassword: ADMIN.password, ...NEW } as const;

test.beforeEach(async (t) => {
  const clock = new FakeClock();
  t.context = { clock, panel: await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock }) };
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());
type Test = ExecutionContext<{ panel: TestPanel; clock: FakeClock }>;

const code = ({ context: { clock } }: Test): string =>
  TOTP.generate({ secret: Secret.fromBase32(SECRET), timestamp: clock.now() });
const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .find((pair) => pair.startsWith('weir_session=')) ?? '';
const login = ({ context: { panel } }: Test, who: object) =>
  panel.call('/login', { body: who, anonymous: true });
const asks = ({ context: { panel } }: Test, headers: Record<string, string>) =>
  panel.call('/panel/api/inbounds/list', { anonymous: true, headers }).then(({ status }) => status);

test('new name and password: rejects the old ones, closes every other session, gives the caller a new one', async (t) => {
  const { panel } = t.context;
  const other = cookieOf((await login(t, ADMIN)).headers);
  t.is(await asks(t, { cookie: other }), 200);
  const answer = await panel.call(UPDATE_USER, { body: CHANGE });
  t.is(answer.status, 200, answer.text);
  t.deepEqual(
    { ...answer.body, msg: '' },
    { success: true, msg: '', obj: { apiTokens: 0, revokedTokens: 0 } },
  );
  t.is(await asks(t, { cookie: other }), 401);
  t.is(await asks(t, { cookie: panel.cookie }), 401, 'a cookie that somebody copied is of no use either');
  panel.cookie = cookieOf(answer.headers);
  t.is(await asks(t, { cookie: panel.cookie }), 200);
  t.is(
    (await panel.call('/panel/api/setting/update', { body: { pageSize: 9 } })).status,
    200,
    'its CSRF token stays',
  );
  t.is((await login(t, ADMIN)).status, 401);
  t.is((await login(t, { ...ADMIN, username: NEW.newUsername })).status, 401);
  t.is((await login(t, { username: NEW.newUsername, password: NEW.newPassword })).status, 200);
});

test('closed sessions stay closed after a restart', async (t) => {
  const { panel, clock } = t.context;
  const other = cookieOf((await login(t, ADMIN)).headers);
  const kept = cookieOf((await panel.call(UPDATE_USER, { body: CHANGE })).headers);
  await panel.stop();
  t.context.panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock,
    dataDirectory: panel.dataDirectory,
  });
  t.is(await asks(t, { cookie: other }), 401);
  t.is(await asks(t, { cookie: kept }), 200);
});

test('a program with a token can change them too, without a session; its token stays valid', async (t) => {
  const { panel } = t.context;
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'ci' },
  });
  const headers = { authorization: `Bearer ${token}` };
  const answer = await panel.call(UPDATE_USER, { body: CHANGE, anonymous: true, headers });
  t.is(answer.status, 200);
  t.deepEqual(answer.headers.getSetCookie(), []);
  t.is(await asks(t, headers), 200);
  t.is(await asks(t, { cookie: panel.cookie }), 401);
});

test('a change says how many API tokens still work, and disables them when it is asked to', async (t) => {
  const { panel } = t.context;
  const tokens = await Promise.all(
    ['ci', 'bot', 'off'].map((name) =>
      panel.get<{ id: number; token: string }>('/panel/api/setting/apiTokens/create', { body: { name } }),
    ),
  );
  await panel.call(`/panel/api/setting/apiTokens/setEnabled/${tokens[2]?.id}`, { body: { enabled: false } });
  const headers = { authorization: `Bearer ${tokens[0]?.token}` };

  const kept = await panel.call(UPDATE_USER, { body: CHANGE, headers, anonymous: true });
  t.deepEqual(kept.body.obj, { apiTokens: 2, revokedTokens: 0 });
  t.regex(kept.body.msg, /2 API tokens still work/);
  t.is(await asks(t, headers), 200);

  const again = { ...CHANGE, oldUsername: NEW.newUsername, oldPassword: NEW.newPassword };
  const failed = await panel.call(UPDATE_USER, {
    body: { ...again, oldPassword: 'wrong', revokeTokens: true },
    headers,
    anonymous: true,
  });
  t.is(failed.status, 403);
  t.is(await asks(t, headers), 200, 'a change that fails revokes nothing');
  const revoked = await panel.call(UPDATE_USER, {
    body: { ...again, revokeTokens: true },
    headers,
    anonymous: true,
  });
  t.deepEqual(revoked.body.obj, { apiTokens: 0, revokedTokens: 2 });
  t.is(await asks(t, headers), 401);
  await panel.stop();
  t.context.panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: t.context.clock,
    dataDirectory: panel.dataDirectory,
  });
  t.is(await asks(t, headers), 401, 'a restart does not forget');
});

const wrong = { status: 403, code: 'ACCESS_WRONG_CREDENTIALS', field: 'oldPassword' };
const invalid = (field: string) => ({ status: 400, code: 'KERNEL_INVALID', field });
for (const [what, body, expected] of [
  ['a wrong old password', { ...CHANGE, oldPassword: 'wrong' }, wrong],
  ['a wrong old name', { ...CHANGE, oldUsername: 'root' }, wrong],
  ['an old name in other letters', { ...CHANGE, oldUsername: 'Admin' }, wrong],
  ['no old password', { ...CHANGE, oldPassword: undefined }, invalid('oldPassword')],
  ['an empty new name', { ...CHANGE, newUsername: '' }, invalid('newUsername')],
  ['a new name with blanks around it', { ...CHANGE, newUsername: ' grace' }, invalid('newUsername')],
  ['a new name that nobody can type', { ...CHANGE, newUsername: 'gr\u0000ace' }, invalid('newUsername')],
  ['an empty new password', { ...CHANGE, newPassword: '' }, invalid('newPassword')],
  ['a short new password', { ...CHANGE, newPassword: 'seven77' }, invalid('newPassword')],
  ['a new password that is a number', { ...CHANGE, newPassword: 12345678 }, invalid('newPassword')],
] as const) {
  test(`${what} is refused, and nobody is logged out`, async (t) => {
    const { panel } = t.context;
    const other = cookieOf((await login(t, ADMIN)).headers);
    await refused(t, panel, UPDATE_USER, { body }, expected);
    t.is(await asks(t, { cookie: other }), 200);
    t.is((await login(t, ADMIN)).status, 200);
  });
}

test('requires a login and a CSRF token', async (t) => {
  const { panel } = t.context;
  t.is((await panel.call(UPDATE_USER, { body: CHANGE, anonymous: true })).status, 401);
  t.is((await panel.call(UPDATE_USER, { body: CHANGE, headers: { 'x-csrf-token': 'x' } })).status, 403);
  t.is((await login(t, ADMIN)).status, 200);
});

test('limits guesses of the old password like a login', async (t) => {
  const { panel } = t.context;
  for (let i = 0; i < 5; i++)
    t.is((await panel.call(UPDATE_USER, { body: { ...CHANGE, oldPassword: 'wrong' } })).status, 403);
  const blocked = await panel.call(UPDATE_USER, { body: CHANGE });
  t.is(blocked.status, 429);
  t.is(blocked.headers.get('retry-after'), '900');
  t.is((await login(t, ADMIN)).status, 429, 'and a login with it');
});

test('with two-factor it needs a code, and two-factor stays enabled', async (t) => {
  const { panel, clock } = t.context;
  await panel.get('/panel/api/setting/update', {
    body: { twoFactorEnable: true, twoFactorToken: SECRET, twoFactorCode: code(t) },
  });
  const spent = code(t);
  clock.tick(30_000);
  for (const twoFactorCode of [undefined, '000000', spent]) {
    await refused(
      t,
      panel,
      UPDATE_USER,
      { body: { ...CHANGE, twoFactorCode } },
      { status: 403, code: 'ACCESS_WRONG_CODE', field: 'twoFactorCode' },
    );
  }
  t.is((await panel.call(UPDATE_USER, { body: { ...CHANGE, twoFactorCode: code(t) } })).status, 200);
  t.true(await panel.get('/getTwoFactorEnable', { method: 'POST', anonymous: true }));
  clock.tick(30_000);
  t.is((await login(t, { username: NEW.newUsername, password: NEW.newPassword })).status, 401);
  t.is(
    (await login(t, { username: NEW.newUsername, password: NEW.newPassword, twoFactorCode: code(t) })).status,
    200,
  );
});

test('of two concurrent changes, one is applied completely', async (t) => {
  const { panel } = t.context;
  const answers = await Promise.all(
    ['grace', 'ada'].map((newUsername) =>
      panel.call(UPDATE_USER, {
        body: { ...CHANGE, newUsername, newPassword: `${newUsername}'s long word` },
      }),
    ),
  );
  t.true(
    answers.filter(({ status }) => status === 200).length === 1,
    answers.map(({ text }) => text).join('\n'),
  );
  const winner = answers[0]?.status === 200 ? 'grace' : 'ada';
  t.is((await login(t, { username: winner, password: `${winner}'s long word` })).status, 200);
});

test('no password is in a reply or in the log', async (t) => {
  const { panel } = t.context;
  const answers = [
    await panel.call(UPDATE_USER, { body: { ...CHANGE, oldPassword: 'wrong but secret' } }),
    await panel.call(UPDATE_USER, { body: CHANGE }),
  ];
  const said = [...answers.map(({ text }) => text), ...panel.log].join('');
  for (const secret of [ADMIN.password, NEW.newPassword, 'wrong but secret']) t.false(said.includes(secret));
});
