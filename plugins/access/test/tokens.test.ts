// Runs on every database in test:full.
// API tokens: what opens, what does not any more, and what is shown of them.
import anyTest, { type TestFn } from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { refused } from '../../../test/harness/refused.js';

const test = anyTest as TestFn<{ panel: TestPanel; clock: FakeClock }>;
const TOKENS = '/panel/api/setting/apiTokens';
interface Token {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number;
  readonly token: string;
}

test.beforeEach(async (t) => {
  const clock = new FakeClock();
  t.context = { clock, panel: await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock }) };
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());

const create = (panel: TestPanel, body: object) => panel.get<Token>(`${TOKENS}/create`, { body });
const asks = (panel: TestPanel, authorization: string) =>
  panel.call('/panel/api/inbounds/list', { anonymous: true, headers: { authorization } });

test('a token has the access of a login, and is shown once', async (t) => {
  const { panel, clock } = t.context;
  const made = await create(panel, { name: 'ci' });
  t.like(made, { name: 'ci', enabled: true, createdAt: clock.now() / 1000, expiresAt: 0 });
  t.regex(made.token, /^[\w-]{48}$/);
  t.is((await asks(panel, `Bearer ${made.token}`)).status, 200);
  const list = await panel.call<Token[]>(TOKENS);
  t.deepEqual(list.body.obj, [
    {
      id: made.id,
      name: 'ci',
      kind: '',
      role: 0,
      maker: 'admin',
      enabled: true,
      createdAt: made.createdAt,
      expiresAt: 0,
      lastUsedAt: clock.now() / 1000,
    },
  ]);
  t.false([list.text, ...panel.log].join('').includes(made.token));
});

test('rejects a disabled token until it is enabled again, and a deleted one always', async (t) => {
  const { panel } = t.context;
  const { id, token } = await create(panel, { name: 'ci' });
  const set = (enabled: boolean) => panel.call(`${TOKENS}/setEnabled/${id}`, { body: { enabled } });
  t.deepEqual((await set(false)).body, { success: true, msg: '', obj: null });
  const off = await asks(panel, `Bearer ${token}`);
  t.is(off.status, 401);
  t.is(off.body.code, 'ACCESS_WRONG_TOKEN');
  await set(true);
  t.is((await asks(panel, `Bearer ${token}`)).status, 200);
  t.is((await panel.call(`${TOKENS}/delete/${id}`, { method: 'POST' })).status, 200);
  t.is((await asks(panel, `Bearer ${token}`)).status, 401);
  t.deepEqual(await panel.get(TOKENS), []);
});

test('a token works until it expires', async (t) => {
  const { panel, clock } = t.context;
  const expiresAt = clock.now() + 60_000;
  const { token } = await create(panel, { name: 'guest', expiresAt });
  clock.tick(59_999);
  t.is((await asks(panel, `Bearer ${token}`)).status, 200);
  clock.tick(1);
  t.is((await asks(panel, `Bearer ${token}`)).status, 401);
  t.like(await panel.get(TOKENS), [{ name: 'guest', enabled: true, expiresAt }]);
});

test('shows the last use of a token, to the minute, also after a restart', async (t) => {
  const { panel, clock } = t.context;
  const { token } = await create(panel, { name: 'ci' });
  await create(panel, { name: 'idle' });
  const lastUsed = async () =>
    Object.fromEntries(
      (await t.context.panel.get<Token[]>(TOKENS)).map(({ name, lastUsedAt }) => [name, lastUsedAt]),
    );
  t.deepEqual(await lastUsed(), { ci: 0, idle: 0 });
  const first = clock.now() / 1000;
  await asks(panel, `Bearer ${token}`);
  await asks(panel, `Bearer ${token}x`);
  t.deepEqual(await lastUsed(), { ci: first, idle: 0 });
  clock.tick(59_000);
  await asks(panel, `Bearer ${token}`);
  t.deepEqual(await lastUsed(), { ci: first, idle: 0 }, 'within a minute it is noted once');
  clock.tick(1000);
  await asks(panel, `Bearer ${token}`);
  t.deepEqual(await lastUsed(), { ci: first + 60, idle: 0 });
  await panel.stop();
  t.context.panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock,
    dataDirectory: panel.dataDirectory,
  });
  t.deepEqual(await lastUsed(), { ci: first + 60, idle: 0 });
});

test('names the field of bad input and creates no token', async (t) => {
  const { panel, clock } = t.context;
  await create(panel, { name: 'ci' });
  const invalid = (field: string) => ({ status: 400, code: 'KERNEL_INVALID', field });
  await refused(t, panel, `${TOKENS}/create`, { body: {} }, invalid('name'));
  await refused(t, panel, `${TOKENS}/create`, { body: { name: 'x'.repeat(65) } }, invalid('name'));
  await refused(
    t,
    panel,
    `${TOKENS}/create`,
    { body: { name: 'late', expiresAt: clock.now() } },
    { status: 400, code: 'ACCESS_TOKEN_EXPIRED', field: 'expiresAt' },
  );
  await refused(
    t,
    panel,
    `${TOKENS}/create`,
    { body: { name: 'late', expiresAt: -1 } },
    invalid('expiresAt'),
  );
  await refused(
    t,
    panel,
    `${TOKENS}/create`,
    { body: { name: ' ci ' } },
    { status: 409, code: 'ACCESS_TOKEN_NAME_TAKEN', field: 'name' },
  );
  await refused(t, panel, `${TOKENS}/setEnabled/1`, { body: {} }, invalid('enabled'));
  await refused(
    t,
    panel,
    `${TOKENS}/setEnabled/9`,
    { body: { enabled: false } },
    { status: 404, code: 'ACCESS_TOKEN_NOT_FOUND', field: 'id' },
  );
});

test('rejects a malformed token, even with a valid session', async (t) => {
  const { panel } = t.context;
  const { token } = await create(panel, { name: 'ci' });
  for (const authorization of [
    'Bearer',
    'Bearer x',
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `bearer  ${token} x`,
  ]) {
    t.is((await asks(panel, authorization)).status, 401, authorization);
    t.is(
      (await panel.call('/panel/api/inbounds/list', { headers: { authorization } })).status,
      401,
      authorization,
    );
  }
});

test('another kind of authorization is for a proxy in front: the session counts, and its CSRF token', async (t) => {
  const { panel } = t.context;
  const { token } = await create(panel, { name: 'ci' });
  for (const authorization of ['Basic YTpi', `Basic ${token}`, 'Negotiate x', token, '']) {
    const headers = { authorization };
    t.is((await asks(panel, authorization)).status, 401, authorization);
    t.is((await panel.call('/panel/api/inbounds/list', { headers })).status, 200, authorization);
    const add = { body: { name: `with ${authorization}` }, headers };
    t.is((await panel.call(`${TOKENS}/create`, add)).status, 200, authorization);
    const forged = await panel.call(`${TOKENS}/create`, {
      body: { name: 'forged' },
      headers: { ...headers, 'x-csrf-token': 'x' },
    });
    t.is(forged.body.code, 'KERNEL_CSRF', authorization);
  }
});

test('rejects a token name with invisible characters', async (t) => {
  const { panel } = t.context;
  await create(panel, { name: 'backup' });
  for (const name of ['backup\u200b', '\u202epukcab'])
    await refused(
      t,
      panel,
      `${TOKENS}/create`,
      { body: { name } },
      { status: 400, code: 'KERNEL_INVALID', field: 'name', says: 'invisible character' },
    );
});
