// Logins by proofs that another plugin checks: limits, hooks, races and what is reported, as with a password.
import test from 'ava';
import { defineErrors, definePlugin, route, shape, tap, word } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, TestPanel } from '../../../test/harness/panel.js';
import { beforeLogin, LoginMethods, loginAttempted, OtherLogins, type OtherLoginsApi } from '../contract.js';
import { contribute } from '../../../kernel/index.js';

const proofErrors = defineErrors('badge', {
  WRONG: [401, 'the badge is wrong'],
  DOWN: [503, 'the reader of badges is down'],
});
const PATH = '/panel/api/x/badge/login';

interface Badge {
  /** answers in place of the check */
  check: () => Promise<number>;
  holds: () => boolean | Promise<boolean>;
  label: () => string | undefined;
  isRefused: boolean;
  logins?: OtherLoginsApi;
  readonly heard: { username: string; ok: boolean; reason: string; method: string }[];
}

async function boot(clock = new FakeClock()) {
  const badge: Badge = {
    check: async () => 1,
    holds: () => true,
    label: () => 'Badge',
    isRefused: false,
    heard: [],
  };
  const plugin = definePlugin({
    name: 'badge',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    uses: { logins: OtherLogins },
    contributes: () => [contribute(LoginMethods, { method: 'badge', label: () => badge.label() })],
    taps: () => [
      tap(loginAttempted, ({ attempts }) => void badge.heard.push(...attempts)),
      tap(
        beforeLogin,
        () => {
          if (badge.isRefused) throw proofErrors.WRONG('not today');
        },
        { strict: true },
      ),
    ],
    start: ({ logins }) => {
      badge.logins = logins;
    },
    routes: ({ logins }) => [
      route({
        method: 'POST',
        path: PATH,
        auth: 'anyone',
        doc: 'For a test.',
        body: shape({ name: word() }),
        reply: { kind: 'message' },
        beforeBody: (input) => logins.refuseBlocked('badge', input),
        handle: async (input) => {
          const check = async (named: (name: string) => void): Promise<number> => {
            named(input.body.name);
            return badge.check();
          };
          await logins.logIn({ method: 'badge', check, holds: () => badge.holds() }, input);
        },
      }),
      route({
        method: 'POST',
        path: '/panel/api/x/badge/confirm',
        doc: 'For a test.',
        body: shape({ password: word() }),
        reply: { kind: 'message' },
        handle: async (input) => (await logins.confirm(input.body, input)).username,
      }),
    ],
  });
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, plugin], clock });
  await panel.kernel.settled();
  badge.heard.splice(0);
  const logIn = async () => panel.call(PATH, { body: { name: 'claimed' }, anonymous: true });
  return { panel, badge, logIn, clock };
}
const hasSession = (headers: Headers): boolean =>
  headers.getSetCookie().some((line) => line.startsWith('weir_session=') && !/weir_session=;/.test(line));

test('opens the session of the admin that the check names', async (t) => {
  const { panel, badge, logIn } = await boot();
  await using _ = panel;
  const { status, headers } = await logIn();
  t.is(status, 200);
  t.true(hasSession(headers));
  t.true(headers.getSetCookie().some((line) => line.startsWith('weir_device=')));
  await panel.kernel.settled();
  t.like(badge.heard, [{ username: ADMIN.username, ok: true, reason: '', method: 'badge' }]);
  t.deepEqual(badge.logins?.adminNamed(ADMIN.username), badge.logins?.adminWith(1));
});

test('nobody gets in whose admin is gone, or changes while the session is opened', async (t) => {
  const { panel, badge, logIn } = await boot();
  await using _ = panel;
  const refused = async (why: string): Promise<void> => {
    const { status, body, headers } = await logIn();
    t.deepEqual([status, body.code, hasSession(headers)], [401, 'ACCESS_LOGIN_REFUSED', false], why);
  };
  badge.check = async () => 99;
  await refused('there is no such admin');
  const { id } = await panel.get<{ id: number }>('/panel/api/x/admins', {
    body: { username: 'grace', password: 'a password of her', role: 0 },
  });
  badge.check = async () => id;
  badge.holds = () => false;
  await refused('the proof was withdrawn');
  badge.holds = async () => {
    await panel.get(`/panel/api/x/admins/${id}`, { body: { enabled: false } });
    return true;
  };
  await refused('disabled meanwhile');
  badge.holds = () => true;
  await refused('disabled before');
  await panel.get(`/panel/api/x/admins/${id}`, { body: { enabled: true } });
  badge.holds = async () => {
    await panel.get(`/panel/api/x/admins/${id}`, { body: { password: 'another password' } });
    return true;
  };
  await refused('another password meanwhile');
  badge.holds = () => Promise.reject(new Error('of a test'));
  t.is((await logIn()).status, 500);
  const sessions = await panel.get<{ username: string }[]>('/panel/api/access/sessions');
  t.deepEqual(
    sessions.filter(({ username }) => username === 'grace'),
    [],
  );
});

test('five failures block this way in and no other; what cannot be checked is no failure', async (t) => {
  const { panel, badge, logIn, clock } = await boot();
  await using _ = panel;
  badge.check = async () => {
    throw proofErrors.DOWN();
  };
  for (let i = 0; i < 10; i++) t.is((await logIn()).status, 503);
  await panel.kernel.settled();
  t.deepEqual(badge.heard, []);
  badge.check = async () => {
    throw proofErrors.WRONG();
  };
  for (let i = 0; i < 5; i++) t.is((await logIn()).status, 401);
  badge.check = async () => 1;
  t.is((await logIn()).status, 429);
  await panel.kernel.settled();
  t.like(badge.heard[0], { username: 'claimed', ok: false, reason: 'the badge is wrong', method: 'badge' });
  t.like(badge.heard.at(-1), { ok: false, reason: 'too many failed attempts', method: 'badge' });
  t.is((await panel.call('/login', { body: ADMIN, anonymous: true })).status, 200);
  clock.tick(16 * 60_000);
  t.is((await logIn()).status, 200);
});

test('a guard can refuse, when the admin is known', async (t) => {
  const { panel, badge, logIn } = await boot();
  await using _ = panel;
  badge.isRefused = true;
  const { status, headers } = await logIn();
  t.deepEqual([status, hasSession(headers)], [401, false]);
});

test('the page is told which ways there are; one that fails is left out', async (t) => {
  const { panel, badge } = await boot();
  await using _ = panel;
  const methods = async () =>
    (await panel.call<object[]>('/panel/api/x/access/login-methods', { anonymous: true })).body.obj;
  t.true(JSON.stringify(await methods()).includes('{"method":"badge","label":"Badge"}'));
  badge.label = () => undefined;
  t.false(JSON.stringify(await methods()).includes('badge'));
  badge.label = () => {
    throw new Error('of a test');
  };
  t.false(JSON.stringify(await methods()).includes('badge'));
  t.is(panel.faults.length, 1);
});

test('who adds a way in proves himself again', async (t) => {
  const { panel } = await boot();
  await using _ = panel;
  const confirm = (body: object, headers: Record<string, string> = {}) =>
    panel.call('/panel/api/x/badge/confirm', { body, headers });
  t.is((await confirm({ password: ADMIN.password })).body.msg, ADMIN.username);
  t.is((await confirm({ password: 'wrong' })).body.code, 'ACCESS_WRONG_CREDENTIALS');
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'program' },
  });
  const byToken = await panel.call('/panel/api/x/badge/confirm', {
    body: { password: ADMIN.password },
    headers: { authorization: `Bearer ${token}` },
    anonymous: true,
  });
  t.is(byToken.body.code, 'ACCESS_OWN_ACCOUNT');
  for (let i = 0; i < 4; i++) await confirm({ password: 'wrong' });
  t.is((await confirm({ password: ADMIN.password })).status, 429);
});
