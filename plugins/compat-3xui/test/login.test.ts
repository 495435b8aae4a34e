// Runs on every database in test:full.
// The login of older programs: their cookie, and a CSRF token from before the login that stays that of the new session.
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { ADMIN, type Answer, type CallOptions, TestPanel } from '../../../test/harness/panel.js';
import { TOKEN_LIFE_MS } from '../login-tokens.js';
import { LOGIN_TOKEN_LENGTH } from '../old-program.js';

const test = anyTest as TestFn<{ panel: TestPanel; clock: FakeClock }>;
type Test = ExecutionContext<{ panel: TestPanel; clock: FakeClock }>;

test.beforeEach(async (t) => {
  const clock = new FakeClock();
  const env = { WEIR_TRUSTED_PROXIES: '127.0.0.1/32' };
  t.context = { clock, panel: await TestPanel.boot({ clock, env, anonymous: true }) };
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());

/** `name=value` of each cookie that a reply sets. */
const cookiesOf = ({ headers }: Answer): string[] =>
  headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
const named = (answer: Answer, name: string): string =>
  cookiesOf(answer).find((pair) => pair.startsWith(`${name}=`)) ?? '';
const call = <T = unknown>({ context: { panel } }: Test, path: string, options: CallOptions = {}) =>
  panel.call<T>(path, { anonymous: true, ...options });
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const form = `username=admin&password=${encodeURIComponent(ADMIN.password)}`;
const RESET = '/panel/api/inbounds/resetAllTraffics';

/** What a program holds after `/csrf-token`. */
async function issued(t: Test, headers: Record<string, string> = {}) {
  const answer = await call<string>(t, '/csrf-token', { headers });
  return { token: answer.body.obj, cookie: named(answer, '3x-ui'), first: cookiesOf(answer)[0] ?? '' };
}
const login = (t: Test, headers: Record<string, string>) => call(t, '/login', { body: ADMIN, headers });
/** Whether an unsafe call with this session and token passes. */
const passes = async (t: Test, cookie: string, token: string): Promise<boolean> => {
  const { status } = await call(t, RESET, { method: 'POST', headers: { cookie, 'x-csrf-token': token } });
  t.true([200, 403].includes(status), String(status));
  return status === 200;
};
/** Whether the token is that of the session which the login opened. */
const stays = (t: Test, answer: Answer, token: string): Promise<boolean> => {
  t.is(answer.status, 200, answer.text);
  return passes(t, named(answer, '3x-ui'), token);
};

test('a JSON login with only the old cookie goes on with the token from before it', async (t) => {
  const { token, cookie } = await issued(t);
  const answer = await login(t, { cookie, 'x-csrf-token': token });
  t.true(await stays(t, answer, token));
  t.is(
    named(answer, '3x-ui').slice('3x-ui='.length),
    named(answer, 'weir_session').slice('weir_session='.length),
    'one session under both names',
  );
  t.not(named(answer, '3x-ui'), cookie, 'the session has an id of its own');
});

test('a form login with the first cookie of each reply goes on with the token from before it', async (t) => {
  const { token, first } = await issued(t);
  const headers = { ...FORM, cookie: first, 'x-csrf-token': token };
  const answer = await call(t, '/panel/api/login', { rawBody: form, headers });
  t.is(answer.status, 200, answer.text);
  t.true(await passes(t, cookiesOf(answer)[0] ?? '', token));
});

/** The attributes of each cookie, without its name and value. */
const attributes = ({ headers }: Answer, name: string): string[] =>
  headers
    .getSetCookie()
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.split('; ').slice(1).sort().join('; '));

test('the old cookie has the attributes of ours', async (t) => {
  const first = await call<string>(t, '/csrf-token');
  const [only = '', ...more] = attributes(first, '3x-ui');
  t.deepEqual(more, []);
  t.regex(only, /HttpOnly; Max-Age=600; Path=\/\S*; SameSite=Lax$/);
  const answer = await login(t, {});
  t.deepEqual(attributes(answer, '3x-ui'), attributes(answer, 'weir_session'));
  t.regex(attributes(answer, '3x-ui')[0] ?? '', /HttpOnly; Max-Age=\d+; Path=\/\S*; SameSite=Lax$/);
  await using hidden = await TestPanel.boot({ env: { WEIR_BASE_PATH: '/secret/' }, anonymous: true });
  const below = await hidden.call('/secret/login', { body: ADMIN, anonymous: true });
  for (const name of ['3x-ui', 'weir_session'])
    t.regex(attributes(below, name)[0] ?? '', /; Path=\/secret\/;/, name);
});

test('a browser before its login, and a session, get no token of this kind', async (t) => {
  for (const headers of [
    { origin: 'https://panel.example' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-dest': 'empty' },
  ]) {
    const answer = await call<string>(t, '/csrf-token', { headers });
    t.is(named(answer, '3x-ui'), '', JSON.stringify(headers));
    t.true(answer.body.obj.length < LOGIN_TOKEN_LENGTH);
  }
  const { token, cookie } = await issued(t);
  const session = named(await login(t, { cookie, 'x-csrf-token': token }), '3x-ui');
  const again = await call<string>(t, '/csrf-token', { headers: { cookie: session } });
  t.is(again.body.obj, token, 'the session keeps the one that it has');
  t.is(named(again, '3x-ui'), '');
});

test('the old cookie ends with the session', async (t) => {
  const { token, cookie } = await issued(t);
  const session = named(await login(t, { cookie, 'x-csrf-token': token }), '3x-ui');
  t.is((await call(t, '/panel/api/inbounds/list', { headers: { cookie: session } })).status, 200);
  const out = await call(t, '/logout', {
    method: 'POST',
    headers: { cookie: session, 'x-csrf-token': token },
  });
  t.is(named(out, '3x-ui'), '3x-ui=');
  t.is(named(out, 'weir_session'), 'weir_session=');
  t.is((await call(t, '/panel/api/inbounds/list', { headers: { cookie: session } })).status, 401);
});

test('calls with the old cookie need the token, as with ours', async (t) => {
  const { token, cookie } = await issued(t);
  const session = named(await login(t, { cookie, 'x-csrf-token': token }), '3x-ui');
  t.false(await passes(t, session, 'another'));
  const { status } = await call(t, RESET, { method: 'POST', headers: { cookie: session } });
  t.is(status, 403);
});

test('our cookie counts where both are sent', async (t) => {
  const one = await issued(t);
  const mine = await login(t, { cookie: one.cookie, 'x-csrf-token': one.token });
  const both = (ours: string, old: string) =>
    call(t, '/panel/api/inbounds/list', { headers: { cookie: `3x-ui=${old}; weir_session=${ours}` } });
  const id = named(mine, 'weir_session').slice('weir_session='.length);
  t.is((await both(id, 'planted')).status, 200);
  t.is((await both('planted', id)).status, 401);
});

test('a session id that was there before the login opens nothing', async (t) => {
  for (const planted of ['3x-ui', 'weir_session']) {
    const { token } = await issued(t);
    const answer = await login(t, { cookie: `${planted}=${token}`, 'x-csrf-token': token });
    t.is(answer.status, 200);
    const { status } = await call(t, '/panel/api/inbounds/list', {
      headers: { cookie: `${planted}=${token}` },
    });
    t.is(status, 401, planted);
  }
});

for (const [what, header] of [
  ['its origin', { origin: 'https://panel.example' }],
  ['no origin of its own', { origin: 'null' }],
  ['how it was fetched', { 'sec-fetch-site': 'same-origin' }],
  ['for what it was fetched', { 'sec-fetch-dest': 'empty' }],
] as const)
  test(`a browser that sends ${what} gets a new token, whatever cookies and headers it sends`, async (t) => {
    const { token, cookie } = await issued(t);
    const answer = await login(t, { ...header, cookie, 'x-csrf-token': token });
    t.false(await stays(t, answer, token));
  });

test('a form of a foreign page with planted cookies does not log in', async (t) => {
  const { token, cookie } = await issued(t);
  for (const headers of [
    { ...FORM, cookie, origin: 'https://evil.example' },
    { ...FORM, cookie, 'sec-fetch-site': 'same-site' },
    { ...FORM, cookie },
  ]) {
    const answer = await call(t, '/login', { rawBody: form, headers });
    t.is(answer.status, 403, JSON.stringify(headers));
  }
  // A subdomain can plant our cookie too, and then knows the token; it still cannot choose that of the session.
  const planted = `${cookie}; weir_csrf=${token}`;
  const answer = await call(t, '/login', {
    rawBody: `${form}&_csrf=${token}`,
    headers: { ...FORM, cookie: planted, origin: 'https://evil.example' },
  });
  t.false(await stays(t, answer, token));
});

test('a token of another address, of another panel or of nobody does not stay', async (t) => {
  const other = await issued(t, { 'x-forwarded-for': '192.0.2.7' });
  t.false(await stays(t, await login(t, { cookie: other.cookie, 'x-csrf-token': other.token }), other.token));
  const made = 'A'.repeat(56);
  t.false(await stays(t, await login(t, { cookie: `3x-ui=${made}`, 'x-csrf-token': made }), made));
  await using elsewhere = await TestPanel.boot({ clock: t.context.clock, anonymous: true });
  const foreign = (await elsewhere.call<string>('/csrf-token', { anonymous: true })).body.obj;
  t.false(await stays(t, await login(t, { cookie: `3x-ui=${foreign}`, 'x-csrf-token': foreign }), foreign));
});

test('a token stays only with its cookie, within its life, and for one login', async (t) => {
  const { token } = await issued(t);
  const another = await issued(t);
  t.false(await stays(t, await login(t, { cookie: another.cookie, 'x-csrf-token': token }), token));
  t.false(await stays(t, await login(t, { 'x-csrf-token': token }), token));

  const old = await issued(t);
  t.context.clock.tick(TOKEN_LIFE_MS);
  t.false(await stays(t, await login(t, { cookie: old.cookie, 'x-csrf-token': old.token }), old.token));

  const once = await issued(t);
  const send = { cookie: once.cookie, 'x-csrf-token': once.token };
  t.true(await stays(t, await login(t, send), once.token));
  t.false(await stays(t, await login(t, send), once.token));
});

test('a wrong password takes nothing of a token, and is told as older programs read it', async (t) => {
  const { token, cookie } = await issued(t);
  const headers = { cookie, 'x-csrf-token': token };
  const wrong = { ...ADMIN, password: 'not this one' };
  const refused = await call(t, '/login', { body: wrong, headers });
  t.is(refused.status, 200);
  t.like(refused.body, { success: false, code: 'ACCESS_WRONG_LOGIN', obj: null });
  t.is((await call(t, '/login', { body: wrong })).status, 401, 'others get the status');
  t.true(await stays(t, await login(t, headers), token));
});

test('without the plugin there is neither cookie nor lasting token', async (t) => {
  await using plain = await TestPanel.boot({ without: ['compat-3xui'], anonymous: true });
  const first = await plain.call<string>('/csrf-token', { anonymous: true });
  t.is(named(first, '3x-ui'), '');
  const answer = await plain.call('/login', {
    body: ADMIN,
    anonymous: true,
    headers: { cookie: named(first, 'weir_csrf'), 'x-csrf-token': first.body.obj },
  });
  t.is(named(answer, '3x-ui'), '');
  const later = await plain.call(RESET, {
    method: 'POST',
    anonymous: true,
    headers: { cookie: named(answer, 'weir_session'), 'x-csrf-token': first.body.obj },
  });
  t.is(later.status, 403);
  t.is((await plain.call('/panel/api/login', { body: ADMIN, anonymous: true })).status, 404);
});
