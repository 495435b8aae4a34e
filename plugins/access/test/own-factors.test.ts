// Runs on every database in test:full.
// Each admin has a second factor of its own: nobody else sees, changes or uses it.
import anyTest, { type TestFn } from 'ava';
import type { Database } from '../../../kernel/index.js';
import { definePlugin } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, TestPanel } from '../../../test/harness/panel.js';
import { refused } from '../../../test/harness/refused.js';
import { ADMINS, codeOf, FACTOR, PASSWORD, Person, SECRETS, UPDATE } from './own-factors-world.js';

interface Context {
  panel: TestPanel;
  clock: FakeClock;
  db: Database;
  ada: Person;
  grace: Person;
}
const test = anyTest as TestFn<Context>;
const CODES = '/panel/api/access/recoveryCodes';
const ALL = '/panel/api/setting/all';

test.beforeEach(async (t) => {
  const clock = new FakeClock();
  const spy = definePlugin({
    name: 'spy',
    version: '1.0.0',
    api: 1,
    about: 'Looks at the database.',
    start: ({ db }) => void (t.context.db = db),
  });
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, spy], clock });
  Object.assign(t.context, { panel, clock });
  t.context.ada = await Person.add(panel, clock, { username: 'ada', secret: SECRETS[0] });
  t.context.grace = await Person.add(panel, clock, { username: 'grace', secret: SECRETS[1] });
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());

test('one admin turns it on, and the others log in as before', async (t) => {
  const { panel, ada, grace } = t.context;
  t.is(await ada.enable(), 200);
  t.is(ada.recoveryCodes.length, 10);
  t.is(await ada.logIn(), 401);
  t.is(await ada.logIn(ada.code()), 200);
  t.is(await grace.logIn(), 200);
  t.is(await grace.logIn('000000'), 200, 'a code that nobody asked for is not read');
  t.deepEqual([await ada.isOn(), await grace.isOn()], [true, false]);
  t.true(
    await panel.get('/getTwoFactorEnable', { method: 'POST', anonymous: true }),
    'a page asks for a code',
  );
});

test('codes and recovery codes open for their own admin only, and each admin has a counter', async (t) => {
  const { clock, ada, grace } = t.context;
  await ada.enable();
  await grace.enable();
  clock.tick(30_000);
  t.is(await ada.logIn(codeOf(clock, grace.secret)), 401);
  t.is(await ada.logIn(grace.recoveryCodes[0]), 401);
  t.is(await ada.logIn(codeOf(clock, ada.secret)), 200);
  t.is(await grace.logIn(codeOf(clock, grace.secret)), 200, 'the same moment is not used up for her');
  t.is(await grace.logIn(codeOf(clock, grace.secret)), 401);
  t.is(await grace.logIn(grace.recoveryCodes[0]), 200);
  t.is(await grace.logIn(grace.recoveryCodes[0]), 401);
  t.is((await ada.call<{ left: number }>(CODES)).body.obj.left, 10);
  t.is((await grace.call<{ left: number }>(CODES)).body.obj.left, 9);
});

test('the settings are those of the admin who asks', async (t) => {
  const { clock, ada, grace } = t.context;
  await ada.enable();
  const all = async (person: Person) =>
    (await person.call<Record<string, unknown>>(ALL, { method: 'POST' })).body.obj;
  t.like(await all(ada), { twoFactorEnable: true, hasTwoFactorToken: true, twoFactorToken: '' });
  t.like(await all(grace), { twoFactorEnable: false, hasTwoFactorToken: false });
  t.not((await all(ada))['version'], (await all(grace))['version']);
  // What grace reads can be sent back, and changes nothing of ada's.
  t.is((await grace.call(UPDATE, { body: { ...(await all(grace)), pageSize: 10 } })).status, 200);
  t.true(await ada.isOn());
  const on = { twoFactorEnable: true, twoFactorToken: grace.secret, twoFactorCode: grace.code() };
  const answer = await grace.call<{ recoveryCodes: string[] }>(UPDATE, { body: on });
  t.is(answer.body.obj.recoveryCodes.length, 10);
  clock.tick(30_000);
  const off = { twoFactorEnable: false, twoFactorCode: codeOf(clock, grace.secret) };
  t.is((await grace.call(UPDATE, { body: off })).status, 200);
  t.deepEqual([await ada.isOn(), await grace.isOn()], [true, false]);
  t.is(await ada.logIn(), 401);
});

test('turning it on closes the sessions of that admin only', async (t) => {
  const { panel, ada, grace } = t.context;
  const before = { ...ada.headers };
  await ada.logIn();
  await ada.enable();
  const list = (headers: Record<string, string>) =>
    panel.call(FACTOR, { anonymous: true, headers }).then(({ status }) => status);
  t.deepEqual([await list(before), await list(ada.headers), await list(grace.headers)], [401, 200, 200]);
  t.is((await panel.call('/panel/api/inbounds/list')).status, 200);
});

test('the reply to a login tells nobody who has a second factor', async (t) => {
  const { panel, ada } = t.context;
  await ada.enable();
  const answers = [];
  for (const username of ['ada', 'grace', 'nobody at all'])
    for (const twoFactorCode of [undefined, '000000', ada.recoveryCodes[0]]) {
      const body = { username, password: 'wrong and wrong', twoFactorCode };
      const { status, body: envelope, headers } = await panel.call('/login', { body, anonymous: true });
      answers.push(JSON.stringify([status, envelope.code, envelope.msg, headers.getSetCookie()]));
      t.context.clock.tick(6 * 60_000);
    }
  t.is(new Set(answers).size, 1, answers.join('\n'));
  t.is((await ada.call<{ left: number }>(CODES)).body.obj.left, 10, 'no recovery code is used up');
  const wrongCode = await panel.call('/login', {
    body: { username: 'ada', password: PASSWORD, twoFactorCode: '000000' },
    anonymous: true,
  });
  t.is(JSON.stringify([wrongCode.status, wrongCode.body.code, wrongCode.body.msg, []]), answers[0] ?? '');
});

test('an admin with a role has one as well; an API token has none', async (t) => {
  const { panel, clock } = t.context;
  const role = await panel.get<{ id: number }>('/panel/api/x/roles', {
    body: { name: 'reads', permissions: ['inbounds:read'] },
  });
  const joan = await Person.add(panel, clock, { username: 'joan', secret: SECRETS[2], role: role.id });
  t.is(await joan.enable(), 200);
  t.is(await joan.logIn(), 401);
  t.is(await joan.logIn(joan.code()), 200);
  const renewed = await joan.call<{ recoveryCodes: string[] }>(`${CODES}/renew`, {
    body: { twoFactorCode: joan.code() },
  });
  t.is(renewed.body.obj.recoveryCodes.length, 10);
  const { obj } = (
    await joan.call<{ token: string }>('/panel/api/setting/apiTokens/create', {
      body: { name: 'of-joan' },
    })
  ).body;
  const asToken = (path: string, body?: object) =>
    panel.call(path, { anonymous: true, headers: { authorization: `Bearer ${obj.token}` }, body });
  t.is((await asToken(FACTOR)).body.code, 'ACCESS_NO_OWN_FACTOR');
  t.is((await asToken(`${FACTOR}/del`, { twoFactorCode: joan.code() })).status, 403);
  t.is((await asToken(`${CODES}/renew`, { twoFactorCode: joan.code() })).body.code, 'ACCESS_OWN_ACCOUNT');
  t.is((await joan.call(`${FACTOR}/del`, { body: { twoFactorCode: joan.code() } })).status, 200);
  t.false(await joan.isOn());
});

test('a full token acts for the admin who made it', async (t) => {
  const { panel, ada } = t.context;
  await ada.enable();
  const create = async (by: { call: Person['call'] }, name: string) => {
    const made = await by.call<{ token: string }>('/panel/api/setting/apiTokens/create', { body: { name } });
    return (path: string, options: object) =>
      panel.call<Record<string, unknown>>(path, {
        ...options,
        anonymous: true,
        headers: { authorization: `Bearer ${made.body.obj.token}` },
      });
  };
  const ofAda = await create(ada, 'ada');
  const ofAdmin = await create(panel, 'admin');
  t.true((await ofAda(ALL, { method: 'POST' })).body.obj['twoFactorEnable']);
  t.false((await ofAdmin(ALL, { method: 'POST' })).body.obj['twoFactorEnable']);
  const off = (code: string) => ({ body: { twoFactorEnable: false, twoFactorCode: code } });
  t.is((await ofAdmin(UPDATE, off(ada.code()))).body.msg, 'nothing has changed');
  t.true(await ada.isOn());
  t.is((await ofAda(UPDATE, off('000000'))).status, 403);
  t.is((await ofAda(UPDATE, off(ada.code()))).status, 200);
  t.false(await ada.isOn());
});

test('a token that nobody made acts for the only admin, and for nobody where there are several', async (t) => {
  const { panel, db, ada, grace } = t.context;
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'old' },
  });
  await db.write((tx) => tx.run('UPDATE api_tokens SET maker_id = 0'));
  await panel.stop();
  const { clock, panel: before } = t.context;
  const next = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock,
    dataDirectory: before.dataDirectory,
  });
  t.context.panel = next;
  const call = (body: object) =>
    next.call(UPDATE, { body, anonymous: true, headers: { authorization: `Bearer ${token}` } });
  const on = () => ({
    twoFactorEnable: true,
    twoFactorToken: SECRETS[2],
    twoFactorCode: codeOf(clock, SECRETS[2]),
  });
  t.is((await call(on())).body.code, 'ACCESS_NO_OWN_FACTOR');
  for (const { id } of [ada, grace]) await next.get(`${ADMINS}/${id}/del`, { method: 'POST' });
  t.is((await call(on())).status, 200);
  t.is((await next.call('/login', { body: ADMIN, anonymous: true })).status, 401);
});

test('a full admin resets it for another one, never for itself, and it is recorded', async (t) => {
  const { panel, clock, ada, grace } = t.context;
  await ada.enable();
  await grace.enable();
  const at = (id: number) => `${ADMINS}/${id}/secondFactor/del`;
  const post = { method: 'POST' };
  t.is((await ada.call(at(ada.id), post)).body.code, 'ACCESS_OWN_FACTOR');
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'script' },
  });
  const byToken = await panel.call(at(ada.id), {
    ...post,
    anonymous: true,
    headers: { authorization: `Bearer ${token}` },
  });
  t.is(byToken.body.code, 'ACCESS_OWN_FACTOR');
  const missing = { status: 404, code: 'ACCESS_ADMIN_NOT_FOUND', field: 'id' };
  await refused(t, panel, at(99), post, missing);
  t.true(
    (await panel.get<{ id: number; secondFactor: boolean }[]>(ADMINS)).some(
      ({ id, secondFactor }) => id === ada.id && secondFactor,
    ),
  );
  t.is((await grace.call(at(ada.id), post)).status, 200);
  t.is((await ada.call(FACTOR)).status, 401, 'her sessions are closed');
  t.is(await ada.logIn(), 200);
  t.is((await ada.call<{ left: number }>(CODES)).body.obj.left, 0);
  t.true(await grace.isOn());
  t.is((await grace.call(at(ada.id), post)).body.code, 'ACCESS_NO_SECOND_FACTOR');
  clock.tick(1000);
  const changes = await panel.get<{ who: string; kind: string; name: string }[]>(
    '/panel/api/x/audit/changes?area=secondFactor',
  );
  t.deepEqual(
    changes.map(({ who, kind, name }) => [who, kind, name]),
    [
      ['grace', 'deleted', 'ada'],
      ['grace', 'added', 'grace'],
      ['ada', 'added', 'ada'],
    ],
  );
});

test('secrets are sealed in the database, and go with their admin', async (t) => {
  const { panel, db, ada } = t.context;
  await ada.enable();
  const rows = () => db.query<{ secret: string }>('SELECT * FROM second_factors');
  const [row] = await rows();
  t.regex(row?.secret ?? '', /^weir1:/);
  t.false(JSON.stringify(await db.query('SELECT * FROM settings')).includes('twoFactor'));
  await panel.get(`${ADMINS}/${ada.id}`, { body: { password: 'another long one here' } });
  t.is(await ada.logIn(undefined, 'another long one here'), 401, 'a new password keeps it');
  t.is(await ada.logIn(ada.code(), 'another long one here'), 200);
  await panel.get(`${ADMINS}/${ada.id}/del`, { method: 'POST' });
  t.deepEqual(await rows(), []);
  t.deepEqual(await db.query('SELECT * FROM second_factor_codes'), []);
  t.false(await panel.get('/getTwoFactorEnable', { method: 'POST', anonymous: true }));
});

test('of two that turn it on at the same moment one is refused', async (t) => {
  const { ada, clock } = t.context;
  clock.tick(60_000);
  const attempt = (secret: string, twoFactorCode: string) =>
    ada.call(FACTOR, { body: { twoFactorToken: secret, twoFactorCode } });
  const earlier = codeOf(clock, SECRETS[0]);
  clock.tick(30_000);
  const answers = await Promise.all([
    attempt(SECRETS[0], earlier),
    attempt(SECRETS[1], codeOf(clock, SECRETS[1])),
  ]);
  t.is(answers.filter(({ status }) => status === 200).length, 1, answers.map(({ text }) => text).join());
  const won = answers.findIndex(({ status }) => status === 200);
  clock.tick(60_000);
  t.is(await ada.logIn(codeOf(clock, SECRETS[won] ?? '')), 200);
});
