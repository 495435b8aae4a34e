// Runs on every database in test:full.
// A database of a release that had one second factor for all admins: nobody loses it, and each has one of its own then.
import test, { type ExecutionContext } from 'ava';
import { hash } from 'node:crypto';
import { dropDatabase } from '../../../test/harness/database.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { ADMIN, TestPanel } from '../../../test/harness/panel.js';
import { codeOf, FACTOR, Person, PASSWORD, SECRETS, UPDATE } from './own-factors-world.js';

const [SECRET, OTHER] = SECRETS;
const RECOVERY = '0123-4567-89ab';
const STATUS = { enabled: true, shared: true, recoveryCodes: 1 };

async function boot(t: ExecutionContext, dataDirectory: string, clock: FakeClock): Promise<TestPanel> {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock,
    dataDirectory,
    anonymous: true,
  });
  t.teardown(() => panel.stop());
  return panel;
}

/** Makes it what the release before left: the secret among the settings, codes without an admin. */
const asBefore = (dataDirectory: string): Promise<void> =>
  editDatabase(dataDirectory, [
    'DROP TABLE second_factors',
    'DROP TABLE second_factor_codes',
    "DELETE FROM kernel_migrations WHERE plugin = 'access' AND name = '0006-second-factors'",
    "DELETE FROM access_keys WHERE name = 'second factors handed out'",
    "INSERT INTO settings (name, value, generated) VALUES ('twoFactorEnable', 'true', 0)",
    `INSERT INTO settings (name, value, generated) VALUES ('twoFactorToken', '"${SECRET}"', 0)`,
    `INSERT INTO recovery_codes (digest) VALUES ('${hash('sha256', RECOVERY.replaceAll('-', ''))}')`,
  ]);

async function older(t: ExecutionContext, others: readonly string[]) {
  const dataDirectory = await folderFor(t);
  t.teardown(() => dropDatabase(dataDirectory));
  const clock = new FakeClock();
  const before = await boot(t, dataDirectory, clock);
  await before.login();
  for (const username of others) await Person.add(before, clock, { username, secret: SECRET });
  await before.stop();
  await asBefore(dataDirectory);
  const panel = await boot(t, dataDirectory, clock);
  const of = (username: string) => new Person(panel, clock, username, SECRET);
  return { dataDirectory, clock, panel, of };
}

test('with one admin everything goes on as before, also after the next start', async (t) => {
  const { dataDirectory, clock, of, panel } = await older(t, []);
  const admin = of(ADMIN.username);
  t.is(await admin.logIn(undefined, ADMIN.password), 401);
  t.is(await admin.logIn(admin.code(), ADMIN.password), 200);
  t.like((await admin.call(FACTOR)).body.obj, { ...STATUS, shared: false });
  t.is(await admin.logIn(RECOVERY, ADMIN.password), 200);
  t.is(await admin.logIn(RECOVERY, ADMIN.password), 401);
  const off = { twoFactorEnable: false, twoFactorCode: admin.code() };
  t.is((await admin.call(UPDATE, { body: off })).status, 200);
  await panel.stop();
  const next = new Person(await boot(t, dataDirectory, clock), clock, ADMIN.username, SECRET);
  t.is(await next.logIn(undefined, ADMIN.password), 200, 'what was off stays off');
});

test('with several admins each has the same one, until each sets another one', async (t) => {
  const { clock, of } = await older(t, ['ada']);
  const [admin, ada] = [of(ADMIN.username), of('ada')];
  t.is(await admin.logIn(undefined, ADMIN.password), 401);
  t.is(await ada.logIn(), 401);
  const code = admin.code();
  t.is(await admin.logIn(code, ADMIN.password), 200);
  t.is(await ada.logIn(code), 200, 'the counter is her own');
  t.like((await ada.call(FACTOR)).body.obj, STATUS);
  t.is(await ada.logIn(RECOVERY), 200);
  const changed = await ada.call(FACTOR, {
    body: {
      twoFactorToken: OTHER,
      twoFactorCode: codeOf(clock, OTHER),
      password: PASSWORD,
      currentTwoFactorCode: ada.code(),
    },
  });
  t.is(changed.status, 200, changed.text);
  t.like((await ada.call(FACTOR)).body.obj, { enabled: true, shared: false, recoveryCodes: 10 });
  t.is(await ada.logIn(ada.code()), 401, 'the shared secret opens nothing for her');
  t.is(await admin.logIn(RECOVERY, ADMIN.password), 200, 'each has the recovery codes once');
});
