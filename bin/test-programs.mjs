// Finds the client programs with which tests read subscriptions, sing-box and mihomo, and the programs of sidecars;
// downloads their releases, or builds them where the sources lie beside the checkout. As a command it prints their paths.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { access, constants, mkdir, mkdtemp, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { root, run } from './setup.mjs';
import { installPackage } from './system-package.mjs';

const ANSWER_LIMIT_MS = 15_000;
const WHOLE_LIMIT_MS = 10 * 60_000;
const LARGEST = 150 * 1024 * 1024;
const SYSTEMS = { linux: 'linux', darwin: 'darwin' };
const MACHINES = { x64: 'amd64', arm64: 'arm64' };
const API = 'https://api.github.com/repos';

/** `asset` is the archive for this machine; `unpack` takes the program out of it. */
const PROGRAMS = {
  'sing-box': {
    repository: 'SagerNet/sing-box',
    version: '1.14.0',
    asset: (version, system, machine) => `sing-box-${version}-${system}-${machine}.tar.gz`,
    unpack: async (archive, asset, to) => {
      const file = `${to}.tar.gz`;
      const member = `${asset.replace(/\.tar\.gz$/, '')}/sing-box`;
      await writeFile(file, archive);
      try {
        const { stdout } = await promisify(execFile)('tar', ['-xzOf', file, member], {
          encoding: 'buffer',
          maxBuffer: LARGEST,
        });
        await writeFile(to, stdout, { mode: 0o755 });
      } finally {
        await rm(file, { force: true });
      }
    },
    check: ['version'],
  },
  mihomo: {
    repository: 'MetaCubeX/mihomo',
    version: '1.19.30',
    // Their usual build for amd64 needs a newer machine.
    asset: (version, system, machine) =>
      `mihomo-${system}-${machine}${machine === 'amd64' ? '-compatible' : ''}-v${version}.gz`,
    unpack: (archive, _asset, to) =>
      writeFile(to, gunzipSync(archive, { maxOutputLength: LARGEST }), { mode: 0o755 }),
    check: ['-v'],
  },
};

/** Programs that run inbounds beside the core; for tests marked `Runs sidecar programs`. They are built, or put there. */
const SIDECARS = { 'mtg-multi': {}, 'amneziawg-go': {} };

/** A certificate authority, and the name server that it asks; for tests marked `Runs a certificate authority`. Go builds them. */
const PEBBLE = 'github.com/letsencrypt/pebble/v2/cmd';
const AUTHORITY = {
  pebble: { version: '2.10.1', go: `${PEBBLE}/pebble` },
  'pebble-challtestsrv': { version: '2.10.1', go: `${PEBBLE}/pebble-challtestsrv` },
};

const NFT = ['/usr/sbin/nft', '/sbin/nft', '/usr/local/sbin/nft'];

const say = (text) => process.stderr.write(`${text}\n`);
/** One folder for all checkouts; a program that was built stands in it, one of a release in a folder with its version. */
const cache = () => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'weir-test-programs');
const isProgram = (path) =>
  Promise.all([access(path, constants.X_OK), stat(path)]).then(
    ([, found]) => found.isFile(),
    () => false,
  );

async function find(name, { version }) {
  const folders = [
    process.env.WEIR_TEST_PROGRAMS,
    ...(process.env.PATH ?? '').split(delimiter),
    ...(version === undefined ? [] : [join(cache(), version)]),
    cache(),
  ];
  for (const folder of folders)
    if (folder && (await isProgram(join(folder, name)))) return resolve(folder, name);
  return undefined;
}

async function fetched(url) {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error('no answer came')), ANSWER_LIMIT_MS);
  const signal = AbortSignal.any([AbortSignal.timeout(WHOLE_LIMIT_MS), silence.signal]);
  const response = await fetch(url, { signal }).finally(() => clearTimeout(timer));
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  if (Number(response.headers.get('content-length')) > LARGEST) throw new Error(`${url} is too large`);
  return Buffer.from(await response.arrayBuffer());
}

/** Resolves with the path, or throws with the reason. The digest is that which the release itself names. */
async function download(name, { repository, version, asset, unpack, check }) {
  const [system, machine] = [SYSTEMS[process.platform], MACHINES[process.arch]];
  if (!system || !machine) throw new Error(`no release is known for ${process.platform} on ${process.arch}`);
  const file = asset(version, system, machine);
  const release = JSON.parse(await fetched(`${API}/${repository}/releases/tags/v${version}`));
  const found = release.assets?.find((one) => one.name === file);
  const [, digest] = /^sha256:([0-9a-f]{64})$/.exec(found?.digest ?? '') ?? [];
  if (!digest) throw new Error(`the release ${version} names no SHA-256 of ${file}`);
  say(`downloading ${name} ${version} …`);
  const archive = await fetched(found.browser_download_url);
  const came = createHash('sha256').update(archive).digest('hex');
  if (came !== digest) throw new Error(`${file} has the SHA-256 ${came}, but its release says ${digest}`);
  const folder = join(cache(), version);
  const unfinished = join(folder, `${name}-${process.pid}`);
  await mkdir(folder, { recursive: true });
  try {
    await unpack(archive, file, unfinished);
    await promisify(execFile)(unfinished, check, { timeout: ANSWER_LIMIT_MS });
    await rename(unfinished, join(folder, name));
  } finally {
    await rm(unfinished, { force: true });
  }
  return join(folder, name);
}

/** Resolves with the path of a program in Go, built from its module. */
async function build(name, { version, go }) {
  const folder = join(cache(), version);
  await mkdir(folder, { recursive: true });
  await run(`go install ${go}@v${version}`, 'go', ['install', `${go}@v${version}`], {
    env: { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath', CGO_ENABLED: '0' },
  });
  return join(folder, name);
}

/** A script beside the checkout may have the sources. */
const script = join(root, '..', 'shared', 'tools', 'test-programs');

async function obtain(name, program) {
  const there = await find(name, program);
  if (there) return there;
  const nowhere = `${name} is neither in WEIR_TEST_PROGRAMS nor on PATH nor in ${cache()}`;
  if (process.env.WEIR_TEST_INSTALL === 'off')
    throw new Error(`${nowhere}, and WEIR_TEST_INSTALL=off forbids installing it`);
  const reasons = [];
  if (program.go !== undefined)
    try {
      return await build(name, program);
    } catch (error) {
      reasons.push(`it could not be built (${error.message})`);
    }
  else if (program.repository === undefined) reasons.push('no release of it is known here');
  else
    try {
      return await download(name, program);
    } catch (error) {
      reasons.push(`it could not be downloaded (${error.cause?.message ?? error.message})`);
    }
  if (existsSync(script) && process.env.WEIR_TEST_SCRIPT !== 'off')
    try {
      await run(`${script} ${name}`, script, [cache(), name]);
      if (await isProgram(join(cache(), name))) return join(cache(), name);
      reasons.push(`${script} built none`);
    } catch (error) {
      reasons.push(`it could not be built (${error.message})`);
    }
  throw new Error(
    `${nowhere}, and ${reasons.join(' and ')}; put ${[name, program.version].filter(Boolean).join(' ')} or newer on PATH, or into a folder that WEIR_TEST_PROGRAMS names`,
  );
}

/** Resolves with a folder that has the programs of users, or a sentence that says which is missing. `remove` takes the folder away. */
export const testPrograms = () => folderOf(PROGRAMS);
/** The same for a certificate authority. */
export const authorityPrograms = () => folderOf(AUTHORITY);
/** Installs nftables where it is missing. */
export async function nftables() {
  // A package of npm has a program of this name, which would be found first.
  if (NFT.some((path) => existsSync(path))) return;
  const missing = await installPackage({
    what: 'nftables',
    wanted: 'nftables',
    program: 'nft',
    name: 'nftables',
  });
  if (missing) say(missing);
}
/** The same for programs that run inbounds beside the core; tunnels need nftables as well. */
export async function sidecarPrograms() {
  await nftables();
  return folderOf(SIDECARS);
}

async function folderOf(programs) {
  const paths = {};
  try {
    for (const [name, program] of Object.entries(programs)) paths[name] = await obtain(name, program);
  } catch (error) {
    return { missing: error.message };
  }
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-programs-'));
  for (const [name, path] of Object.entries(paths)) await symlink(path, join(folder, name));
  return { folder, paths, remove: () => rm(folder, { recursive: true, force: true }) };
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const found = await testPrograms();
  if (found.missing) {
    say(found.missing);
    process.exitCode = 1;
  } else {
    for (const path of Object.values(found.paths)) process.stdout.write(`${path}\n`);
    await found.remove();
  }
}
