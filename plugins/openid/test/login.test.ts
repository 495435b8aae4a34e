// Runs on every database in test:full.
// Logins at a real provider: who gets in, as whom, and what is recorded.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { ADMIN } from '../../../test/harness/panel.js';
import { loginAttempted } from '../../access/contract.js';
import { AT, troubleIn } from './visitor.js';
import { boot } from './world.js';

const ADMINS = '/panel/api/x/admins';
const PASSWORD = 'a password of another one';

/** Collects what is reported of logins. */
function listening() {
  const heard: { username: string; ok: boolean; reason: string; method: string }[] = [];
  const plugin = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [tap(loginAttempted, ({ attempts }) => void heard.push(...attempts))],
  });
  return { plugin, heard };
}

test('an admin links an account and logs in with it, without password and code', async (t) => {
  const { plugin, heard } = listening();
  await using world = await boot({ plugins: [plugin] });
  const { panel, provider, admin } = world;
  provider.claims.set('ada-at-work', { preferred_username: 'ada', email: 'ada@example.com' });
  const stranger = world.visitor();
  t.is(troubleIn(await stranger.logIn()), 'OPENID_UNLINKED');
  t.is(await stranger.who(), undefined);

  const wrong = await admin.call(`${AT}/link`, { body: { password: 'wrong' } });
  t.deepEqual([wrong.status, wrong.body.code], [403, 'ACCESS_WRONG_CREDENTIALS']);
  t.is(await admin.link(ADMIN.password), '../../../system/access?openid=linked');
  const links = await panel.get<object[]>(`${AT}/links`);
  t.like(links, [{ username: 'admin', issuer: provider.issuer, subject: 'ada-at-work', account: 'ada' }]);

  await panel.kernel.settled();
  heard.splice(0);
  const person = world.visitor();
  t.is(await person.logIn('/clients?a=b'), '../../../login?returnTo=%2Fclients%3Fa%3Db');
  t.is(await person.who(), 'admin');
  t.true(person.cookies.has('weir_device'));
  t.false(person.cookies.has('weir_openid'));
  await panel.kernel.settled();
  t.like(heard, [{ username: 'admin', ok: true, reason: '', method: 'openid' }]);

  const changes = await panel.get<object>('/panel/api/x/audit/changes?area=session');
  t.true(JSON.stringify(changes).includes('"openid"'), JSON.stringify(changes));
  const linked = await panel.get<object>('/panel/api/x/audit/changes?area=openid');
  t.regex(JSON.stringify(linked), /ada-at-work/);
});

test('the page learns of the way in while it is set up, and only then', async (t) => {
  await using world = await boot();
  const methods = async () =>
    (await world.visitor().call<object[]>('/panel/api/x/access/login-methods')).body.obj;
  t.deepEqual(await methods(), [{ method: 'openid', label: 'OpenID Connect' }]);
  await world.set({ openidName: 'Our ID' });
  t.deepEqual(await methods(), [{ method: 'openid', label: 'Our ID' }]);
  await world.set({ openidEnable: false });
  t.deepEqual(await methods(), []);
  const begun = await world.visitor().call(`${AT}/login`, { body: {} });
  t.deepEqual([begun.status, begun.body.code], [409, 'OPENID_OFF']);
});

test('a failed login is reported, and five of them block the address for this way in', async (t) => {
  const clock = new FakeClock();
  const { plugin, heard } = listening();
  await using world = await boot({ clock, plugins: [plugin] });
  await world.panel.kernel.settled();
  heard.splice(0);
  for (let i = 0; i < 5; i++) t.is(troubleIn(await world.visitor().logIn()), 'OPENID_UNLINKED');
  const blocked = world.visitor();
  const answer = await blocked.call(`${AT}/login`, { body: {} });
  t.deepEqual([answer.status, answer.body.code], [429, 'ACCESS_TOO_MANY_LOGINS']);
  await world.panel.kernel.settled();
  const failed = { username: 'ada-at-work', ok: false, method: 'openid' };
  t.like(heard, [
    ...Array.from({ length: 5 }, () => failed),
    { ok: false, reason: 'too many failed attempts', method: 'openid' },
  ]);
  t.regex(heard[0]?.reason ?? '', /no admin is linked/);
  // The password has limits of its own.
  await blocked.passwordLogin(ADMIN.username, ADMIN.password);
  clock.tick(16 * 60_000);
  t.is(troubleIn(await world.visitor().logIn()), 'OPENID_UNLINKED');
});

test('a login that was begun before the block ends at the page as well', async (t) => {
  await using world = await boot({ clock: new FakeClock() });
  const early = world.visitor();
  const callback = await early.toCallback();
  for (let i = 0; i < 5; i++) await world.visitor().logIn();
  t.is(troubleIn(await early.comeBack(callback)), 'ACCESS_TOO_MANY_LOGINS');
  t.is(await early.who(), undefined);
});

test('an admin with a role stays within it; a disabled one and a deleted one do not get in', async (t) => {
  await using world = await boot();
  const { panel, provider, admin } = world;
  const { id: role } = await panel.get<{ id: number }>('/panel/api/x/roles', {
    body: { name: 'support', permissions: ['clients:read'] },
  });
  const grace = await panel.get<{ id: number }>(ADMINS, {
    body: { username: 'grace', password: PASSWORD, role },
  });
  provider.account = 'grace-at-work';
  const own = world.visitor();
  await own.passwordLogin('grace', PASSWORD);
  t.is(await own.link(PASSWORD), '../../../system/access?openid=linked');
  provider.account = 'ada-at-work';
  await admin.link(ADMIN.password);
  provider.account = 'grace-at-work';

  const person = world.visitor();
  await person.logIn();
  t.is(await person.who(), 'grace');
  t.is((await person.call('/panel/api/clients/list')).status, 200);
  t.is((await person.call(ADMINS)).status, 403);
  const seen = await person.call<{ username: string; id: string }[]>(`${AT}/links`);
  t.deepEqual(
    seen.body.obj.map(({ username }) => username),
    ['grace'],
  );
  const all = await panel.get<{ username: string; id: string }[]>(`${AT}/links`);
  const [of] = all.filter(({ username }) => username === 'admin');
  t.is((await person.call(`${AT}/links/${of?.id}/del`, { method: 'POST' })).status, 404);

  await panel.get(`${ADMINS}/${grace.id}`, { body: { enabled: false } });
  t.is(await person.who(), undefined);
  t.is(troubleIn(await world.visitor().logIn()), 'ACCESS_LOGIN_REFUSED');

  await panel.get(`${ADMINS}/${grace.id}/del`, { method: 'POST' });
  t.deepEqual(
    (await panel.get<{ username: string }[]>(`${AT}/links`)).map(({ username }) => username),
    ['admin'],
  );
  // Another admin of this name is somebody else.
  await panel.get(ADMINS, { body: { username: 'grace', password: PASSWORD, role: 0 } });
  t.is(troubleIn(await world.visitor().logIn()), 'OPENID_UNLINKED');
});

test('to unlink ends the sessions of the admin, and the way in', async (t) => {
  await using world = await boot();
  const { admin } = world;
  await admin.link(ADMIN.password);
  const person = world.visitor();
  await person.logIn();
  t.is(await person.who(), 'admin');
  const { body } = await admin.call<{ id: string }[]>(`${AT}/links`);
  const { status } = await admin.call(`${AT}/links/${body.obj[0]?.id}/del`, { method: 'POST' });
  t.is(status, 200);
  t.is(await person.who(), undefined);
  t.is(await admin.who(), 'admin');
  t.is(troubleIn(await world.visitor().logIn()), 'OPENID_UNLINKED');
});

test('an account has one admin, and an admin one account of an issuer', async (t) => {
  await using world = await boot();
  const { panel, provider, admin } = world;
  await admin.link(ADMIN.password);
  t.is(await admin.link(ADMIN.password), '../../../system/access?openid=linked', 'again the same');
  await panel.get(ADMINS, { body: { username: 'grace', password: PASSWORD, role: 0 } });
  const grace = world.visitor();
  await grace.passwordLogin('grace', PASSWORD);
  t.is(await grace.link(PASSWORD), '../../../system/access?openid=OPENID_TAKEN');
  provider.account = 'another';
  admin.forget(provider.issuer);
  t.is(await admin.link(ADMIN.password), '../../../system/access?openid=OPENID_LINKED');
  t.is((await panel.get<object[]>(`${AT}/links`)).length, 1);
});

test('where a claim is configured it links at the first login, and never again somebody else', async (t) => {
  await using world = await boot();
  const { provider, panel } = world;
  await world.set({ openidClaim: 'preferred_username' });
  provider.claims.set('ada-at-work', { preferred_username: 'Admin' });
  t.is(troubleIn(await world.visitor().logIn()), 'OPENID_UNLINKED', 'letters count');
  provider.claims.set('ada-at-work', { preferred_username: 'admin' });
  const person = world.visitor();
  await person.logIn();
  t.is(await person.who(), 'admin');
  // Somebody else takes the name at the provider.
  provider.claims.set('mallory', { preferred_username: 'admin' });
  provider.account = 'mallory';
  const mallory = world.visitor();
  t.is(troubleIn(await mallory.logIn()), 'OPENID_UNLINKED');
  t.is(await mallory.who(), undefined);
  // The link counts, not the claim.
  await panel.get(ADMINS, { body: { username: 'grace', password: PASSWORD, role: 0 } });
  provider.claims.set('ada-at-work', { preferred_username: 'grace' });
  provider.account = 'ada-at-work';
  const again = world.visitor();
  await again.logIn();
  t.is(await again.who(), 'admin');
});

test('an address names an admin only where the provider has verified it', async (t) => {
  await using world = await boot();
  const { provider, panel } = world;
  await panel.get(ADMINS, { body: { username: 'ada@example.com', password: PASSWORD, role: 0 } });
  await world.set({ openidClaim: 'email' });
  for (const verified of [undefined, false, 'true']) {
    provider.claims.set('ada-at-work', { email: 'ada@example.com', email_verified: verified });
    t.is(troubleIn(await world.visitor().logIn()), 'OPENID_UNLINKED', String(verified));
  }
  provider.claims.set('ada-at-work', { email: 'ada@example.com', email_verified: true });
  const person = world.visitor();
  await person.logIn();
  t.is(await person.who(), 'ada@example.com');
});

test('who cancels at the provider is led back, and nothing is counted', async (t) => {
  const { plugin, heard } = listening();
  await using world = await boot({ plugins: [plugin] });
  world.provider.account = '';
  await world.panel.kernel.settled();
  heard.splice(0);
  for (let i = 0; i < 6; i++) t.is(troubleIn(await world.visitor().logIn()), 'OPENID_CANCELLED');
  await world.panel.kernel.settled();
  t.deepEqual(heard, []);
});

test('works below a base path, and leads nowhere else', async (t) => {
  await using world = await boot({ basePath: '/secret' });
  const { admin, panel } = world;
  await admin.link(ADMIN.password);
  for (const returnTo of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
  ]) {
    const person = world.visitor();
    const location = await person.logIn(returnTo);
    const url = new URL(location, `${panel.url}/secret${AT}/callback`);
    t.is(`${url.origin}${url.pathname}`, `${panel.url}/secret/panel/login`, returnTo);
    t.is(await person.who(), 'admin');
  }
});

test('is off until it is complete, and takes only places that nobody can listen in to', async (t) => {
  await using world = await boot();
  const update = (body: object) =>
    world.admin.call<{ issues: { path: string }[] }>('/panel/api/setting/update', { body });
  const missing = await update({ openidIssuer: '' });
  t.deepEqual([missing.status, missing.body.code], [422, 'OPENID_INCOMPLETE']);
  for (const openidIssuer of [
    'http://id.example.com',
    'ftp://id.example.com',
    'https://id.example.com/?a=b',
    'https://id.example.com/#a',
    'https://ada@id.example.com',
    'javascript:alert(1)',
    'id.example.com',
  ]) {
    const { status, body } = await update({ openidIssuer });
    t.deepEqual([status, body.obj.issues[0]?.path], [400, 'openidIssuer'], openidIssuer);
  }
  const shown = await world.admin.call<Record<string, unknown>>('/panel/api/setting/all', { body: {} });
  t.false(shown.text.includes('nobody guesses'), 'the secret is shown');
});
