// The package as npm packs and installs it, in a fresh folder: its types compile and its examples run, as ESM and as CommonJS.
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { folderFor } from '../../test/harness/folder-for.js';
import { FakeEngine } from '../../test/harness/fake-engine.js';
import { ADMIN, freePort, TestPanel } from '../../test/harness/panel.js';
import { sourceRoot } from '../../test/harness/source-root.js';
import { compile, packSdk, placeTypes } from './built-sdk.js';

const run = promisify(execFile);

/** Without DOM: fetch and its types come from Node. */
const COMPILER = {
  target: 'es2022',
  lib: ['es2022'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  rootDir: 'examples',
  outDir: 'built',
};
const WRONG = `
// @ts-expect-error a client needs an email
await weir.clients.add({ body: { client: {}, inboundIds: [1] } });
// @ts-expect-error the panel repeats no GET with a key
await weir.clients.list({}, { idempotencyKey: 'x' });
// @ts-expect-error no plugin answers with this code
const wrong: ErrorCode = 'CLIENTS_NOT_FOUNT';
const right: ErrorCode = 'CLIENTS_NOT_FOUND';
void [wrong, right];
`;
const HEAD =
  "import { type ErrorCode, Weir } from '@weir-panel/sdk';\nconst weir = new Weir({ url: 'http://x' });\n";

test('packed and installed: compiles with types, and every example runs on a panel', async (t) => {
  t.timeout(300_000);
  const fresh = await folderFor(t);
  const archive = await packSdk(await folderFor(t));
  await writeFile(join(fresh, 'package.json'), JSON.stringify({ name: 'fresh', type: 'module' }));
  await run('npm', ['install', archive, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: fresh,
  });
  t.deepEqual(await readdir(join(fresh, 'node_modules')), ['.package-lock.json', '@weir-panel']);
  const installed = join(fresh, 'node_modules', '@weir-panel', 'sdk');
  t.deepEqual((await readdir(installed)).sort(), [
    'LICENSE',
    'README.md',
    'dist',
    'examples',
    'package.json',
  ]);
  await placeTypes(fresh);
  await cp(join(installed, 'examples'), join(fresh, 'examples'), { recursive: true });
  await writeFile(join(fresh, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER }));
  await writeFile(join(fresh, 'examples', 'wrong.mts'), HEAD + WRONG);
  await writeFile(
    join(fresh, 'examples', 'wrong.cts'),
    `${HEAD}async function main() {${WRONG}}\nvoid main;\n`,
  );
  t.is(await compile(fresh), '');

  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'sdk' },
  });
  await panel.get('/panel/api/inbounds/add', {
    body: { protocol: 'vless', listen: '127.0.0.1', port: await freePort() },
  });
  const env = {
    PATH: process.env['PATH'],
    WEIR_URL: panel.url,
    WEIR_TOKEN: token,
    WEIR_USERNAME: ADMIN.username,
    WEIR_PASSWORD: ADMIN.password,
    ORDER_ID: '17',
  };
  const example = async (name: string): Promise<string> =>
    (await run(process.execPath, [join(fresh, 'built', name)], { env })).stdout;
  t.regex(await example('add-client.mjs'), /^vless:\/\//);
  t.is(await example('send-again.mjs'), 'client saved\n');
  t.is(await example('list-clients.cjs'), 'ann@example.com true 0\n');
  t.is(await example('session.mjs'), '1 clients\n');
  t.regex(await example('failures.mjs'), /^client\.email: .*\n(?:.*\n)*client\.totalGB: /);
  const examples = (await readdir(join(fresh, 'examples'))).filter((name) => !name.startsWith('wrong'));
  t.is(examples.length, 5, 'an example that this test does not run');
  // Both forms at once: one program, two copies of the classes.
  await mkdir(join(fresh, 'plain'));
  await writeFile(
    join(fresh, 'plain', 'both.cjs'),
    "const { Weir, PanelFailure } = require('@weir-panel/sdk');\nimport('@weir-panel/sdk').then((esm) => console.log(typeof Weir, typeof PanelFailure, Object.keys(esm).join()));\n",
  );
  t.is(
    (await run(process.execPath, [join(fresh, 'plain', 'both.cjs')])).stdout,
    'function function PanelFailure,PanelUnreachable,Weir\n',
  );
});

test('the README shows the examples as they are', async (t) => {
  const root = await sourceRoot();
  const readme = await readFile(new URL('sdk/README.md', root), 'utf8');
  for (const name of await readdir(new URL('sdk/examples/', root))) {
    const text = await readFile(new URL(`sdk/examples/${name}`, root), 'utf8');
    t.true(
      readme.includes(`\`\`\`ts\n${text}\`\`\`\n`),
      `sdk/README.md does not show examples/${name} as it is`,
    );
  }
});
