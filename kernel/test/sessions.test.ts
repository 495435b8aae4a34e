// Runs on every database.
import test from 'ava';
import { definePlugin, Sessions, type SessionsApi } from '../index.js';
import { sameSecret, SessionStore } from '../auth/session.js';
import type { Database } from '../database/database.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { bare, people, until, World } from './world.js';

const MINUTE = 60_000;
const inner: { sessions?: SessionsApi; db?: Database } = {};
const spy = definePlugin({
  name: 'spy',
  version: '1.0.0',
  api: 1,
  about: 'Looks on.',
  uses: { sessions: Sessions },
  start: ({ sessions, db }) => void Object.assign(inner, { sessions, db }),
});
const me = (world: World, headers: Readonly<Record<string, string>>) =>
  world.call('/me', { headers }).then(({ status, body }) => (status === 200 ? body.msg : status));
const boot = (clock = new FakeClock(), folder?: string, env: Record<string, string> = {}) =>
  World.boot([people, spy], { clock, env, ...(folder && { folder }) });

test.serial('extends a session while it is used, and closes an idle one', async (t) => {
  const clock = new FakeClock();
  await using world = await boot(clock);
  const login = await world.login();
  inner.sessions?.setLifetime(60 * MINUTE);
  for (let i = 0; i < 5; i++) {
    clock.tick(50 * MINUTE);
    t.is(await me(world, login), 'ada');
  }
  clock.tick(60 * MINUTE - 1);
  t.is(await me(world, login), 'ada');
  clock.tick(60 * MINUTE);
  t.is(await me(world, login), 401);
  // It is gone for good, not only out of sight.
  await until(async () => {
    clock.tick(MINUTE);
    return (await inner.db?.query('SELECT * FROM kernel_sessions'))?.length === 0;
  }, 'a sweep took it out of the database');
  inner.sessions?.setLifetime(60_000 * MINUTE);
  t.is(await me(world, login), 401);
});

test.serial('closes a session after its longest lifetime and deletes it from the database', async (t) => {
  const clock = new FakeClock();
  await using world = await boot(clock);
  const login = await world.login();
  inner.sessions?.setLifetime(60 * MINUTE, 100 * MINUTE);
  t.is(inner.sessions?.longest, 100 * MINUTE);
  clock.tick(50 * MINUTE);
  t.is(await me(world, login), 'ada');
  clock.tick(50 * MINUTE - 1);
  t.is(await me(world, login), 'ada');
  clock.tick(1);
  t.is(await me(world, login), 401);
  t.deepEqual(inner.sessions?.list(), []);
  await until(async () => {
    clock.tick(MINUTE);
    return (await inner.db?.query('SELECT * FROM kernel_sessions'))?.length === 0;
  }, 'a sweep took it out of the database');
});

test.serial('a shorter lifetime takes effect at once', async (t) => {
  const clock = new FakeClock();
  await using world = await boot(clock);
  const login = await world.login();
  clock.tick(10 * MINUTE);
  inner.sessions?.setLifetime(5 * MINUTE);
  t.is(await me(world, login), 401);
});

test.serial('a log-out closes only this session; the old cookie is rejected', async (t) => {
  await using world = await boot();
  const [one, other] = [await world.login(), await world.login()];
  t.is((await world.call('/logout', { method: 'POST', headers: one })).status, 200);
  t.is(await me(world, one), 401);
  t.is(await me(world, other), 'ada');
  t.is((await inner.db?.query('SELECT * FROM kernel_sessions'))?.length, 1);
});

test.serial('sessions survive a restart of the panel, log-outs too', async (t) => {
  const clock = new FakeClock();
  const first = await boot(clock);
  const [kept, ended] = [await first.login(), await first.login()];
  await first.call('/logout', { method: 'POST', headers: ended });
  await first.kernel.stop('restart');
  await using second = await boot(clock, first.folder);
  t.is(await me(second, kept), 'ada');
  t.is(await me(second, ended), 401);
  t.is((await second.call('/logout', { method: 'POST', headers: kept })).status, 200);
});

test.serial('stores the last use: after a restart, recent sessions are open', async (t) => {
  const clock = new FakeClock();
  const first = await boot(clock);
  inner.sessions?.setLifetime(600 * MINUTE);
  const login = await first.login();
  clock.tick(500 * MINUTE);
  t.is(await me(first, login), 'ada');
  const at = clock.now();
  await until(async () => {
    clock.tick(MINUTE);
    return (
      (await inner.db?.query<{ seen_at: number }>('SELECT seen_at FROM kernel_sessions'))?.[0]?.seen_at === at
    );
  }, 'a sweep wrote it down');
  await first.kernel.stop('restart');
  clock.tick(500 * MINUTE);
  await using second = await boot(clock, first.folder);
  inner.sessions?.setLifetime(600 * MINUTE);
  t.is(await me(second, login), 'ada');
});

test.serial('stores only a digest, from which no cookie can be made', async (t) => {
  await using world = await boot();
  const { cookie } = await world.login();
  const id = cookie.split('=')[1] ?? '';
  const [row] = (await inner.db?.query<Record<string, string>>('SELECT * FROM kernel_sessions')) ?? [];
  t.true(id.length >= 43);
  t.false(JSON.stringify(row).includes(id));
  t.regex(row?.['digest'] ?? '', /^[0-9a-f]{64}$/);
  t.is(await me(world, { cookie: `weir_session=${row?.['digest']}` }), 401);
});

test.serial('gives every login a new id and token; rejects the token of another session', async (t) => {
  await using world = await boot();
  const [one, other] = [await world.login(), await world.login()];
  t.not(one.cookie, other.cookie);
  t.not(one['x-csrf-token'], other['x-csrf-token']);
  t.is(
    (
      await world.call('/logout', {
        method: 'POST',
        headers: { cookie: one.cookie, 'x-csrf-token': other['x-csrf-token'] },
      })
    ).status,
    403,
  );
  t.is(inner.sessions?.csrfOf(one.cookie.split('=')[1]), one['x-csrf-token']);
  t.is(inner.sessions?.csrfOf('unknown'), undefined);
  t.is(inner.sessions?.csrfOf(undefined), undefined);
});

test.serial('a login with a cookie opens a new session, so a planted id is useless', async (t) => {
  await using world = await boot();
  const answer = await world.call('/login', {
    body: { name: 'ada' },
    headers: { cookie: 'weir_session=planted' },
  });
  t.notRegex(String(answer.headers['set-cookie']), /planted/);
  t.is(await me(world, { cookie: 'weir_session=planted' }), 401);
});

test.serial(
  'the cookie is HttpOnly, SameSite=Lax and bound to the base path; Secure when the outer side is TLS',
  async (t) => {
    await using world = await boot(new FakeClock(), undefined, { WEIR_TRUSTED_PROXIES: '127.0.0.1' });
    world.kernel.listeners.panel.mountAt('/hidden/');
    const cookieOf = async (headers: Record<string, string>) =>
      String(
        (await world.call('/hidden/login', { body: { name: 'ada' }, headers })).headers['set-cookie']?.[0],
      );
    t.regex(
      await cookieOf({}),
      /^weir_session=[\w-]{43}; Max-Age=21600; Path=\/hidden\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    t.regex(await cookieOf({ 'x-forwarded-proto': 'https' }), /; Secure; SameSite=Lax$/);
    t.notRegex(await cookieOf({ 'x-forwarded-proto': 'http' }), /Secure/);
  },
);

test.serial('only a trusted proxy can make a cookie Secure', async (t) => {
  await using world = await boot();
  const answer = await world.call('/login', {
    body: { name: 'ada' },
    headers: { 'x-forwarded-proto': 'https' },
  });
  t.notRegex(String(answer.headers['set-cookie']), /Secure/);
});

test.serial('closes a login under way when all sessions are closed', async (t) => {
  await using world = await boot();
  const before = await world.login();
  const opening = inner.sessions?.open('mallory');
  const closing = inner.sessions?.closeAll();
  const [opened] = await Promise.all([opening, closing]);
  t.is(await me(world, before), 401);
  t.is(await me(world, { cookie: `weir_session=${opened?.id}` }), 401);
  t.is((await inner.db?.query('SELECT * FROM kernel_sessions'))?.length, 0);
  t.is(await me(world, await world.login()), 'ada');
});

/** A database without rows: a write that is committed changes memory. */
function memoryOnly(commit: () => Promise<void>): Database {
  type Source = { apply: (state: object, change: unknown) => void };
  return {
    query: async () => [],
    projection: (source: Source) => source,
    write: async (work: (tx: unknown) => Promise<void>) => {
      const changes: (() => void)[] = [];
      await work({
        run: async () => undefined,
        sql: { rows: () => '', onConflict: () => '', incoming: () => '' },
        apply: (source: Source, change: unknown) => changes.push(() => source.apply({}, change)),
      });
      await commit();
      for (const change of changes) change();
    },
  } as unknown as Database;
}

test('does not open a session that could not be stored', async (t) => {
  const broken = memoryOnly(() => Promise.reject(new Error('disk full')));
  const clock = new FakeClock();
  const store = new SessionStore(broken, clock);
  await t.throwsAsync(store.open('ada'), { message: 'disk full' });
  clock.tick(store.lifetime);
  // A sweep that has something to forget writes, and would fail here.
  await t.notThrowsAsync(store.sweep());
});

test('listeners hear when a sweep ends sessions, and only then', async (t) => {
  let writes = 0;
  const db = memoryOnly(async () => void writes++);
  const clock = new FakeClock();
  const store = new SessionStore(db, clock);
  let ends = 0;
  store.onEnd(() => void ends++);
  const { id } = await store.open('ada');
  clock.tick(2 * MINUTE);
  store.find(id);
  await store.sweep();
  await store.sweep();
  t.deepEqual([ends, writes], [0, 2], 'the login and its use were written, each once');
  clock.tick(store.lifetime);
  await store.sweep();
  t.is(ends, 1);
  await store.sweep();
  t.is(ends, 1);
});

test('closes the session that is idle the longest above ten thousand', async (t) => {
  const db = memoryOnly(async () => undefined);
  const clock = new FakeClock();
  const store = new SessionStore(db, clock);
  const { id: first } = await store.open('ada', undefined, { ip: '192.0.2.1', userAgent: 'x'.repeat(300) });
  t.like(store.list(), [{ ip: '192.0.2.1', userAgent: 'x'.repeat(255) }]);
  clock.tick(1);
  const { id: second } = await store.open('ada');
  clock.tick(1);
  for (let i = 2; i < 10_000; i++) await store.open('ada');
  clock.tick(2 * MINUTE);
  t.truthy(store.find(first));
  await store.open('ada');
  t.is(store.list().length, 10_000);
  t.truthy(store.find(first));
  t.is(store.find(second), undefined);
});

test('compares every byte of secrets', (t) => {
  t.true(sameSecret('abc', 'abc'));
  t.false(sameSecret('abc', 'abd'));
  t.false(sameSecret('abc', 'abcd'));
  t.false(sameSecret('', 'a'));
});

test('logs a failing job of the kernel without a fault of a plugin', async (t) => {
  const clock = new FakeClock();
  const keeper: { db?: Database } = {};
  await using world = await World.boot(
    [people, bare('keeper', { start: ({ db }) => void (keeper.db = db) })],
    { clock },
  );
  await world.login();
  await keeper.db?.write((tx) => tx.run('DROP TABLE kernel_sessions'));
  clock.tick(24 * 3_600_000);
  await world.kernel.settled();
  const told = world.log.find(({ msg }) => msg === 'kernel fault');
  t.is(told?.['where'], 'job sessions of kernel');
  t.deepEqual(world.faults(), []);
});

test('a plugin named like the session job does not disturb it', async (t) => {
  await using world = await World.boot([bare('sessions'), people]);
  t.is(await me(world, await world.login()), 'ada');
});
