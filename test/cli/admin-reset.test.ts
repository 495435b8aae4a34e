// `weir admin reset` for an admin who cannot log in any more: while the panel runs, and while it does not.
import { randomBytes } from 'node:crypto';
import { access, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Secret, TOTP } from 'otpauth';
import { ADMIN, type PanelApi } from '../harness/api.js';
import { TestPanel } from '../harness/panel.js';
import { PanelProcess } from '../harness/panel-process.js';
import { type Ended, weirCommand, weirProcess } from '../harness/weir-command.js';
import { folderFor } from '../harness/folder-for.js';

/** A core is not needed here, so none is looked for. */
const env = { WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_ENGINE_INSTALL: 'off', WEIR_PRESET: 'minimal' };

async function start(t: ExecutionContext, dataDirectory: string): Promise<TestPanel> {
  const panel = await TestPanel.boot({ dataDirectory, env, anonymous: true });
  t.teardown(() => panel.stop());
  return panel;
}
const shown = ({ said }: Ended) => ({
  username: /user name {2}(\S+)/.exec(said)?.[1] ?? '',
  password: /password {3}(\S+)/.exec(said)?.[1] ?? '',
});
const login = (panel: PanelApi, body: object) =>
  panel.call('/login', { body, anonymous: true }).then(({ status }) => status);
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

test('while the panel runs: sessions end at once, two-factor is off, blocks are lifted, and nothing of it is in the log', async (t) => {
  const dataDirectory = await folderFor(t);
  const panel = await start(t, dataDirectory);
  await panel.login();
  const secret = new Secret({ buffer: Uint8Array.from(randomBytes(20)).buffer });
  await panel.get('/panel/api/setting/update', {
    body: { twoFactorEnable: true, twoFactorToken: secret.base32, twoFactorCode: TOTP.generate({ secret }) },
  });
  await panel.get('/panel/api/setting/apiTokens/create', { body: { name: 'the-script' } });
  for (let i = 0; i < 6; i++) await login(panel, { ...ADMIN, twoFactorCode: '000000' });
  t.is(await login(panel, ADMIN), 429);
  t.is((await panel.call('/panel/api/inbounds/list')).status, 200);

  const ended = await weirCommand(dataDirectory, ['admin', 'reset'], env);
  t.deepEqual([ended.code, ended.complained], [0, '']);
  t.true(ended.said.includes('the-script'), 'it names the tokens that go on');
  t.is((await panel.call('/panel/api/inbounds/list')).status, 401);
  t.is(await login(panel, ADMIN), 401);
  t.regex(shown(ended).username, /^admin-\w{6}$/);
  t.is(await login(panel, shown(ended)), 200);
  t.false(panel.log.some((line) => JSON.stringify(line).includes(shown(ended).password)));
  t.true(panel.log.some((line) => line.includes('"a command of the command line"')));

  const again = await weirCommand(dataDirectory, ['admin', 'reset', '--username', 'grace'], env);
  t.is(shown(again).username, 'grace');
  t.not(shown(again).password, shown(ended).password);
  t.deepEqual([await login(panel, shown(ended)), await login(panel, shown(again))], [401, 200]);
});

test('while no panel runs, after an orderly end', async (t) => {
  const dataDirectory = await folderFor(t);
  const socket = join(dataDirectory, 'panel.sock');
  const panel = await start(t, dataDirectory);
  t.is((await stat(socket)).mode & 0o777, 0o600, 'only its owner can open the way in');
  await panel.login();
  const { cookie } = panel;
  await panel.stop();
  t.false(await isThere(socket));
  const ended = await weirCommand(dataDirectory, ['admin', 'reset', '--username', 'grace'], env);
  t.deepEqual([ended.code, ended.complained], [0, '']);
  t.is(shown(ended).username, 'grace');

  const next = await start(t, dataDirectory);
  t.is(await login(next, ADMIN), 401);
  t.is(await login(next, shown(ended)), 200);
  const old = await next.call('/panel/api/inbounds/list', { anonymous: true, headers: { cookie } });
  t.is(old.status, 401);
});

test('after a crash, with real processes', async (t) => {
  const dataDirectory = await folderFor(t);
  const panel = await PanelProcess.start({ dataDirectory, env, anonymous: true });
  t.teardown(() => panel.kill('SIGKILL'));
  await panel.kill('SIGKILL');
  t.true(await isThere(join(dataDirectory, 'panel.sock')));
  const ended = await weirProcess(dataDirectory, ['admin', 'reset', '--username', 'ada'], env);
  t.deepEqual([ended.code, ended.complained], [0, '']);
  t.is(shown(ended).username, 'ada');
  const wrong = await weirProcess(dataDirectory, ['admin', 'reset', '--nmae', 'x'], env);
  t.deepEqual([wrong.code, wrong.said], [2, '']);
  t.regex(wrong.complained, /--nmae/);

  const next = await start(t, dataDirectory);
  t.is(await login(next, ADMIN), 401);
  t.is(await login(next, shown(ended)), 200);
});

test('it removes the file with the first login, which is no longer valid', async (t) => {
  const dataDirectory = await folderFor(t);
  const panel = await TestPanel.boot({
    dataDirectory,
    env: { ...env, WEIR_ADMIN_USERNAME: '', WEIR_ADMIN_PASSWORD: '' },
    anonymous: true,
  });
  t.teardown(() => panel.stop());
  const file = join(dataDirectory, 'first-login.txt');
  t.true(await isThere(file));
  t.is((await weirCommand(dataDirectory, ['admin', 'reset'], env)).code, 0);
  t.false(await isThere(file));
});

test('a command line that cannot be understood ends with 2, one that cannot be carried out with 1, and neither leaves a file', async (t) => {
  const dataDirectory = await folderFor(t);
  const wrong: readonly (readonly [string[], RegExp])[] = [
    [['frobnicate'], /^there is no command "frobnicate"; weir --help/],
    [['admin', 'reset', '--nmae', 'x'], /--nmae.*weir admin reset --help/],
  ];
  for (const [argv, sentence] of wrong) {
    const { code, said, complained } = await weirCommand(dataDirectory, argv, env);
    t.deepEqual([code, said], [2, ''], argv.join(' '));
    t.regex(complained, sentence);
  }
  const { code, complained } = await weirCommand(dataDirectory, ['admin', 'reset'], env);
  t.is(code, 1);
  t.true(complained.includes(`there is no panel in ${dataDirectory}`), complained);
  const broken = await weirCommand(dataDirectory, ['admin', 'reset'], {
    ...env,
    WEIR_CONFIG: join(dataDirectory, 'none.json'),
  });
  t.is(broken.code, 1);
  t.deepEqual(await readdir(dataDirectory), []);
});

test('help and version are on the standard output and end with 0', async (t) => {
  const dataDirectory = await folderFor(t);
  for (const [argv, part] of [
    [['--help'], 'admin reset'],
    [['--version'], '0.'],
  ] as const) {
    const { code, said, complained } = await weirCommand(dataDirectory, argv, env);
    t.deepEqual([code, complained], [0, ''], argv.join(' '));
    t.true(said.includes(part), said);
  }
  t.deepEqual(await readdir(dataDirectory), []);
});
