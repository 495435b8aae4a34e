// SQLite's driver: compiled here, also for another machine, so that its bytes depend on the sources and the compiler alone.
import { copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { cached, checkMachine, MACHINES, run } from './target.mjs';

const ADDON = join('build', 'Release', 'node_sqlite3.node');
/** What a build of the driver needs, besides the headers of Node: `tar` unpacks the sources of SQLite. */
const NEEDED = [
  ...['sqlite3', 'node-addon-api', 'bindings', 'file-uri-to-path'],
  ...['tar', 'minipass', 'minizlib', 'chownr', 'yallist', '@isaacs/fs-minipass'],
];

/** Compiler and linker for the machine; throws a sentence that names missing ones. */
export function toolsFor(arch) {
  const prefix = arch === process.arch ? '' : MACHINES[arch].tools;
  const tools = { CC: `${prefix}gcc`, CXX: `${prefix}g++`, AR: `${prefix}ar`, STRIP: `${prefix}strip` };
  const missing = [...Object.values(tools), 'make', 'python3'].filter(
    (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error,
  );
  if (missing.length > 0) {
    const packages =
      prefix === ''
        ? 'python3 make g++'
        : `python3 make gcc-${prefix.slice(0, -1).replace('_', '-')} g++-${prefix.slice(0, -1).replace('_', '-')}`;
    throw new Error(
      `SQLite's driver cannot be compiled for ${arch}: ${missing.join(', ')} missing; on Debian or Ubuntu: apt-get install -y ${packages}`,
    );
  }
  return tools;
}

/** The copy of node-gyp that comes with npm. */
async function nodeGyp() {
  const npm = (await run('npm', 'npm', ['root', '-g'])).trim();
  return join(npm, 'npm', 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
}

export async function buildSqlite(folder, arch, runtime) {
  const modules = join(root, 'node_modules');
  const { version } = JSON.parse(await readFile(join(modules, 'sqlite3', 'package.json'), 'utf8'));
  const tools = toolsFor(arch);
  const compiler = await run('the compiler', tools.CXX, ['--version']);
  const kept = await cached(
    `sqlite3-${arch}`,
    { version, compiler, node: runtime.version },
    async (draft) => {
      // Not in the checkout, whose own driver is in use.
      const stage = await mkdtemp(join(tmpdir(), 'weir-sqlite-'));
      try {
        for (const name of NEEDED)
          await cp(join(modules, name), join(stage, 'node_modules', name), {
            recursive: true,
            filter: (path) => !path.startsWith(join(modules, 'sqlite3', 'build')),
          });
        const source = join(stage, 'node_modules', 'sqlite3');
        const flags = `-ffile-prefix-map=${stage}=. -ffile-prefix-map=${runtime.folder}=node`;
        await run(
          "the build of SQLite's driver",
          process.execPath,
          [await nodeGyp(), 'rebuild', `--arch=${arch}`, `--nodedir=${runtime.folder}`],
          { cwd: source, env: { ...process.env, ...tools, CFLAGS: flags, CXXFLAGS: flags } },
        );
        await run('strip', tools.STRIP, [
          '--strip-unneeded',
          '--remove-section=.comment',
          join(source, ADDON),
        ]);
        await copyFile(join(source, ADDON), join(draft, 'node_sqlite3.node'));
      } finally {
        await rm(stage, { recursive: true, force: true });
      }
    },
  );
  const target = join(folder, 'app', 'node_modules', 'sqlite3', ADDON);
  await mkdir(join(target, '..'), { recursive: true });
  await copyFile(join(kept, 'node_sqlite3.node'), target);
  await checkMachine(target, arch);
}
