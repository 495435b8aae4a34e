// What gets into the package, checked without building it.
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { sourceRoot } from '../harness/source-root.js';
import { folderFor } from '../harness/folder-for.js';

const run = promisify(execFile);
interface Lock {
  readonly packages: Readonly<Record<string, { readonly license?: string; readonly dev?: boolean }>>;
}
const load = async <T>(path: string): Promise<T> =>
  (await import(new URL(path, await sourceRoot()).href)) as T;
const read = async (path: string): Promise<string> => readFile(new URL(path, await sourceRoot()), 'utf8');
const lockOf = async (): Promise<Lock> => JSON.parse(await read('package-lock.json')) as Lock;

test('the package has the packages of npm that the panel loads, and none for development or for an installation', async (t) => {
  const { reached } = await load<{ reached: (lock: Lock) => Set<string> }>('bin/package/modules.mjs');
  const lock = await lockOf();
  const paths = [...reached(lock)];
  const manifest = JSON.parse(await read('package.json')) as { dependencies: Record<string, string> };
  for (const name of Object.keys(manifest.dependencies)) t.true(paths.includes(`node_modules/${name}`), name);
  t.true(paths.includes('node_modules/bindings'), 'sqlite3 finds its addon with it');
  t.deepEqual(
    paths.filter((path) => lock.packages[path]?.dev),
    [],
  );
  t.deepEqual(
    paths.filter((path) => /\/(?:node-gyp|prebuild-install|typescript|ava|@types\/.*)$/.test(path)),
    [],
  );
  for (const machine of ['x64', 'arm64'])
    t.true(paths.includes(`node_modules/@node-rs/argon2-linux-${machine}-gnu`), machine);
});

test('no package of npm in it is under the GPL, the AGPL or another licence that is not known as compatible', async (t) => {
  const { reached } = await load<{ reached: (lock: Lock) => Set<string> }>('bin/package/modules.mjs');
  const { isAllowed, refuseLicences } = await load<{
    isAllowed: (license: unknown) => boolean;
    refuseLicences: (packages: readonly object[]) => void;
  }>('bin/package/notices.mjs');
  const lock = await lockOf();
  t.deepEqual(
    [...reached(lock)].filter((path) => !isAllowed(lock.packages[path]?.license)),
    [],
  );
  for (const license of ['MIT', '(MIT OR GPL-3.0)', 'Apache-2.0 AND MIT'])
    t.true(isAllowed(license), license);
  for (const license of ['GPL-3.0', 'AGPL-3.0-only', 'MIT AND GPL-2.0', 'LGPL-3.0', '', undefined])
    t.false(isAllowed(license), license);
  t.throws(() => refuseLicences([{ name: 'a', version: '1.0.0', license: 'AGPL-3.0' }]), {
    message: /a 1\.0\.0 \(AGPL-3\.0\)/,
  });
});

test('a download of Node with another digest is refused', async (t) => {
  const { checkIntegrity } = await load<{ checkIntegrity: (b: Buffer, i: string, w: string) => void }>(
    'bin/package/runtime.mjs',
  );
  const runtime = JSON.parse(await read('install/runtime.json')) as {
    version: string;
    packages: Record<string, { integrity: string }>;
  };
  t.regex(runtime.version, /^24\./);
  const digests = Object.values(runtime.packages).map(({ integrity }) => integrity);
  t.is(new Set(digests).size, 2);
  for (const integrity of digests) {
    t.regex(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/);
    t.throws(() => checkIntegrity(Buffer.from('x'), integrity, 'node@24'), {
      message: /node@24 has the digest/,
    });
  }
});

test('an archive of the same files has the same bytes, whenever and by whomever it is made', async (t) => {
  const { archive, digestOf, listFiles } = await load<{
    archive: (folder: string, out: string, time: number) => Promise<string>;
    digestOf: (path: string) => Promise<string>;
    listFiles: (folder: string) => Promise<void>;
  }>('bin/package/archive.mjs');
  const digests: string[] = [];
  for (const [names, mode] of [
    [['b', 'a'], 0o600],
    [['a', 'b'], 0o664],
  ] as const) {
    const parent = await folderFor(t);
    const folder = join(parent, 'weir-1.0.0-linux-x64');
    await mkdir(join(folder, 'bin'), { recursive: true });
    for (const name of names) {
      await writeFile(join(folder, 'bin', name), name);
      await chmod(join(folder, 'bin', name), mode);
    }
    await listFiles(folder);
    const file = await archive(folder, parent, 1_700_000_000);
    digests.push(await digestOf(file));
    const { stdout } = await run('tar', ['-tvzf', file]);
    t.regex(stdout, /^-rwxr-xr-x root\/root .* weir-1\.0\.0-linux-x64\/bin\/a$/m);
    const list = await readFile(join(folder, 'FILES.sha256'), 'utf8');
    t.regex(list, /^[0-9a-f]{64} {2}bin\/a\n[0-9a-f]{64} {2}bin\/b\n$/);
    await symlink('/etc/passwd', join(folder, 'bin', 'c'));
    await t.throwsAsync(archive(folder, parent, 0), { message: /bin\/c is neither a file nor a folder/ });
  }
  t.is(digests[0], digests[1]);
});

test('every file that the package and the Dockerfile copy is there, and each script is valid', async (t) => {
  const program = await read('bin/package/program.mjs');
  const copied = [...program.matchAll(/^ {2}'?([\w./-]+)'?: '[^']+',$/gm)].map(([, path = '']) => path);
  t.true(copied.length >= 10 && copied.includes('install/weir.service'));
  for (const path of copied) await t.notThrowsAsync(read(path), path);
  const dockerfile = await read('Dockerfile');
  const named = [...dockerfile.matchAll(/^COPY (?!--from)([^.\n].*) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  t.deepEqual(named, ['package.json', 'package-lock.json']);
  t.regex(dockerfile, /node bin\/package\.mjs --arch "\$\(uname -m\)" --folder --out \/package/);
  t.regex(dockerfile, /^USER 10001:10001$/m);
  t.regex(dockerfile, /^HEALTHCHECK .* CMD \["weir", "health"\]$/m);
  t.notRegex(dockerfile, /PASSWORD|SECRET|TOKEN/);
  const ignored = (await read('.dockerignore')).split('\n');
  for (const entry of ['.git', 'data', 'node_modules', '**/*.key', '**/*.sqlite*'])
    t.true(ignored.includes(entry), entry);
  const root = await sourceRoot();
  for (const script of ['install.sh', 'uninstall.sh', 'weir.sh', 'stop-left-over.sh'])
    await t.notThrowsAsync(run('sh', ['-n', new URL(`install/${script}`, root).pathname]), script);
});

test('an unknown machine, and an unknown file of another machine, are refused', async (t) => {
  const { archOf, checkMachine } = await load<{
    archOf: (name: string) => string;
    checkMachine: (path: string, arch: string) => Promise<void>;
  }>('bin/package/target.mjs');
  t.deepEqual(['amd64', 'aarch64', 'x64'].map(archOf), ['x64', 'arm64', 'x64']);
  for (const name of ['mips', 'toString']) t.throws(() => archOf(name), { message: /must be x64 or arm64/ });
  const other = process.arch === 'x64' ? 'arm64' : 'x64';
  await t.throwsAsync(checkMachine(process.execPath, other), {
    message: new RegExp(`is not a program for ${other}`),
  });
});

test('the pages name only options, commands and paths that there are', async (t) => {
  const page = await read('docs/install.md');
  const unit = await read('install/weir.service');
  const script = await read('install/install.sh');
  for (const path of ['/opt/weir/current', '/etc/weir.env'])
    t.true(unit.includes(path) && page.includes(path), path);
  t.true(unit.includes('WEIR_DATA_DIR=/var/lib/weir') && script.includes('/usr/local/bin/weir'));
  const commands = await read('docs/reference/commands.md');
  const named = [...page.matchAll(/^(?:docker exec weir )?weir ([a-z]+)/gm)].map(([, name = '']) => name);
  t.true(named.length >= 6);
  for (const name of named) t.regex(commands, new RegExp(`^## weir ${name}`, 'm'));
  for (const option of ['--database', '--folder', '--host']) t.true(commands.includes(option), option);
  t.true((await read('install/uninstall.sh')).includes('--data)'));
});
