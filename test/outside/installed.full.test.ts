// The package as npm packs it, installed beside a plugin: neither our sources nor what only we need.
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { sourceRoot } from '../harness/source-root.js';
import { folderOf } from './third-party.js';

const run = promisify(execFile);
const manifestOf = async (folder: string): Promise<{ readonly private?: boolean; readonly name?: string }> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { private?: boolean };

/** Packages that an installation of Weir brings along, by their paths in node_modules. */
async function dependencies(root: string): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>;
  };
  const there = new Set(await readdir(join(root, 'node_modules'), { recursive: false }));
  return Object.entries(lock.packages).flatMap(([path, { dev = false }]) => {
    const [, name = ''] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    return name !== '' && !dev && there.has(name.split('/')[0] ?? '') ? [name] : [];
  });
}

/** A copy of an example with Weir installed from its package, and with the compiler's types and ava, as the guide says. */
async function installed(t: ExecutionContext, example: string) {
  const root = fileURLToPath(await sourceRoot());
  const folder = join(await folderOf(t), example);
  const modules = join(folder, 'node_modules');
  const weir = join(modules, '@weir-panel', 'weir');
  await cp(join(root, 'examples', example), folder, { recursive: true });
  await mkdir(weir, { recursive: true });
  // Without its build: the tests run in what it would clear away.
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? 'none';
  await run('tar', ['-xzf', join(folder, archive), '-C', weir, '--strip-components=1']);
  for (const name of [...(await dependencies(root)), 'ava', '@types/node', 'undici-types']) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(modules, name)).catch(
      (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? undefined : Promise.reject(error)),
    );
  }
  return { folder, weir, root };
}

test("a plugin's tests and the command line run on the package alone", async (t) => {
  const { folder, weir, root } = await installed(t, 'acme-tally');
  const packed = await readdir(weir, { recursive: true });
  const foreign = packed.filter((path) => /\.test\.|\.map$|(?<!\.d)\.ts$|^dist\/\.|^examples/.test(path));
  t.deepEqual(foreign, [], 'neither sources nor tests are packed');
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [compiler, '-p', 'test'], { cwd: folder }).catch((error: { stdout?: string }) =>
    t.fail(`it does not build: ${error.stdout}`),
  );
  const ava = join(folder, 'node_modules', 'ava', 'entrypoints', 'cli.mjs');
  const tested = await run(process.execPath, [ava], { cwd: folder });
  t.regex(tested.stdout, /2 tests passed/);
  t.notRegex(tested.stderr, /has changed since it was built/);

  await run(process.execPath, [compiler], { cwd: folder });
  const command = join(weir, 'bin', 'weir.mjs');
  const env = {
    ...process.env,
    WEIR_DATA_DIR: join(folder, 'data'),
    WEIR_ENGINE_BIN: '/nowhere/core',
    WEIR_PANEL_PORT: '0',
    WEIR_SUB_PORT: '0',
  };
  const added = await run(process.execPath, [command, 'plugin', 'add', folder], { env, cwd: folder });
  t.regex(added.stdout, /^added the plugin acme-tally 0\.3\.0$/m);
});

test('nothing can be published by accident', async (t) => {
  const manifest = await manifestOf(fileURLToPath(await sourceRoot()));
  t.true(manifest.private, 'npm publish refuses a package that is private');
  // A name without a scope would be an unrelated package if a `../` is forgotten.
  t.regex(manifest.name ?? '', /^@weir-panel\//);
});

test('a checkout that was not built after its last change says so to tests outside of it', async (t) => {
  const { folder, weir, root } = await installed(t, 'hello');
  const look = () =>
    run(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { warnWhenStale } = await import(${JSON.stringify(join(weir, 'dist/test/harness/fresh.js'))}); await warnWhenStale();`,
      ],
      { cwd: folder },
    );
  t.is((await look()).stderr, '');
  // With it the package is a checkout; no build of it was noted.
  await cp(join(root, 'tsconfig.json'), join(weir, 'tsconfig.json'));
  t.regex(
    (await look()).stderr,
    /the checkout of Weir in .* has changed since it was built; run npm run build there/,
  );
});
