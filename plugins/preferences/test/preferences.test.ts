// Runs on every database.
import test from 'ava';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { ADMIN, TestPanel } from '../../../test/harness/panel.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { Database } from '../../../kernel/index.js';
import preferences from '../index.js';
import type { PreferenceStore } from '../preference-store.js';

const API = '/panel/api/x/preferences';
const boot = (dataDirectory?: string) =>
  TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
type Preferences = Readonly<Record<string, unknown>>;
const set = (panel: TestPanel, changes: unknown) => panel.call<Preferences>(API, { body: { changes } });

test('sets some and leaves the others, removes with null, and keeps them over a restart', async (t) => {
  const first = await boot();
  t.deepEqual(await first.get(API), {});
  const columns = ['email', 'used'];
  t.deepEqual((await set(first, { theme: 'dark', columns, tour: null })).body.obj, {
    columns,
    theme: 'dark',
  });
  t.deepEqual((await set(first, { theme: { auto: false }, size: 0 })).body.obj, {
    ...{ columns, size: 0, theme: { auto: false } },
  });
  await first.stop();
  await using second = await boot(first.dataDirectory);
  t.deepEqual((await set(second, { columns: null })).body.obj, { size: 0, theme: { auto: false } });
  t.deepEqual(await second.get(API), { size: 0, theme: { auto: false } });
});

test('belong to the admin who asks: they follow him to another name, and a token has none', async (t) => {
  await using panel = await boot();
  await set(panel, { theme: 'dark' });
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'shop' },
  });
  const headers = { authorization: `Bearer ${token}` };
  t.like(await panel.call(API, { headers, anonymous: true }), { status: 403 });
  t.like(await panel.call(API, { headers, anonymous: true, body: { changes: { theme: 'light' } } }), {
    status: 403,
  });
  t.is((await panel.call(API, { anonymous: true })).status, 401);

  const next = { newUsername: 'owner', newPassword: 'another long password' };
  await panel.get('/panel/api/setting/updateUser', {
    body: { oldUsername: ADMIN.username, oldPassword: ADMIN.password, ...next },
  });
  const body = { username: next.newUsername, password: next.newPassword };
  const { headers: answered } = await panel.call('/login', { body, anonymous: true });
  const cookie = answered
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  t.deepEqual((await panel.call(API, { headers: { cookie }, anonymous: true })).body.obj, { theme: 'dark' });
});

test('go with their admin, and those of another one stay', async (t) => {
  const observed = servicesOf<{ db: Database; store: PreferenceStore }>(preferences);
  await using panel = await TestPanel.boot({ plugins: [observed.plugin, new FakeEngine().plugin] });
  await set(panel, { theme: 'dark' });
  const { db, store } = observed.services;
  await store.change('eve', { theme: 'light' });
  const eve = { username: 'eve', role: 0, enabled: true };
  const gone = { kind: 'deleted', id: 1, before: eve, after: undefined, setsPassword: false } as const;
  await db.write((tx) => store.adminsSaved([gone], tx));
  t.deepEqual(await store.of('eve'), {});
  t.deepEqual(await panel.get(API), { theme: 'dark' });
});

test('what cannot be stored is named, and nothing of the call is stored', async (t) => {
  await using panel = await boot();
  await set(panel, { theme: 'dark' });
  const many = (count: number, start = 'n') =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${start}${i}`, i]));
  for (const [changes, says] of [
    [{ theme: 'light', Big: 1 }, /changes\.Big: a name is a small letter/],
    [{ ['x'.repeat(65)]: 1 }, /a name is a small letter/],
    [{ theme: 'light', 'a b': 1 }, /changes\.a b/],
    [
      { theme: 'light', text: 'x'.repeat(8191) },
      /changes\.text: it has 8193 characters as JSON; at most 8192/,
    ],
    [many(51), /changes has 51 names; at most 50/],
    [[], /changes/],
    [undefined, /changes/],
  ] as const) {
    const { status, text } = await set(panel, changes);
    t.is(status, 400, text);
    t.regex(text, says);
  }
  for (let i = 0; i < 3; i++) t.is((await set(panel, many(50, `a${i}.`))).status, 200);
  t.is((await set(panel, many(49))).status, 200);
  const full = await set(panel, { theme: 'light', more: 1 });
  t.like(full, { status: 409, body: { code: 'PREFERENCES_TOO_MANY' } });
  t.like(await panel.get(API), { theme: 'dark' });
  t.is(Object.keys(await panel.get<Preferences>(API)).length, 200);
  t.is((await set(panel, { ...many(1), last: null, text: 'x'.repeat(8190) })).status, 409);
  t.is((await set(panel, { n0: null, text: 'x'.repeat(8190) })).status, 200);
});
