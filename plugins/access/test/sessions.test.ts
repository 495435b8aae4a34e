// Runs on every database in test:full.
// Open sessions: what is shown of them, how one of them is ended, and how long one lasts at most.
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { ADMIN, type TestPanel } from '../../../test/harness/panel.js';
import { refused } from '../../../test/harness/refused.js';
import { bootBehindProxy } from './behind-proxy.js';

const test = anyTest as TestFn<{ panel: TestPanel; clock: FakeClock }>;
const SESSIONS = '/panel/api/access/sessions';
const MINUTE = 60_000;
interface Shown {
  readonly id: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  readonly ip: string;
  readonly userAgent: string;
  readonly current: boolean;
}

test.beforeEach(async (t) => {
  const clock = new FakeClock();
  t.context = { clock, panel: await bootBehindProxy(clock) };
});
test.afterEach.always(async (t) => t.context.panel?.[Symbol.asyncDispose]());
type Test = ExecutionContext<{ panel: TestPanel; clock: FakeClock }>;

async function login({ context: { panel } }: Test, headers: Record<string, string>): Promise<string> {
  const answer = await panel.call('/login', { body: ADMIN, anonymous: true, headers });
  return answer.headers.getSetCookie().find((line) => line.startsWith('weir_session=')) ?? '';
}
const asks = ({ context: { panel } }: Test, cookie: string, headers: Record<string, string> = {}) =>
  panel
    .call('/panel/api/inbounds/list', { anonymous: true, headers: { cookie, ...headers } })
    .then(({ status }) => status);
const list = ({ context: { panel } }: Test) => panel.get<Shown[]>(SESSIONS);
const PHONE = { 'user-agent': 'a phone', 'x-forwarded-for': '192.0.2.7' };

test('shows when and where each session was opened and used', async (t) => {
  const { clock, panel } = t.context;
  const start = clock.now();
  clock.tick(10 * MINUTE);
  const phone = await login(t, { ...PHONE, 'user-agent': 'a phone'.padEnd(300, '.') });
  clock.tick(10 * MINUTE);
  const mine = { ip: '127.0.0.1', createdAt: start, lastUsedAt: start + 20 * MINUTE, current: true };
  const theirs = {
    ip: '192.0.2.7',
    createdAt: start + 10 * MINUTE,
    lastUsedAt: start + 10 * MINUTE,
    current: false,
  };
  const shown = await list(t);
  t.like(shown, [mine, theirs]);
  t.is(shown[1]?.userAgent, 'a phone'.padEnd(255, '.'));
  t.is(shown[1]?.expiresAt, start + 370 * MINUTE);
  t.false(
    shown.some(({ id }) => phone.includes(id)),
    'an id opens nothing',
  );

  clock.tick(10 * MINUTE);
  await asks(t, phone, { 'x-forwarded-for': '198.51.100.9' });
  const moved = { ...theirs, ip: '198.51.100.9', lastUsedAt: start + 30 * MINUTE };
  t.like(
    (await list(t)).find(({ current }) => !current),
    moved,
  );
  // A sweep that is still under way would let the next one pass.
  await panel.kernel.settled();
  clock.tick(MINUTE);
  await panel.kernel.settled();
  await panel.stop();
  t.context.panel = await bootBehindProxy(clock, panel.dataDirectory);
  t.like(
    (await list(t)).find(({ ip }) => ip === moved.ip),
    moved,
    'a restart does not forget',
  );
});

test('closes one session by its id, and no other', async (t) => {
  const { panel } = t.context;
  const [phone, tablet] = [await login(t, PHONE), await login(t, PHONE)];
  const id = (await list(t)).find(({ current }) => !current)?.id;
  t.is((await panel.call(`${SESSIONS}/revoke/${id}`, { method: 'POST' })).status, 200);
  t.deepEqual([await asks(t, phone), await asks(t, tablet)].sort(), [200, 401]);
  t.is((await list(t)).length, 2);
  await refused(
    t,
    panel,
    `${SESSIONS}/revoke/${id}`,
    { method: 'POST' },
    { status: 404, code: 'ACCESS_SESSION_NOT_FOUND', field: 'id' },
  );
  await refused(
    t,
    panel,
    `${SESSIONS}/revoke/x`,
    { method: 'POST' },
    { status: 400, code: 'KERNEL_INVALID', field: 'id' },
  );
  t.is((await panel.call(`${SESSIONS}/revokeOthers`, { method: 'POST' })).status, 200);
  t.deepEqual([await asks(t, phone), await asks(t, tablet), await asks(t, panel.cookie)], [401, 401, 200]);
});

test('listing and closing sessions needs a login and a CSRF token', async (t) => {
  const { panel } = t.context;
  const [{ id } = { id: '' }] = await list(t);
  t.is((await panel.call(SESSIONS, { anonymous: true })).status, 401);
  for (const path of [`revoke/${id}`, 'revokeOthers']) {
    t.is((await panel.call(`${SESSIONS}/${path}`, { method: 'POST', anonymous: true })).status, 401);
    const headers = { 'x-csrf-token': 'x' };
    t.is((await panel.call(`${SESSIONS}/${path}`, { method: 'POST', headers })).status, 403);
  }
  t.is((await list(t)).length, 1);
});

test('closes a session after its longest lifetime, even if it is used', async (t) => {
  const { panel, clock } = t.context;
  const cookie = await login(t, {});
  t.regex(cookie, /Max-Age=2592000;/, 'a browser keeps the cookie for thirty days');
  await panel.get('/panel/api/setting/update', { body: { sessionMaxAge: 60, sessionMaxLifetime: 100 } });
  t.regex(await login(t, {}), /Max-Age=6000;/);
  clock.tick(50 * MINUTE);
  t.is(await asks(t, cookie), 200);
  clock.tick(49 * MINUTE);
  t.is(await asks(t, cookie), 200);
  clock.tick(MINUTE);
  t.is(await asks(t, cookie), 401);
  const fresh = await login(t, {});
  await panel.get('/panel/api/setting/update', {
    body: { sessionMaxLifetime: 10_000 },
    anonymous: true,
    headers: { cookie: fresh, 'x-csrf-token': await csrfOf(t, fresh) },
  });
  clock.tick(60 * MINUTE);
  t.is(await asks(t, fresh), 401, 'one that is not used ends as before');
});
const csrfOf = ({ context: { panel } }: Test, cookie: string) =>
  panel.get<string>('/csrf-token', { anonymous: true, headers: { cookie } });
