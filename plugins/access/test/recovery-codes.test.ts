// Recovery codes: shown once, good once, each in place of a two-factor code.
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { Secret, TOTP } from 'otpauth';
import { type Database, definePlugin } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, TestPanel } from '../../../test/harness/panel.js';
import { refused } from '../../../test/harness/refused.js';

interface Context {
  panel: TestPanel;
  clock: FakeClock;
  db?: Database;
}
const test = anyTest as TestFn<Context>;
const spy = (t: Test) =>
  definePlugin({
    name: 'spy',
    version: '1.0.0',
    api: 1,
    about: 'Looks at the database.',
    start: ({ db }) => void (t.context.db = db),
  });
const UPDATE = '/panel/api/setting/update';
const CODES = '/panel/api/access/recoveryCodes';
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.beforeEach(async (t) => {
  const clock = new FakeClock();
  t.context.clock = clock;
  t.context.panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, spy(t)], clock });
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());
type Test = ExecutionContext<Context>;

/** A code of the authenticator that was not used yet. */
function nextCode({ context: { clock } }: Test): string {
  clock.tick(30_000);
  return TOTP.generate({ secret: Secret.fromBase32(SECRET), timestamp: clock.now() });
}
const login = ({ context: { panel } }: Test, twoFactorCode: string | undefined) =>
  panel.call('/login', { body: { ...ADMIN, twoFactorCode }, anonymous: true }).then(({ status }) => status);
const left = ({ context: { panel } }: Test) =>
  panel.get<{ left: number }>(CODES).then((answer) => answer.left);
async function switchOn(t: Test): Promise<[string, string, ...string[]]> {
  const { recoveryCodes } = await t.context.panel.get<{ recoveryCodes: [string, string, ...string[]] }>(
    UPDATE,
    { body: { twoFactorEnable: true, twoFactorToken: SECRET, twoFactorCode: nextCode(t) } },
  );
  return recoveryCodes;
}

test('enabling two-factor makes ten codes, shows them once and stores digests', async (t) => {
  const { panel } = t.context;
  t.is((await panel.call(UPDATE, { body: { pageSize: 10 } })).body.obj, null, 'other settings show none');
  const codes = await switchOn(t);
  t.is(new Set(codes).size, 10);
  for (const code of codes)
    t.regex(code, /^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/);
  t.is(await left(t), 10);
  const answers = [
    await panel.call(CODES),
    await panel.call('/panel/api/setting/all', { method: 'POST' }),
    await panel.call(UPDATE, { body: { pageSize: 11 } }),
  ];
  await panel.kernel.settled();
  const said = [...answers.map(({ text }) => text), ...panel.log].join('');
  const stored = JSON.stringify(await t.context.db?.query('SELECT * FROM second_factor_codes'));
  t.regex(stored, /[0-9a-f]{64}/);
  for (const code of codes)
    for (const text of [said, stored])
      t.false(text.includes(code) || text.includes(code.replaceAll('-', '')), 'a code is kept somewhere');
});

test('accepts a code once, however it is typed, also after a restart', async (t) => {
  const { panel, clock } = t.context;
  const [first, second, third = ''] = await switchOn(t);
  t.is(await login(t, first), 200);
  t.is(await login(t, first), 401);
  t.is(await left(t), 9);
  await panel.stop();
  t.context.panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock,
    dataDirectory: panel.dataDirectory,
  });
  t.is(await login(t, first), 401);
  t.is(
    await login(t, second.replaceAll('-', '').toUpperCase().replaceAll('0', 'O').replaceAll('1', 'L')),
    200,
  );
  const answers = await Promise.all(Array.from({ length: 4 }, () => login(t, third)));
  t.deepEqual(answers.sort(), [200, 401, 401, 401], 'sent many times at once it opens once');
});

test('rejects a code with a wrong password, without using the code up', async (t) => {
  const { panel } = t.context;
  const [code] = await switchOn(t);
  const body = { ...ADMIN, password: 'wrong', twoFactorCode: code };
  t.is((await panel.call('/login', { body, anonymous: true })).status, 401);
  t.is(await left(t), 10);
});

test('a code disables two-factor, which deletes the others', async (t) => {
  const { panel } = t.context;
  const [code, other] = await switchOn(t);
  await panel.get(UPDATE, { body: { twoFactorEnable: false, twoFactorCode: code } });
  t.is(await left(t), 0);
  t.is(await login(t, undefined), 200);
  const fresh = await switchOn(t);
  t.is(await login(t, other), 401);
  t.is(await login(t, fresh[0]), 200);
});

test('new codes replace all others, and need a code', async (t) => {
  const { panel } = t.context;
  const renew = `${CODES}/renew`;
  await refused(
    t,
    panel,
    renew,
    { body: { twoFactorCode: '000000' } },
    { status: 422, code: 'ACCESS_TWO_FACTOR_OFF' },
  );
  const [first, second] = await switchOn(t);
  await refused(
    t,
    panel,
    renew,
    { body: {} },
    { status: 400, code: 'KERNEL_INVALID', field: 'twoFactorCode' },
  );
  for (const twoFactorCode of ['000000', '0000-0000-0000'])
    await refused(
      t,
      panel,
      renew,
      { body: { twoFactorCode } },
      { status: 403, code: 'ACCESS_WRONG_CODE', field: 'twoFactorCode' },
    );
  t.is(await login(t, first), 200);
  const again = await panel.get<{ recoveryCodes: string[] }>(renew, { body: { twoFactorCode: second } });
  t.is(await left(t), 10);
  t.is(await login(t, second), 401);
  t.is(await login(t, again.recoveryCodes[0]), 200);
  await panel.get(renew, { body: { twoFactorCode: nextCode(t) } });
  t.is(await login(t, again.recoveryCodes[1]), 401);
});

test('a change of name and password accepts a recovery code too', async (t) => {
  const { panel } = t.context;
  const [twoFactorCode] = await switchOn(t);
  const { username: oldUsername, password: oldPassword } = ADMIN;
  const body = { oldUsername, oldPassword, newUsername: 'grace', newPassword: 'another long word' };
  t.is((await panel.call('/panel/api/setting/updateUser', { body: { ...body, twoFactorCode } })).status, 200);
});

test('rejects a code that was used with a new secret', async (t) => {
  const { panel, clock } = t.context;
  const [currentTwoFactorCode] = await switchOn(t);
  clock.tick(30_000);
  const twoFactorToken = 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU';
  const code = () => TOTP.generate({ secret: Secret.fromBase32(twoFactorToken), timestamp: clock.now() });
  const twoFactorCode = code();
  const { password } = ADMIN;
  await panel.get(UPDATE, {
    body: { twoFactorEnable: true, twoFactorToken, twoFactorCode, currentTwoFactorCode, password },
  });
  t.is(await login(t, twoFactorCode), 401);
  clock.tick(30_000);
  t.is(await login(t, code()), 200);
});
