// py3xui of PyPI, unchanged, as `Api` and as `AsyncApi`, against a panel with a real core. What each method did is compared
// with our own API in python/checks.py; here is the panel, and the judgement.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { ADMIN, freePort } from '../harness/api.js';
import { sourceRoot } from '../harness/source-root.js';
import { PYTHON } from './methods.js';
import { pythonWithLibrary } from './python-command.js';
import { openWithSources } from './sources.js';

const PORTS = 200;
const OTHERS = 6;

for (const kind of ['sync', 'async'])
  test.serial(
    `${kind}: every method of py3xui works, or calls an endpoint that is still to come`,
    async (t) => {
      t.timeout(5 * 60_000);
      const panel = await openWithSources(t);
      const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
        body: { name: 'ours' },
      });
      const ports: number[] = [];
      while (ports.length < PORTS) ports.push(await freePort());
      const run = fileURLToPath(new URL('test/old-libraries/python/run.py', await sourceRoot()));
      const child = spawn(pythonWithLibrary(process.env), [run, kind], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          PYTHONDONTWRITEBYTECODE: '1',
          WEIR_URL: panel.url,
          WEIR_TOKEN: token,
          WEIR_ADMIN: JSON.stringify(ADMIN),
          WEIR_PORTS: JSON.stringify(ports),
          WEIR_METHODS: JSON.stringify(
            Object.fromEntries(Object.entries(PYTHON).map(([name, { works }]) => [name, works])),
          ),
        },
      });
      const [lines, complaints] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      const results = lines
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { name: string; failure: string });
      const failures = results.filter(({ failure }) => failure !== '');
      t.deepEqual(
        failures.map(({ name }) => name),
        [],
        failures.map(({ name, failure }) => `${name}: ${failure}`).join('\n'),
      );
      t.is(results.length, Object.keys(PYTHON).length + OTHERS, complaints);
      t.deepEqual(panel.faults, []);
    },
  );

test('without py3xui, a sentence says what is missing', (t) => {
  t.throws(() => pythonWithLibrary({}), { message: /test:full/ });
  t.throws(() => pythonWithLibrary({ WEIR_TEST_PY3XUI_MISSING: 'python3 is missing' }), {
    message: 'python3 is missing',
  });
});

test('its packages are pinned', async (t) => {
  const file = new URL('test/old-libraries/python/requirements.txt', await sourceRoot());
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  t.true(lines.includes('py3xui==0.7.0'));
  for (const line of lines) t.regex(line, /^[\w-]+==[\w.]+$/);
});
