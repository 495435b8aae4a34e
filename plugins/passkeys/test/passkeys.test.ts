// Runs on every database in test:full.
// Passkeys that work: registered, listed, renamed, used, removed; and what belongs to whom.
import test from 'ava';
import { Secret, TOTP } from 'otpauth';
import { ADMINS, Authenticator, boot, KEYS, ORIGIN, PASSWORD, type Key } from './world.js';
import { ADMIN } from '../../../test/harness/panel.js';

const list = async (browser: { call: <T>(path: string) => Promise<{ body: { obj: T } }> }) =>
  (await browser.call<Key[]>(KEYS)).body.obj;
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

for (const kind of ['P-256', 'Ed25519', 'RSA'] as const)
  test(`registers a passkey and logs in with it, without a name: ${kind}`, async (t) => {
    const { panel, admin, browser, clock } = await boot();
    await using _ = panel;
    const methods = () => panel.get<object[]>('/panel/api/x/access/login-methods', { anonymous: true });
    t.deepEqual(await methods(), []);
    const authenticator = new Authenticator(ORIGIN, { kind, counter: kind === 'RSA' ? 7 : 0 });
    const { status, body } = await admin.register(authenticator);
    t.is(status, 200, body.msg);
    t.like(body.obj, { origin: ORIGIN, lastUsedAt: 0 });
    t.deepEqual(await methods(), [{ method: 'passkey', label: '' }]);
    const other = browser();
    clock.tick(1000);
    const entered = await other.enter(authenticator);
    t.is(entered.status, 200, entered.body.msg);
    t.is(entered.body.obj.username, ADMIN.username);
    t.is(await other.asks(), 200);
    t.like((await list(admin))[0], { id: body.obj.id, lastUsedAt: clock.now() });
    t.is((await browser().enter(authenticator)).status, 200, 'and again');
    t.deepEqual(panel.faults, []);
  });

test('the options ask for a key that is found without a name, by a device that checks who is there', async (t) => {
  const { panel, admin, browser } = await boot();
  await using _ = panel;
  const options = (await admin.begin()).body.obj as unknown as Record<string, Record<string, unknown>>;
  t.like(options['authenticatorSelection'], { residentKey: 'required', userVerification: 'required' });
  t.is(options['attestation'] as unknown, 'none');
  t.like(options['rp'], { id: 'panel.example.com' });
  t.is(Buffer.from(String(options['user']?.['id']), 'base64url').length, 32);
  const login = (await browser().options()) as unknown as Record<string, unknown>;
  t.like(login, { userVerification: 'required', rpId: 'panel.example.com' });
  t.is(login['allowCredentials'], undefined);
});

test('a second factor is no part of a login with a passkey, and is part of registering one', async (t) => {
  const { panel, admin, browser, clock } = await boot();
  await using _ = panel;
  const code = () => {
    clock.tick(30_000);
    return TOTP.generate({ secret: Secret.fromBase32(SECRET), timestamp: clock.now() });
  };
  const body = { twoFactorToken: SECRET, twoFactorCode: code() };
  t.is((await admin.call('/panel/api/x/account/secondFactor', { body })).status, 200);
  t.is((await admin.begin('wrong and wrong')).body.code, 'ACCESS_WRONG_CREDENTIALS');
  t.is((await admin.begin()).body.code, 'ACCESS_WRONG_CODE');
  const begun = await admin.begin(ADMIN.password, code());
  const authenticator = new Authenticator(ORIGIN);
  t.is((await admin.finish(authenticator.create(begun.body.obj))).status, 200);
  t.is((await browser().enter(authenticator)).status, 200);
});

test('an admin sees, renames and removes the own passkeys only', async (t) => {
  const { panel, admin, add } = await boot();
  await using _ = panel;
  const { browser: grace } = await add('grace');
  const mine = (await admin.register(new Authenticator(ORIGIN))).body.obj;
  const hers = (await grace.register(new Authenticator(ORIGIN), {}, PASSWORD)).body.obj;
  t.deepEqual(
    (await list(admin)).map(({ id }) => id),
    [mine.id],
  );
  t.deepEqual(
    (await list(grace)).map(({ id }) => id),
    [hers.id],
  );
  const missing = { status: 404, body: { code: 'PASSKEYS_NOT_FOUND' } };
  t.like(await admin.call(`${KEYS}/${hers.id}/rename`, { body: { name: 'mine' } }), missing);
  t.like(await admin.call(`${KEYS}/${hers.id}/del`, { method: 'POST' }), missing);
  const renamed = await grace.call<Key>(`${KEYS}/${hers.id}/rename`, { body: { name: 'Kürzel 🔑' } });
  t.is(renamed.body.obj.name, 'Kürzel 🔑');
  t.is((await grace.call(`${KEYS}/${hers.id}/del`, { method: 'POST' })).status, 200);
  t.deepEqual(await list(grace), []);
  t.is((await list(admin)).length, 1);
  const changes = await panel.get<{ who: string; kind: string; name: string }[]>(
    '/panel/api/x/audit/changes?area=passkey',
  );
  t.deepEqual(
    changes.filter(({ who }) => who === 'grace').map(({ kind, name }) => [kind, name]),
    [
      ['deleted', 'Kürzel 🔑'],
      ['updated', 'Kürzel 🔑'],
      ['added', hers.name],
    ],
  );
});

test('removing a passkey closes the sessions that may have begun with it, and it opens nothing any more', async (t) => {
  const { panel, admin, browser } = await boot();
  await using _ = panel;
  const authenticator = new Authenticator(ORIGIN);
  const { id } = (await admin.register(authenticator)).body.obj;
  const other = browser();
  await other.enter(authenticator);
  t.is(await other.asks(), 200);
  await admin.call(`${KEYS}/${id}/del`, { method: 'POST' });
  t.is(await other.asks(), 401);
  t.is(await admin.asks(), 200);
  t.is((await other.enter(authenticator)).body.code, 'PASSKEYS_REFUSED');
});

test('passkeys follow another name, and go with their admin in the same transaction', async (t) => {
  const { panel, browser, add } = await boot();
  await using _ = panel;
  const { id, browser: grace } = await add('grace');
  const authenticator = new Authenticator(ORIGIN);
  await grace.register(authenticator, {}, PASSWORD);
  const body = {
    oldUsername: 'grace',
    oldPassword: PASSWORD,
    newUsername: 'hopper',
    newPassword: PASSWORD,
  };
  t.is((await grace.call('/panel/api/setting/updateUser', { body })).status, 200);
  t.is((await browser().enter(authenticator)).body.obj.username, 'hopper');
  await panel.get(`${ADMINS}/${id}`, { body: { enabled: false } });
  t.is((await browser().enter(authenticator)).body.code, 'ACCESS_LOGIN_REFUSED');
  await panel.get(`${ADMINS}/${id}`, { body: { enabled: true } });
  t.is((await browser().enter(authenticator)).status, 200);
  await panel.get(`${ADMINS}/${id}/del`, { method: 'POST' });
  t.is((await browser().enter(authenticator)).body.code, 'PASSKEYS_REFUSED');
  t.deepEqual(await panel.get('/panel/api/x/access/login-methods', { anonymous: true }), []);
});

test('an admin with a role has passkeys, and keeps the role; only a full admin removes those of others', async (t) => {
  const { panel, admin, browser, add } = await boot();
  await using _ = panel;
  const role = await panel.get<{ id: number }>('/panel/api/x/roles', {
    body: { name: 'reads', permissions: ['inbounds:read'] },
  });
  const { id, browser: joan } = await add('joan', role.id);
  const authenticator = new Authenticator(ORIGIN);
  t.is((await joan.register(authenticator, {}, PASSWORD)).status, 200);
  const entered = browser();
  t.is((await entered.enter(authenticator)).status, 200);
  t.deepEqual([await entered.asks('/panel/api/inbounds/list'), await entered.asks(ADMINS)], [200, 403]);
  const post = { method: 'POST' };
  t.is((await joan.call(`${KEYS}/of/${id}/del`, post)).status, 403);
  t.like(await admin.call(`${KEYS}/of/${id}/del`, post), { status: 200, body: { obj: { removed: 1 } } });
  t.is(await joan.asks(), 401);
  t.is((await browser().enter(authenticator)).status, 401);
  t.is((await admin.call(`${KEYS}/of/999/del`, post)).body.code, 'PASSKEYS_ADMIN_NOT_FOUND');
});

test('an API token has no passkeys', async (t) => {
  const { panel } = await boot();
  await using _ = panel;
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'script' },
  });
  const headers = { authorization: `Bearer ${token}` };
  for (const [path, body] of [
    [KEYS, undefined],
    [`${KEYS}/register/options`, { password: ADMIN.password }],
    [`${KEYS}/1/rename`, { name: 'x' }],
  ] as const)
    t.is((await panel.call(path, { anonymous: true, headers, body })).body.code, 'PASSKEYS_NO_ADMIN', path);
});

test('an admin has at most 20', async (t) => {
  const { panel, admin } = await boot();
  await using _ = panel;
  const late = await admin.begin();
  const cookies = new Map(admin.cookies);
  for (let i = 0; i < 20; i++) t.is((await admin.register(new Authenticator(ORIGIN))).status, 200);
  t.is((await admin.begin()).body.code, 'PASSKEYS_TOO_MANY');
  for (const [name, value] of cookies) admin.cookies.set(name, value);
  const answer = new Authenticator(ORIGIN).create(late.body.obj);
  t.is((await admin.finish(answer)).body.code, 'PASSKEYS_TOO_MANY', 'also for one that was begun before');
  t.is((await list(admin)).length, 20);
});

test('a restart keeps them, and a login under way goes on', async (t) => {
  const { panel, admin, browser, clock } = await boot();
  const authenticator = new Authenticator(ORIGIN, { counter: 3 });
  await admin.register(authenticator);
  const open = browser();
  const options = await open.options();
  await panel.stop();
  const next = await boot({ dataDirectory: panel.dataDirectory, clock });
  await using _ = next.panel;
  const after = next.browser();
  for (const [name, value] of open.cookies) after.cookies.set(name, value);
  t.is((await after.answer(authenticator.get(options))).status, 200);
});
