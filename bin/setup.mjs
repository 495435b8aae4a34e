// Sets up a checkout: packages and build. Needs only Node, and does nothing when nothing has changed.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const root = fileURLToPath(new URL('..', import.meta.url));
const OLDEST_NODE = [20, 19];
const SOURCES = [
  'schema',
  'net',
  'timing',
  'file',
  'tables',
  'kernel',
  'drivers',
  'panel',
  'cli',
  'plugins',
  'sdk',
  'config',
  'test',
  'examples',
];

/** Files of pages for browsers, whatever their type. */
const PAGES = /^plugins[/\\][^/\\]+[/\\]page[/\\]/;

// A closed output must not crash the set-up.
process.stderr.on('error', () => {});
const say = (text) => process.stderr.write(`${text}\n`);
const read = (path) => readFile(path, 'utf8').catch(() => '');
const exists = (path) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Runs a child in a process group of its own; a signal to this process reaches the whole group, with compilers and test workers. */
export function spawnWithUs(command, args, { killedBy, ...options } = {}) {
  const end = (signal) => {
    try {
      process.kill(-child.pid, killedBy ?? signal);
    } finally {
      // Not at once: other children may have handlers of their own.
      setImmediate(() => process.exit(signal === 'SIGINT' ? 130 : 143));
    }
  };
  const alone = () => process.off('SIGTERM', end).off('SIGINT', end);
  // Installed before the child starts, so that a signal during the start is not missed.
  process.on('SIGTERM', end).on('SIGINT', end);
  const child = spawn(command, args, { cwd: root, detached: true, ...options });
  return child.on('error', alone).on('close', alone);
}

/** `what` names the child in the message about its failure. */
export function run(what, command, args, options = {}) {
  return new Promise((resolve, reject) => {
    // npm finishes its work before it reacts to SIGTERM. Killing it is safe: work without a stamp is done again.
    const child = spawnWithUs(command, args, { stdio: ['ignore', 2, 2], killedBy: 'SIGKILL', ...options });
    child.on('error', (cause) =>
      reject(new Error(`${what} could not be started: ${cause.message}`, { cause })),
    );
    child.on('close', (code, signal) =>
      code === 0
        ? resolve()
        : reject(new Error(`${what} failed (${signal ?? `exit code ${code}`}); see the messages above`)),
    );
  });
}

export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new Error(`Weir needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}`);
}

/** Installs the packages of the lock file; again when the file or Node's binary interface has changed. */
export async function install() {
  const stamp = join(root, 'node_modules', '.weir-installed');
  const wanted = createHash('sha256')
    .update(await read(join(root, 'package-lock.json')))
    .update(`${process.versions.modules} ${process.platform} ${process.arch}`)
    .digest('hex');
  if ((await read(stamp)) === wanted) return;
  say('installing packages …');
  await rm(stamp, { force: true });
  await run('npm ci', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  await installSqlite();
  await writeFile(stamp, wanted);
}

const sqliteWorks = () =>
  promisify(execFile)(process.execPath, ['-e', 'require("sqlite3")'], { cwd: root }).then(
    () => true,
    () => false,
  );

/** The folder with the headers of this very Node, if it came with them: a compiler then needs nothing from nodejs.org. */
async function ownHeaders() {
  const folder = join(process.execPath, '..', '..');
  const text = await read(join(folder, 'include', 'node', 'node_version.h'));
  const version = ['MAJOR', 'MINOR', 'PATCH'].map(
    (part) => new RegExp(`define NODE_${part}_VERSION (\\d+)`).exec(text)?.[1],
  );
  return version.join('.') === process.versions.node ? folder : undefined;
}

/** SQLite's driver has a native part. It is downloaded if its publisher has a build, otherwise compiled and cached for the next checkout. */
async function installSqlite() {
  const folder = join(root, 'node_modules', 'sqlite3');
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const built = join(folder, 'build', 'Release', 'node_sqlite3.node');
  const libc = process.report.getReport().header.glibcVersionRuntime ?? 'other';
  const kept = join(
    process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
    'weir',
    'sqlite3',
    `${version}-${process.platform}-${process.arch}-glibc-${libc}.node`,
  );
  if (await exists(kept)) {
    await mkdir(join(built, '..'), { recursive: true });
    await copyFile(kept, built);
    if (await sqliteWorks()) return;
  }
  const missing = ['python3', 'make', 'g++'].filter(
    (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error,
  );
  if (missing.length > 0)
    say(
      `SQLite's driver may have to be compiled, and ${missing.join(', ')} is missing; on Debian or Ubuntu: apt-get install -y python3 make g++`,
    );
  say("installing SQLite's driver (compiled where there is no ready one; that takes two minutes, once) …");
  const headers = await ownHeaders();
  // npm shows the compiler's output when it fails; its warnings alone are thousands of lines.
  await run('npm rebuild sqlite3', 'npm', ['rebuild', 'sqlite3', '--loglevel=error'], {
    stdio: ['ignore', 'ignore', 2],
    ...(headers && {
      env: { ...process.env, npm_config_nodedir: process.env.npm_config_nodedir || headers },
    }),
  }).catch((error) => {
    throw new Error(
      `${error.message}. SQLite's driver comes from github.com, or is compiled. To compile it, the machine needs ` +
        `python3, make and g++, and ${headers ? `Node's headers, which it has in ${headers}` : `Node's headers: from nodejs.org, or from a folder (npm_config_nodedir=/path/of/node, with include/node in it)`}`,
      { cause: error },
    );
  });
  if (!(await sqliteWorks()))
    throw new Error("SQLite's driver was installed but cannot be loaded; see the messages above");
  await keep(built, kept).catch((error) =>
    say(`SQLite's driver is not cached for the next checkout: ${error.message}`),
  );
}

async function keep(file, kept) {
  const copy = `${kept}.${process.pid}`;
  await mkdir(join(kept, '..'), { recursive: true });
  await copyFile(file, copy);
  await rename(copy, kept);
}

async function digestSources() {
  const hash = createHash('sha256');
  const walk = async (folder) => {
    for (const entry of (await readdir(folder, { withFileTypes: true }).catch(() => [])).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await walk(path);
      else if (entry.name.endsWith('.ts') || PAGES.test(path.slice(root.length))) {
        const { mtimeMs, size } = await stat(path);
        hash.update(`${path.slice(root.length)} ${mtimeMs} ${size}\n`);
      }
    }
  };
  for (const name of SOURCES) await walk(join(root, name));
  for (const name of ['tsconfig.json', 'package-lock.json']) hash.update(await read(join(root, name)));
  return hash.digest('hex');
}

/** An installed package has no sources, and nothing to set up. */
const isCheckout = () => exists(join(root, 'tsconfig.json'));

const builtStamp = join(root, 'dist', '.weir-built');

/** A checkout whose sources changed after its build, or that was built in another way. */
export const isStale = async () =>
  (await isCheckout()) && (await read(builtStamp)) !== (await digestSources());

/** Compiles when a source has changed. Starts from an empty folder, so that no output of a deleted source stays. */
export async function build() {
  const wanted = await digestSources();
  if ((await read(builtStamp)) === wanted) return;
  if (!(await exists(join(root, 'node_modules', 'typescript'))))
    throw new Error(`Weir cannot be built, its packages are missing; run npm ci in ${root} first`);
  say('building …');
  await rm(join(root, 'dist'), { recursive: true, force: true });
  // Only a checkout has these programs.
  const [{ copyApiPage }, { buildWebPage }] = await Promise.all([
    import('./api-page.mjs'),
    import('./web-page.mjs'),
  ]);
  await copyApiPage(root, join(root, 'dist'));
  await run('the build', process.execPath, [
    join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    'tsconfig.json',
  ]);
  await buildWebPage(root, join(root, 'dist'));
  await writeFile(builtStamp, wanted);
}

/** Prepares everything that `npm start` and `npm test` need. Exits with a message when that fails. */
export const setUp = () => orEnd(install, build);

/** Prepares what `npm run build` needs, and `npm install ../weir` of a plugin author: npm installs the packages. */
export const setUpBuild = () => orEnd(build);

async function orEnd(...steps) {
  try {
    checkNode();
    if (await isCheckout()) for (const step of steps) await step();
  } catch (error) {
    say(error.message);
    process.exit(1);
  }
}
