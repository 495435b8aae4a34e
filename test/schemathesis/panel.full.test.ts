// schemathesis (https://schemathesis.readthedocs.io) makes calls of the OpenAPI document, right ones and wrong ones, and holds the panel to it: no finding.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { OpenApi } from '../../plugins/api-docs/openapi.js';
import { ADMIN } from '../harness/api.js';
import { PanelProcess } from '../harness/panel-process.js';
import { sourceRoot } from '../harness/source-root.js';

/** More find more, and take longer. Without it, those of config.toml. */
const EXAMPLES = Number(process.env['WEIR_TEST_EXAMPLES'] ?? 0);
const LONGEST_MS = (EXAMPLES > 0 ? 360 : 60) * 60_000;
/** Operations that are left out, with the reason; they are called once at the end, as documented. */
const LEFT_OUT = {
  'settings.restartPanel': 'the panel would be away for a second or two, over and over',
  'system.plugins.setEnable': 'the panel would restart, and without the plugins that the other calls need',
} as const;
/** Checks that are left out, with the reason. */
const NOT_CHECKED = {
  unsupported_method: 'nothing is served there, so it answers 404: nobody is told what is at a path',
} as const;

/** The panel of a run knows no names but localhost, so no call of a generator leaves this machine. */
const NO_NAMES = `data:text/javascript,${encodeURIComponent(`
  import dns from 'node:dns';
  import { syncBuiltinESMExports } from 'node:module';
  import { isIP } from 'node:net';
  const { lookup } = dns;
  dns.lookup = (name, ...rest) => {
    if (isIP(name) || name === 'localhost') return lookup(name, ...rest);
    const error = Object.assign(new Error('getaddrinfo ENOTFOUND ' + name), { code: 'ENOTFOUND', hostname: name });
    process.nextTick(rest.at(-1), error);
  };
  syncBuiltinESMExports();
`)}`;

/** Where `npm run test:full` has put it. */
function commandOf(env: NodeJS.ProcessEnv): string {
  const { WEIR_TEST_SCHEMATHESIS: command, WEIR_TEST_SCHEMATHESIS_MISSING: missing } = env;
  if (command) return command;
  throw new Error(missing || 'schemathesis is missing; `npm run test:full` installs it');
}

/** The API token with which all calls of a run are made. */
interface OwnToken {
  readonly id: number;
  readonly token: string;
}

async function runOn(panel: PanelProcess, folder: string, document: OpenApi, own: OwnToken) {
  const here = fileURLToPath(new URL('test/schemathesis/', await sourceRoot()));
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  const child = spawn(
    commandOf(process.env),
    [
      '--config-file',
      join(here, 'config.toml'),
      'run',
      file,
      '--url',
      panel.url,
      '--checks',
      'all',
      '--phases',
      'examples,coverage,fuzzing',
      '--exclude-checks',
      Object.keys(NOT_CHECKED).join(','),
      ...(EXAMPLES > 0 ? ['--max-examples', String(EXAMPLES)] : []),
      ...Object.keys(LEFT_OUT).flatMap((name) => ['--exclude-operation-id', name]),
    ],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        NO_COLOR: '1',
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: join(here, 'hooks.py'),
        WEIR_URL: panel.url,
        WEIR_TOKEN: own.token,
        WEIR_TOKEN_ID: String(own.id),
        WEIR_SESSION: panel.cookie.replace('weir_session=', ''),
        WEIR_CSRF: panel.csrf,
        WEIR_ADMIN: JSON.stringify(ADMIN),
      },
    },
  );
  const [told, complaints, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, told: `${told}\n${complaints}` };
}

test('schemathesis finds nothing', async (t) => {
  t.timeout(LONGEST_MS);
  const folder = await mkdtemp(join(tmpdir(), 'weir-schemathesis-'));
  const panel = await PanelProcess.start({
    env: {
      WEIR_PRESET: 'full',
      WEIR_ENGINE_BIN: '/nowhere/core',
      WEIR_ENGINE_INSTALL: 'off',
      NODE_OPTIONS: `--import=${NO_NAMES}`,
    },
  });
  t.teardown(async () => {
    await panel.dispose();
    await rm(folder, { recursive: true, force: true });
  });
  for (const [name, reason] of Object.entries({ ...LEFT_OUT, ...NOT_CHECKED }))
    t.log(`left out: ${name}: ${reason}`);
  const own = await panel.get<OwnToken>('/panel/api/setting/apiTokens/create', {
    body: { name: 'run' },
  });
  const document = await panel.get<OpenApi>('/panel/api/openapi.json');
  const { code, told } = await runOn(panel, folder, document, own);
  t.is(code, 0, told.slice(-60_000));
  const [, cases = '0'] = /(\d+) generated/.exec(told) ?? [];
  t.log(`${cases} cases`);
  t.true(Number(cases) > 2000, `hardly a call was made: ${told.slice(-5000)}`);
  t.is(panel.end, undefined, 'the panel has ended');
  t.deepEqual(panel.faults, []);
});

test('what is left out answers as documented', async (t) => {
  t.timeout(LONGEST_MS);
  const panel = await PanelProcess.start({
    env: { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' },
  });
  t.teardown(() => panel.dispose());
  const { paths } = await panel.get<OpenApi>('/panel/api/openapi.json');
  const documented = (path: string): string[] => Object.keys(paths[path]?.['post']?.responses ?? {});
  const { responses = {} } = paths['/panel/api/setting/restartPanel']?.['post'] ?? {};
  t.true('202' in responses && !('200' in responses));
  const switching = '/panel/api/system/plugins/{name}';
  const unknown = await panel.call(switching.replace('{name}', 'nobody'), { body: { enable: true } });
  t.true(documented(switching).includes(String(unknown.status)), unknown.text);
  const same = await panel.call(switching.replace('{name}', 'system'), { body: { enable: true } });
  t.true(documented(switching).includes(String(same.status)), same.text);
  const restarted = await panel.call('/panel/api/setting/restartPanel', { method: 'POST' });
  t.is(restarted.status, 202, restarted.text);
  await panel.until(() => panel.starts === 2, 'the panel starts again');
});

test('without schemathesis, a sentence says what is missing', (t) => {
  t.throws(() => commandOf({}), { message: /test:full/ });
  t.throws(() => commandOf({ WEIR_TEST_SCHEMATHESIS_MISSING: 'python3 is missing' }), {
    message: 'python3 is missing',
  });
});

test('its packages are pinned', async (t) => {
  const lines = (await readFile(new URL('test/schemathesis/requirements.txt', await sourceRoot()), 'utf8'))
    .split('\n')
    .filter(Boolean);
  t.true(lines.some((line) => line.startsWith('schemathesis==')));
  for (const line of lines) t.regex(line, /^[\w-]+==[\w.]+$/);
});
