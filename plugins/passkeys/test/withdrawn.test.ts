// Runs on every database in test:full.
// Passkeys that are gone: removed while somebody logs in, or left by an admin who was deleted without this plugin.
import test from 'ava';
import { definePlugin, kernelErrors, tap } from '../../../kernel/index.js';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { beforeLogin } from '../../access/contract.js';
import { Challenges } from '../challenges.js';
import { ADMINS, Authenticator, boot, KEYS, ORIGIN, PASSWORD } from './world.js';

test('a passkey that is removed while it is checked opens nothing', async (t) => {
  let act = async (): Promise<void> => undefined;
  const between = definePlugin({
    name: 'between',
    version: '1.0.0',
    api: 1,
    about: 'Acts between proof and session.',
    taps: () => [tap(beforeLogin, () => act())],
  });
  const { panel, admin, browser } = await boot({ plugins: [between] });
  await using _ = panel;
  const authenticator = new Authenticator(ORIGIN);
  const { id } = (await admin.register(authenticator)).body.obj;
  act = async () => {
    t.is((await admin.call(`${KEYS}/${id}/del`, { method: 'POST' })).status, 200);
  };
  const late = browser();
  t.is((await late.enter(authenticator)).body.code, 'ACCESS_LOGIN_REFUSED');
  t.is(await late.asks(), 401);
  const sessions = await admin.call<object[]>('/panel/api/access/sessions');
  t.is(sessions.body.obj.length, 1, 'that of the browser which removed it');
});

test('passkeys of an admin who was deleted without this plugin are deleted at the start', async (t) => {
  const { panel, admin, add, clock } = await boot();
  const { id, browser: grace } = await add('grace');
  const [left, kept] = [new Authenticator(ORIGIN), new Authenticator(ORIGIN)];
  await grace.register(left, {}, PASSWORD);
  await admin.register(kept);
  await panel.stop();
  const count = () =>
    withDatabase(panel.dataDirectory, async (sequelize) => {
      const [rows] = await sequelize.query('SELECT id FROM passkeys');
      return rows.length;
    });
  await withDatabase(panel.dataDirectory, (sequelize) =>
    sequelize.query(`UPDATE passkeys SET admin_id = 4711 WHERE admin_id = ${id}`),
  );
  t.is(await count(), 2);
  const next = await boot({ dataDirectory: panel.dataDirectory, clock });
  await using _ = next.panel;
  t.is(await count(), 1);
  t.is((await next.browser().enter(left)).body.code, 'PASSKEYS_REFUSED');
  t.is((await next.browser().enter(kept)).status, 200);
  t.is((await next.panel.get<object[]>(ADMINS)).length, 2);
});

test('the first challenges of two panels at once are of one secret', async (t) => {
  const state = { value: '' };
  let attempts = 0;
  let stored: string | undefined;
  const challenges = new Challenges({
    db: {
      projection: () => ({ state }),
      write: async (work: (tx: object) => Promise<void>) => {
        attempts += 1;
        if (attempts < 3) {
          stored ??= 'sealed: of the other panel';
          throw kernelErrors.DATABASE_BUSY();
        }
        await work({
          query: async () => (stored === undefined ? [] : [{ sealed: stored }]),
          apply: (_: object, value: string) => void (state.value = value),
        });
      },
    },
    secrets: { open: (_: object, __: string, sealed: string) => sealed.slice('sealed: '.length) },
    clock: { now: () => 1_000 },
  } as unknown as ConstructorParameters<typeof Challenges>[0]);
  const cookies: Record<string, string> = {};
  const reply = {
    cookie: (name: string, value: string) => void (cookies[name] = value),
    clearCookie: () => undefined,
  };
  const text = await challenges.make('login', { reply } as never);
  t.is(attempts, 3);
  t.is(state.value, 'of the other panel');
  t.is(challenges.take('login', { cookies, reply } as never).text, text);
  t.not(challenges.take('register 1 x', { cookies, reply } as never).text, text);
});
