// `weir admin reset` for who cannot log in any more, with real processes: while the panel runs, and while it does not.
import { randomBytes } from 'node:crypto';
import { access, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Secret, TOTP } from 'otpauth';
import { ADMIN } from '../harness/api.js';
import { PanelProcess } from '../harness/panel-process.js';
import { type Ended, weirCommand } from '../harness/weir-command.js';

/** A core is not needed here, so none is looked for. */
const env = { WEIR_ENGINE_BIN: '/nowhere/xray' };

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}
async function start(t: ExecutionContext, dataDirectory: string, anonymous = false): Promise<PanelProcess> {
  const panel = await PanelProcess.start({ dataDirectory, env, anonymous });
  t.teardown(() => panel.kill('SIGKILL'));
  return panel;
}
const shown = ({ said }: Ended) => ({
  username: /user name {2}(\S+)/.exec(said)?.[1] ?? '',
  password: /password {3}(\S+)/.exec(said)?.[1] ?? '',
});
const login = (panel: PanelProcess, body: object) =>
  panel.call('/login', { body, anonymous: true }).then(({ status }) => status);
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

test('while the panel runs: sessions end at once, two-factor is off, blocks are lifted, and nothing of it is in the log', async (t) => {
  const dataDirectory = await folder(t);
  const panel = await start(t, dataDirectory);
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
  t.truthy(panel.said('a command of the command line'));

  const again = await weirCommand(dataDirectory, ['admin', 'reset', '--username', 'grace'], env);
  t.is(shown(again).username, 'grace');
  t.not(shown(again).password, shown(ended).password);
  t.deepEqual([await login(panel, shown(ended)), await login(panel, shown(again))], [401, 200]);
});

test('only its owner can open the way in, and it is gone with the panel', async (t) => {
  const dataDirectory = await folder(t);
  const panel = await start(t, dataDirectory, true);
  const socket = join(dataDirectory, 'panel.sock');
  t.is((await stat(socket)).mode & 0o777, 0o600);
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
  t.false(await isThere(socket));
});

test('while no panel runs, after an orderly end and after a crash', async (t) => {
  const dataDirectory = await folder(t);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const panel = await start(t, dataDirectory, signal === 'SIGKILL');
    const { cookie } = panel;
    await panel.kill(signal);
    t.is(await isThere(join(dataDirectory, 'panel.sock')), signal === 'SIGKILL');
    const ended = await weirCommand(dataDirectory, ['admin', 'reset', '--username', `after-${signal}`], env);
    t.deepEqual([ended.code, ended.complained], [0, '']);
    t.is(shown(ended).username, `after-${signal}`);

    const next = await start(t, dataDirectory, true);
    t.is(await login(next, ADMIN), 401);
    t.is(await login(next, shown(ended)), 200);
    if (cookie !== '')
      t.is(
        (await next.call('/panel/api/inbounds/list', { anonymous: true, headers: { cookie } })).status,
        401,
      );
    await next.kill('SIGTERM');
  }
});

test('it takes the file with the first login away, whose words hold no more', async (t) => {
  const dataDirectory = await folder(t);
  const panel = await PanelProcess.start({
    dataDirectory,
    env: { ...env, WEIR_ADMIN_USERNAME: '', WEIR_ADMIN_PASSWORD: '' },
    anonymous: true,
  });
  t.teardown(() => panel.kill('SIGKILL'));
  const file = join(dataDirectory, 'first-login.txt');
  t.true(await isThere(file));
  t.is((await weirCommand(dataDirectory, ['admin', 'reset'], env)).code, 0);
  t.false(await isThere(file));
});

test('what nobody understands ends with 2 and a sentence, what cannot be done with 1, and neither leaves a trace', async (t) => {
  const dataDirectory = await folder(t);
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
  const dataDirectory = await folder(t);
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
