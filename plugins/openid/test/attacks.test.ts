// What somebody else sends, copies or plants: another state, another browser, another code, an old one.
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { ADMIN } from '../../../test/harness/panel.js';
import { AT, troubleIn } from './visitor.js';
import { boot } from './world.js';

const linkTrouble = (location: string): string =>
  new URL(location, 'http://panel/panel/api/x/openid/callback').searchParams.get('openid') ?? '';

test('a callback needs the browser that began, its state, and comes once', async (t) => {
  await using world = await boot();
  await world.admin.link(ADMIN.password);
  const person = world.visitor();
  const callback = await person.toCallback();
  const cookie = person.cookies.get('weir_openid') ?? '';
  t.not(cookie, '');

  // Another browser: without a login under way, and with its own one.
  const other = world.visitor();
  t.is(troubleIn(await other.comeBack(callback)), 'OPENID_STALE');
  await other.toCallback();
  t.is(troubleIn(await other.comeBack(callback)), 'OPENID_STALE');
  t.is(await other.who(), undefined);

  t.is(troubleIn(await person.comeBack(callback.replace(/state=[^&]+/, 'state=wrong'))), 'OPENID_STALE');
  t.is(troubleIn(await person.comeBack(callback)), 'OPENID_STALE', 'it was begun once');
  person.cookies.set('weir_openid', cookie);
  await person.comeBack(callback);
  t.is(await person.who(), 'admin');

  // A copied cookie does not make a code good that was used.
  const copied = world.visitor();
  copied.cookies.set('weir_openid', cookie);
  t.is(troubleIn(await copied.comeBack(callback)), 'OPENID_NOT_PROVEN');
  t.is(await copied.who(), undefined);
});

test('a code of somebody else does not fit the login of this browser', async (t) => {
  await using world = await boot();
  const { provider, admin } = world;
  await admin.link(ADMIN.password);
  // The attacker has seen the code of the admin, and puts it into a login of his own.
  const seen = new URL(await world.visitor().toCallback());
  provider.account = 'mallory';
  const mallory = world.visitor();
  const own = new URL(await mallory.toCallback());
  own.searchParams.set('code', seen.searchParams.get('code') ?? '');
  t.is(troubleIn(await mallory.comeBack(own.href)), 'OPENID_NOT_PROVEN');
  t.is(await mallory.who(), undefined);
});

test('a login that took too long is over, and a cookie of nobody opens nothing', async (t) => {
  const clock = new FakeClock();
  await using world = await boot({ clock });
  await world.admin.link(ADMIN.password);
  const late = world.visitor();
  const callback = await late.toCallback();
  clock.tick(10 * 60_000);
  t.is(troubleIn(await late.comeBack(callback)), 'OPENID_STALE');
  for (const cookie of ['', 'x', 'A'.repeat(200), 'A'.repeat(8000), `${'é'.repeat(50)}`]) {
    const visitor = world.visitor();
    const back = await visitor.toCallback();
    visitor.cookies.set('weir_openid', encodeURIComponent(cookie));
    t.is(troubleIn(await visitor.comeBack(back)), 'OPENID_STALE', cookie.slice(0, 10));
  }
  const changed = world.visitor();
  const back = await changed.toCallback();
  const sealed = Buffer.from(changed.cookies.get('weir_openid') ?? '', 'base64url');
  sealed[20] = (sealed[20] ?? 0) ^ 1;
  changed.cookies.set('weir_openid', sealed.toString('base64url'));
  t.is(troubleIn(await changed.comeBack(back)), 'OPENID_STALE');
});

test('odd callbacks lead to the page and count as no failed login', async (t) => {
  await using world = await boot();
  const visitor = world.visitor();
  const at = `${world.panel.url}${AT}/callback`;
  for (const query of [
    '',
    '?',
    '?state=',
    '?state=a&state=b&code=c',
    '?error=access_denied',
    `?code=${'x'.repeat(9000)}`,
  ])
    for (let i = 0; i < 2; i++)
      t.is(troubleIn(await visitor.comeBack(at + query)), 'OPENID_STALE', query.slice(0, 20));
  const twice = await visitor.toCallback();
  t.is(troubleIn(await visitor.comeBack(`${twice}&code=another`)), 'OPENID_NOT_PROVEN');
  // Ten of them, and the address is not blocked.
  await world.admin.link(ADMIN.password);
  const person = world.visitor();
  await person.logIn();
  t.is(await person.who(), 'admin');
});

test('an account is linked only to the session that began it, while it is open', async (t) => {
  await using world = await boot();
  const { panel, admin, provider } = world;
  const begin = { path: `${AT}/link`, body: { password: ADMIN.password } };
  await panel.get('/panel/api/x/admins', {
    body: { username: 'grace', password: 'another password', role: 0 },
  });

  // The link that the attacker began, in the browser of the admin: by a planted cookie.
  provider.account = 'mallory-at-home';
  const mallory = world.visitor();
  await mallory.passwordLogin('grace', 'another password');
  const callback = await mallory.toCallback({ path: `${AT}/link`, body: { password: 'another password' } });
  admin.cookies.set('weir_openid', mallory.cookies.get('weir_openid') ?? '');
  t.is(linkTrouble(await admin.comeBack(callback)), 'OPENID_NO_SESSION');

  // The session ends while its admin is at the provider.
  const person = world.visitor();
  await person.passwordLogin(ADMIN.username, ADMIN.password);
  const late = await person.toCallback(begin);
  await admin.call('/panel/api/access/sessions/revokeOthers', { method: 'POST' });
  t.is(linkTrouble(await person.comeBack(late)), 'OPENID_NO_SESSION');
  t.deepEqual(await admin.call<object[]>(`${AT}/links`).then(({ body }) => body.obj), []);

  // An API token is no person.
  const { token } = await admin
    .call<{ token: string }>('/panel/api/setting/apiTokens/create', { body: { name: 'program' } })
    .then(({ body }) => body.obj);
  const refused = await world.visitor().call(`${AT}/link`, {
    body: { password: ADMIN.password },
    headers: { authorization: `Bearer ${token}` },
  });
  t.is(refused.status, 401);
  // Nor is a page of another site, which has no token of the session.
  const forged = await admin.fetch(`${panel.url}${AT}/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(begin.body),
  });
  t.is(forged.status, 403);
});

test('another site cannot begin a login', async (t) => {
  await using world = await boot();
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const response = await world.visitor().fetch(`${world.panel.url}${AT}/login`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: '{}',
    });
    t.true(response.status >= 400, type);
    t.deepEqual(response.headers.getSetCookie(), [], type);
  }
});

test('the settings change while somebody is at the provider', async (t) => {
  await using world = await boot();
  await world.admin.link(ADMIN.password);
  const off = world.visitor();
  const first = await off.toCallback();
  await world.set({ openidEnable: false });
  t.is(troubleIn(await off.comeBack(first)), 'OPENID_OFF');
  await world.set({ openidEnable: true });
  const moved = world.visitor();
  const second = await moved.toCallback();
  await world.set({ openidClientId: 'another' });
  t.is(troubleIn(await moved.comeBack(second)), 'OPENID_STALE');
});
