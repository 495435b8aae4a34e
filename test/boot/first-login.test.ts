// The first start of a panel that has no configuration: the login is generated, shown once, and never logged.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { environmentOf } from '../harness/api.js';
import { PanelProcess } from '../harness/panel-process.js';

const TOLD_NOTHING = {
  WEIR_ENGINE_BIN: '/nowhere/xray',
  WEIR_ADMIN_USERNAME: '',
  WEIR_ADMIN_PASSWORD: '',
  WEIR_BASE_PATH: '',
};
const partsOf = (text: string) => ({
  username: /user name +(\S+)/.exec(text)?.[1] ?? '',
  password: /password +(\S+)/.exec(text)?.[1] ?? '',
  basePath: /base path +(\S+)/.exec(text)?.[1] ?? '',
});
const logs = async (panel: PanelProcess, body: object): Promise<boolean> =>
  (await panel.call('/login', { body, anonymous: true })).status === 200;

test('without a terminal it is in a file for its owner only, and never in the log', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const file = join(dataDirectory, 'first-login.txt');
  await writeFile(file, 'of another user, readable by all', { mode: 0o644 });
  const first = await PanelProcess.start({ dataDirectory, anonymous: true, env: TOLD_NOTHING });
  t.teardown(() => first.kill('SIGKILL'));
  t.is((await stat(file)).mode & 0o777, 0o600);
  const { username, password, basePath } = partsOf(await readFile(file, 'utf8'));
  t.true(password.length >= 20, 'long enough to be guessed by nobody');
  t.true(first.ready.panelUrl.endsWith(basePath) && basePath.length > 10);
  t.true(await logs(first, { username, password }));
  t.false(await logs(first, { username, password: `${password}x` }));
  await first.kill('SIGTERM');
  const everything = JSON.stringify(first.log) + first.words;
  t.true(everything.includes(file), 'the log says where it is');
  t.false(everything.includes(password));

  // The next start makes up nothing, and does not write the file again.
  await rm(file);
  const second = await PanelProcess.start({ dataDirectory, anonymous: true, env: TOLD_NOTHING });
  t.teardown(() => second.kill('SIGKILL'));
  t.is(second.ready.panelUrl.replace(/:\d+/, ''), first.ready.panelUrl.replace(/:\d+/, ''));
  t.true(await logs(second, { username, password }));
  await t.throwsAsync(stat(file), { code: 'ENOENT' });
  await second.kill('SIGTERM');
});

// util-linux' script gives a program a terminal; BSD's takes other arguments.
const hasScript = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0;
if (!hasScript && !process.env['CI'])
  process.stdout.write(
    'left out: the first login on a terminal; the program `script` (util-linux) is missing\n',
  );
const onTerminal = hasScript || process.env['CI'] ? test : test.skip;

onTerminal('on a terminal it is shown there, and no file is written', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const entry = fileURLToPath(new URL('../../panel/main.js', import.meta.url));
  const panel = spawn(
    'script',
    [
      '-qefc',
      `exec "${process.execPath}" --input-type=module -e "const { main } = await import('${entry}'); await main();"`,
      '/dev/null',
    ],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...environmentOf(dataDirectory), ...TOLD_NOTHING },
    },
  );
  let shown = '';
  panel.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const ended = once(panel, 'close');
  t.teardown(() => panel.kill('SIGKILL'));
  for (
    const deadline = Date.now() + 60_000;
    !/ ready /.test(shown) && panel.exitCode === null && Date.now() < deadline;
  )
    await new Promise((resolve) => setTimeout(resolve, 50));
  const { username, password, basePath } = partsOf(shown);
  t.true(
    [username, password, basePath].every((part) => part.length > 10),
    shown,
  );
  t.regex(shown, /This is shown once:/);
  const url = /"panelUrl":"([^"]+)"/.exec(shown)?.[1] ?? '';
  const answer = await fetch(`${url}login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  t.is(answer.status, 200);
  await t.throwsAsync(stat(join(dataDirectory, 'first-login.txt')), { code: 'ENOENT' });
  t.is(shown.split(password).length, 2, 'once');
  // Ctrl-C, as a person ends it.
  panel.stdin.write('\x03');
  await ended;
  t.is(panel.exitCode, 0);
});
