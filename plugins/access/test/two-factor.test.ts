// The second factor: what a code opens, once, and what must be shown to switch it on or off.
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { Secret, TOTP } from 'otpauth';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, type Answer, TestPanel } from '../../../test/harness/panel.js';
import { refused } from '../../../test/harness/refused.js';
import { beforeSettingsSave } from '../../settings/contract.js';

const test = anyTest as TestFn<{ panel: TestPanel; clock: FakeClock }>;
const UPDATE = '/panel/api/setting/update';
const STEP = 30_000;
/** The secret of RFC 6238's appendix, which is the ASCII text 12345678901234567890. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const OTHER = 'KRUGS4ZANFZSAYLOMRZWC3TEON2HKZTG';

test.beforeEach(async (t) => {
  // One step before a time in the appendix of RFC 6238.
  const clock = new FakeClock(2_000_000_000_000 - STEP);
  t.context = { clock, panel: await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock }) };
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());
type Test = ExecutionContext<{ panel: TestPanel; clock: FakeClock }>;

/** What an authenticator shows, some steps from now. */
const code = ({ context: { clock } }: Test, steps = 0, secret = SECRET): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now() + steps * STEP });
const login = ({ context: { panel } }: Test, fields: object) =>
  panel.call('/login', { body: { ...ADMIN, ...fields }, anonymous: true });
const isOn = ({ context: { panel } }: Test) =>
  panel.get<boolean>('/getTwoFactorEnable', { method: 'POST', anonymous: true });

async function switchOn(t: Test): Promise<void> {
  await t.context.panel.get(UPDATE, {
    body: { twoFactorEnable: true, twoFactorToken: SECRET, twoFactorCode: code(t) },
  });
  // The next code: the one that switched it on is spent.
  t.context.clock.tick(STEP);
}

test("codes are those of RFC 6238's appendix", async (t) => {
  await switchOn(t);
  t.is(t.context.clock.now(), 2_000_000_000_000);
  t.is((await login(t, { twoFactorCode: '279037' })).status, 200);
});

test('when enabled, a login needs a code, and fails with the message of a wrong password', async (t) => {
  t.false(await isOn(t));
  await switchOn(t);
  t.true(await isOn(t));
  const wrongPassword = await login(t, { password: 'wrong', twoFactorCode: code(t) });
  for (const twoFactorCode of [undefined, '', '000000', `${code(t)}0`, code(t, 0, OTHER), 'abcdef']) {
    const answer = await login(t, { twoFactorCode });
    t.is(answer.status, 401, twoFactorCode ?? 'no code');
    t.is(answer.body.code, wrongPassword.body.code);
    t.is(answer.body.msg, wrongPassword.body.msg);
    t.deepEqual(answer.headers.getSetCookie(), []);
    // So many failures would block.
    t.context.clock.tick(6 * 60_000);
  }
  t.is((await login(t, { twoFactorCode: code(t) })).status, 200);
});

test('accepts a code one step early or late, also in groups', async (t) => {
  await switchOn(t);
  t.context.clock.tick(10 * STEP);
  t.is((await login(t, { twoFactorCode: code(t, -2) })).status, 401);
  t.is((await login(t, { twoFactorCode: code(t, 2) })).status, 401);
  t.is((await login(t, { twoFactorCode: code(t, -1) })).status, 200);
  t.is((await login(t, { twoFactorCode: ` ${code(t, 0).replace(/^.../, '$& ')} ` })).status, 200);
  t.is((await login(t, { twoFactorCode: code(t, 1) })).status, 200);
});

test('never accepts a used or earlier code, also after a restart', async (t) => {
  const { clock, panel } = t.context;
  await switchOn(t);
  clock.tick(10 * STEP);
  const [before, seen, next] = [code(t, -1), code(t), code(t, 1)];
  t.is((await login(t, { twoFactorCode: seen })).status, 200);
  t.is((await login(t, { twoFactorCode: seen })).status, 401);
  t.is((await login(t, { twoFactorCode: before })).status, 401);
  await panel.stop();
  t.context.panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock,
    dataDirectory: panel.dataDirectory,
  });
  t.is((await login(t, { twoFactorCode: seen })).status, 401);
  t.is((await login(t, { twoFactorCode: next })).status, 200);
});

test('accepts a code once when it is sent many times at once', async (t) => {
  await switchOn(t);
  const answers = await Promise.all(Array.from({ length: 4 }, () => login(t, { twoFactorCode: code(t) })));
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
});

test('a wrong code blocks like a wrong password', async (t) => {
  const { clock } = t.context;
  await switchOn(t);
  for (let i = 0; i < 5; i++) t.is((await login(t, { twoFactorCode: code(t, 0, OTHER) })).status, 401);
  const blocked = await login(t, { twoFactorCode: code(t) });
  t.is(blocked.status, 429);
  t.is(blocked.headers.get('retry-after'), '900');
  clock.tick(15 * 60_000);
  t.is((await login(t, { twoFactorCode: code(t) })).status, 200);
});

test('enabling it needs a secret and a code of that secret', async (t) => {
  const { panel, clock } = t.context;
  const on = { twoFactorEnable: true, twoFactorToken: SECRET };
  const cases = [
    {
      body: { twoFactorEnable: true, twoFactorCode: code(t) },
      status: 422,
      code: 'ACCESS_NO_SECRET',
      field: 'twoFactorToken',
    },
    { body: on, status: 403, code: 'ACCESS_WRONG_CODE', field: 'twoFactorCode' },
    {
      body: { ...on, twoFactorCode: code(t, 0, OTHER) },
      status: 403,
      code: 'ACCESS_WRONG_CODE',
      field: 'twoFactorCode',
    },
    {
      body: { ...on, twoFactorCode: 287082 },
      status: 400,
      code: 'KERNEL_INVALID',
      field: 'twoFactorCode',
    },
    {
      body: { ...on, twoFactorToken: 'GEZDGNBVGY3TQOJQ', twoFactorCode: code(t) },
      status: 400,
      code: 'KERNEL_INVALID',
      field: 'twoFactorToken',
    },
    {
      body: { ...on, twoFactorToken: 'no base32 at all, 1890', twoFactorCode: code(t) },
      status: 400,
      code: 'KERNEL_INVALID',
      field: 'twoFactorToken',
    },
  ];
  for (const { body, ...expected } of cases) {
    await refused(t, panel, UPDATE, { body }, expected);
    clock.tick(6 * 60_000);
  }
  t.false(await isOn(t));
  // As an authenticator shows it.
  await panel.get(UPDATE, {
    body: {
      ...on,
      twoFactorToken: SECRET.toLowerCase().replaceAll(/.{4}/g, '$& ').trim(),
      twoFactorCode: code(t),
    },
  });
  t.true(await isOn(t));
});

test("enabling it closes sessions opened with a password only, except the caller's", async (t) => {
  const { panel } = t.context;
  const other = (await login(t, {})).headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const asOther = () =>
    panel
      .call('/panel/api/inbounds/list', { anonymous: true, headers: { cookie: other } })
      .then(({ status }) => status);
  t.is(await asOther(), 200);
  await switchOn(t);
  t.is(await asOther(), 401);
  t.is((await panel.call('/panel/api/inbounds/list')).status, 200);
});

test('disabling it needs a code besides the password, and deletes the secret', async (t) => {
  const { panel, clock } = t.context;
  await switchOn(t);
  const off = { twoFactorEnable: false };
  const wrongCode = { status: 403, code: 'ACCESS_WRONG_CODE', field: 'twoFactorCode' };
  await refused(t, panel, UPDATE, { body: off }, wrongCode);
  await refused(t, panel, UPDATE, { body: { ...off, password: ADMIN.password } }, wrongCode);
  await refused(
    t,
    panel,
    UPDATE,
    { body: { ...off, password: 'wrong', twoFactorCode: code(t) } },
    { status: 403, code: 'ACCESS_WRONG_CREDENTIALS', field: 'password' },
  );
  await refused(
    t,
    panel,
    UPDATE,
    { body: { clearTwoFactorToken: true, twoFactorCode: code(t) } },
    { status: 422, code: 'ACCESS_NO_SECRET', field: 'twoFactorToken' },
  );
  t.true(await isOn(t));
  await panel.get(UPDATE, { body: { ...off, twoFactorCode: code(t) } });
  t.like(await panel.get('/panel/api/setting/all', { method: 'POST' }), {
    twoFactorEnable: false,
    hasTwoFactorToken: false,
  });
  t.is((await login(t, {})).status, 200);
  clock.tick(STEP);
  await refused(
    t,
    panel,
    UPDATE,
    { body: { twoFactorEnable: true, twoFactorCode: code(t) } },
    { status: 422, code: 'ACCESS_NO_SECRET' },
  );
});

test('limits guesses of codes for disabling it like a login', async (t) => {
  const { panel } = t.context;
  await switchOn(t);
  for (let i = 0; i < 5; i++)
    t.is(
      (await panel.call(UPDATE, { body: { twoFactorEnable: false, twoFactorCode: code(t, 0, OTHER) } }))
        .status,
      403,
    );
  t.is((await panel.call(UPDATE, { body: { twoFactorEnable: false, twoFactorCode: code(t) } })).status, 429);
  t.true(await isOn(t));
});

test('changing the secret needs the password, a valid code and a code of the new one', async (t) => {
  const { panel, clock } = t.context;
  await switchOn(t);
  const whole = {
    twoFactorToken: OTHER,
    password: ADMIN.password,
    // Of the next step: that the current code is used up says nothing about it.
    twoFactorCode: code(t, 1, OTHER),
    currentTwoFactorCode: code(t),
  };
  const wrongCode = (field: string) => ({ status: 403, code: 'ACCESS_WRONG_CODE', field });
  await refused(
    t,
    panel,
    UPDATE,
    { body: { ...whole, password: undefined } },
    { status: 403, code: 'ACCESS_WRONG_CREDENTIALS', field: 'password' },
  );
  await refused(t, panel, UPDATE, { body: { ...whole, twoFactorCode: code(t) } }, wrongCode('twoFactorCode'));
  for (const currentTwoFactorCode of [undefined, code(t, 0, OTHER)])
    await refused(
      t,
      panel,
      UPDATE,
      { body: { ...whole, currentTwoFactorCode } },
      wrongCode('currentTwoFactorCode'),
    );
  const { recoveryCodes } = await panel.get<{ recoveryCodes: string[] }>(UPDATE, { body: whole });
  t.is(recoveryCodes.length, 10, 'the recovery codes are new, too');
  clock.tick(STEP);
  t.is((await login(t, { twoFactorCode: whole.twoFactorCode })).status, 401, 'that code is used');
  clock.tick(STEP);
  t.is((await login(t, { twoFactorCode: code(t) })).status, 401);
  t.is((await login(t, { twoFactorCode: code(t, 0, OTHER) })).status, 200);
});

test('other settings change as usual, and the reply of all can be sent back', async (t) => {
  const { panel } = t.context;
  await switchOn(t);
  const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  t.like(all, { twoFactorEnable: true, twoFactorToken: '', hasTwoFactorToken: true });
  await panel.get(UPDATE, { body: { ...all, pageSize: 10 } });
  t.true(await isOn(t));
  t.is((await login(t, { twoFactorCode: code(t) })).status, 200);
});

test('the secret is never in replies or in the log', async (t) => {
  const { panel, clock } = t.context;
  await switchOn(t);
  const calls = [
    '/panel/api/setting/all',
    '/panel/api/setting/factoryDefaults',
    '/panel/api/setting/defaultSettings',
    '/getTwoFactorEnable',
  ].map((path) => panel.call(path, { method: 'POST' }));
  calls.push(
    panel.call(UPDATE, {
      body: {
        twoFactorToken: OTHER,
        twoFactorCode: '000000',
        currentTwoFactorCode: '000000',
        password: ADMIN.password,
      },
    }),
  );
  for (const answer of await Promise.all(calls))
    for (const secret of [SECRET, OTHER]) t.false(answer.text.includes(secret), answer.text);
  clock.tick(STEP);
  await login(t, { twoFactorCode: code(t) });
  await panel.kernel.settled();
  for (const secret of [SECRET, OTHER, ADMIN.password]) t.false(panel.log.join('').includes(secret));
});

test('closes a session opened with a password only while two-factor was being saved', async (t) => {
  const { clock } = t.context;
  await t.context.panel[Symbol.asyncDispose]();
  let opened: Promise<Answer> | undefined;
  const slow = definePlugin({
    name: 'slow',
    version: '1.0.0',
    api: 1,
    about: 'Takes its time when settings are saved.',
    taps: () => [tap(beforeSettingsSave, () => (opened = login(t, {})).then(() => undefined))],
  });
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, slow], clock });
  t.context.panel = panel;
  await switchOn(t);
  const answer = await opened;
  t.is(answer?.status, 200);
  const cookie = answer?.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const list = await panel.call('/panel/api/inbounds/list', {
    anonymous: true,
    headers: { cookie: cookie ?? '' },
  });
  t.is(list.status, 401);
  t.is((await panel.call('/panel/api/inbounds/list')).status, 200, 'who switched it on stays');
});
