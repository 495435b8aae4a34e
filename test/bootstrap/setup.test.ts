// Set-up in a checkout of its own, with an npm and a compiler that only note what they were asked for.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { sourceRoot } from '../harness/source-root.js';

const VIEWER_FILES = [
  ...['swagger-ui-bundle.js', 'swagger-ui.css'],
  ...['LICENSE', 'swagger-ui-bundle.js.LICENSE.txt', 'NOTICE'],
];
const NPM = `#!/bin/sh
echo "npm $1" >> "$NOTES"
case "$1" in
ci)
  rm -rf node_modules/sqlite3
  mkdir -p node_modules/sqlite3
  echo '{"version":"6.0.1"}' > node_modules/sqlite3/package.json
  echo 'require("fs").accessSync(__dirname + "/build/Release/node_sqlite3.node")' > node_modules/sqlite3/index.js
  if [ -n "$SLOW" ]; then sleep 600 & echo $! > slow; trap '' TERM; wait; fi;;
rebuild)
  echo "$npm_config_nodedir" > nodedir
  if [ -n "$NO_DRIVER" ]; then exit 1; fi
  mkdir -p node_modules/sqlite3/build/Release
  echo driver > node_modules/sqlite3/build/Release/node_sqlite3.node;;
esac
`;
const TSC = `const fs = require('fs');
fs.appendFileSync(process.env.NOTES, 'tsc\\n');
fs.mkdirSync('dist', { recursive: true });
fs.writeFileSync('dist/some.js', '');
process.exit(fs.readFileSync('kernel/a.ts', 'utf8').includes('wrong') ? 2 : 0);
`;

class Checkout {
  constructor(
    readonly folder: string,
    private readonly shared: string,
  ) {}

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true });
    await writeFile(join(this.folder, path), text);
  }

  read(path: string): Promise<string> {
    return readFile(join(this.folder, path), 'utf8').catch(() => '');
  }

  env(more: Record<string, string> = {}): NodeJS.ProcessEnv {
    return {
      ...process.env,
      PATH: `${join(this.shared, 'bin')}:${process.env['PATH'] ?? ''}`,
      XDG_CACHE_HOME: join(this.shared, 'cache'),
      NOTES: join(this.folder, 'notes'),
      ...more,
    };
  }

  command(...steps: string[]): string[] {
    return [
      '--input-type=module',
      '-e',
      `const setup = await import(${JSON.stringify(join(this.folder, 'bin', 'setup.mjs'))}); ${steps.map((step) => `await setup.${step}();`).join(' ')}`,
    ];
  }

  /** What was called during these steps of set-up, and what they said. */
  does(...steps: string[]) {
    return this.doesWith({}, ...steps);
  }

  /** The same with further variables. */
  async doesWith(
    more: Record<string, string>,
    ...steps: string[]
  ): Promise<{ calls: string[]; said: string; ok: boolean }> {
    await rm(join(this.folder, 'notes'), { force: true });
    const outcome = await promisify(execFile)(process.execPath, this.command(...steps), {
      env: this.env(more),
    }).then(
      ({ stderr }) => ({ said: stderr, ok: true }),
      ({ stderr }: { stderr: string }) => ({ said: stderr, ok: false }),
    );
    return { calls: (await this.read('notes')).split('\n').filter(Boolean), ...outcome };
  }
}

async function machine(t: ExecutionContext): Promise<() => Promise<Checkout>> {
  const shared = await mkdtemp(join(tmpdir(), 'weir-setup-'));
  t.teardown(() => rm(shared, { recursive: true, force: true }));
  await mkdir(join(shared, 'bin'));
  await writeFile(join(shared, 'bin', 'npm'), NPM);
  await chmod(join(shared, 'bin', 'npm'), 0o755);
  let number = 0;
  return async () => {
    const checkout = new Checkout(join(shared, `checkout ${++number}`), shared);
    await checkout.write('package-lock.json', '{}');
    await checkout.write('tsconfig.json', '{}');
    await checkout.write('kernel/a.ts', 'fine');
    await checkout.write('node_modules/typescript/bin/tsc', TSC);
    await mkdir(join(checkout.folder, 'bin'));
    for (const name of ['setup.mjs', 'api-page.mjs', 'web-page.mjs'])
      await copyFile(new URL(`bin/${name}`, await sourceRoot()), join(checkout.folder, 'bin', name));
    // What the build copies beside the page of the API.
    await checkout.write('plugins/api-docs/page/index.html', '');
    await checkout.write('node_modules/swagger-ui-dist/package.json', '{}');
    for (const name of VIEWER_FILES) await checkout.write(`node_modules/swagger-ui-dist/${name}`, '');
    return checkout;
  };
}

test('packages are installed once, and again when the lock file changes', async (t) => {
  const checkout = await (await machine(t))();
  t.deepEqual((await checkout.does('install')).calls, ['npm ci', 'npm rebuild']);
  t.deepEqual((await checkout.does('install')).calls, []);
  await checkout.write('package-lock.json', '{ "changed": true }');
  t.deepEqual((await checkout.does('install')).calls, ['npm ci']);
});

test('a second checkout takes the driver that the first one compiled', async (t) => {
  const checkout = await machine(t);
  await (await checkout()).does('install');
  const second = await checkout();
  t.deepEqual((await second.does('install')).calls, ['npm ci']);
  t.is(await second.read('node_modules/sqlite3/build/Release/node_sqlite3.node'), 'driver\n');
});

test('names the missing packages of a compiler before it may be needed', async (t) => {
  const checkout = await (await machine(t))();
  const usual = checkout.env()['PATH'] ?? '';
  // Only what npm needs, and none of a compiler's programs.
  const few = join(checkout.folder, 'few');
  await mkdir(few);
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    'for tool in sh mkdir rm node; do command -v $tool; done',
  ]);
  for (const file of stdout.split('\n').filter(Boolean)) await symlink(file, join(few, basename(file)));
  const PATH = `${usual.split(':')[0]}:${few}`;
  const { calls, said, ok } = await checkout.doesWith({ PATH }, 'install');
  t.true(ok, said);
  t.regex(
    said,
    /SQLite's driver may have to be compiled, and python3, make, g\+\+ is missing; .*apt-get install/,
  );
  t.deepEqual(calls, ['npm ci', 'npm rebuild']);
});

test('a driver is compiled with the headers that came with Node, unless npm is told others', async (t) => {
  const checkout = await (await machine(t))();
  // A Node of this version with its headers, as the archives of its publisher have it.
  const home = join(checkout.folder, 'a node');
  await mkdir(join(home, 'bin'), { recursive: true });
  await copyFile(process.execPath, join(home, 'bin', 'node'));
  const header = 'a node/include/node/node_version.h';
  const installs = async (more: Record<string, string> = {}): Promise<string> => {
    await rm(join(checkout.folder, 'node_modules', '.weir-installed'), { force: true });
    await rm(join(dirname(checkout.folder), 'cache'), { recursive: true, force: true });
    await promisify(execFile)(join(home, 'bin', 'node'), checkout.command('install'), {
      env: checkout.env({ npm_config_nodedir: '', ...more }),
    });
    return (await checkout.read('nodedir')).trim();
  };
  const [major, minor, patch] = process.versions.node.split('.');
  const version = (last: string | undefined): string =>
    `#define NODE_MAJOR_VERSION ${major}\n#define NODE_MINOR_VERSION ${minor}\n#define NODE_PATCH_VERSION ${last}\n`;
  await checkout.write(header, version(patch));
  t.is(await installs(), home);
  t.is(await installs({ npm_config_nodedir: '/elsewhere' }), '/elsewhere');
  await checkout.write(header, version('999'));
  t.is(await installs(), '', 'headers of another version');
});

test('a driver that cannot be installed says what the machine needs', async (t) => {
  const checkout = await (await machine(t))();
  const { said, ok } = await checkout.doesWith({ NO_DRIVER: 'yes' }, 'install');
  t.false(ok);
  t.regex(said, /npm rebuild sqlite3 failed .*github\.com.*python3, make and g\+\+.*Node's headers/);
});

test('the build runs when a source is changed, added or removed, and not otherwise', async (t) => {
  const checkout = await (await machine(t))();
  t.deepEqual((await checkout.does('build')).calls, ['tsc']);
  t.deepEqual((await checkout.does('build')).calls, []);
  for (const path of ['kernel/a.ts', 'plugins/x/b.ts', 'tsconfig.json']) {
    await checkout.write(path, `changed ${path}`);
    t.deepEqual((await checkout.does('build')).calls, ['tsc'], path);
  }
  await rm(join(checkout.folder, 'plugins/x/b.ts'));
  await checkout.write('dist/plugins/x/b.js', 'of a source that is gone');
  t.deepEqual((await checkout.does('build')).calls, ['tsc']);
  t.is(await checkout.read('dist/plugins/x/b.js'), '');
});

test('a build that failed is tried again, although nothing changed', async (t) => {
  const checkout = await (await machine(t))();
  await checkout.write('kernel/a.ts', 'wrong');
  for (const attempt of ['first', 'second']) {
    const { calls, said, ok } = await checkout.does('build');
    t.deepEqual(calls, ['tsc'], attempt);
    t.false(ok);
    t.regex(said, /the build failed \(exit code 2\)/);
  }
});

test('SIGTERM ends an npm that does not heed it, and what npm started', async (t) => {
  const checkout = await (await machine(t))();
  const setUp = spawn(process.execPath, checkout.command('install'), {
    env: checkout.env({ SLOW: 'yes' }),
    stdio: 'ignore',
  });
  t.teardown(() => setUp.kill('SIGKILL'));
  const ended = once(setUp, 'exit');
  while ((await checkout.read('slow')) === '') await sleep(20);
  const pid = Number(await checkout.read('slow'));
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, as it should have.
    }
  });
  setUp.kill('SIGTERM');
  t.deepEqual(await ended, [143, null]);
  // A killed process may wait for its parent to take note of it (Z); that one runs no more.
  const runs = async (): Promise<boolean> =>
    !/^\d+ \(sleep\) Z/.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => `${pid} (sleep) Z`));
  for (const deadline = Date.now() + 20_000; (await runs()) && Date.now() < deadline; ) await sleep(20);
  t.false(await runs(), 'what npm started runs on');
  t.is(await checkout.read('node_modules/.weir-installed'), '');
});
