// `weir upgrade` and `weir rollback`, for an installed package.
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bool, optional, text } from '../schema/shape.js';
import { programCommand, type ProgramContext } from './program-command.js';
import { isVersion } from './upgrade/installation.js';
import { type Installed, serveRequest } from './upgrade/requested.js';
import { rollBack } from './upgrade/roll-back.js';
import { switchRelease } from './upgrade/switch-release.js';
import { ownInstallation, thisMachine } from './upgrade/this-machine.js';
import { unpack, verify } from './upgrade/unpack.js';

const MOST_PATH = 4096;
const MOST_COMPLAINED = 64 * 1024;

/** In which bin/weir has the lock of an upgrade. */
const LOCK_FD = 9;

/** The lock must outlive this process: if it is killed, install.sh goes on. */
const withLock = (): (number | 'ignore' | 'inherit')[] => [
  'ignore',
  'inherit',
  'inherit',
  ...(process.env['UPGRADE_LOCKED'] ? [...Array<'ignore'>(LOCK_FD - 3).fill('ignore'), LOCK_FD] : []),
];

/** Runs install.sh of the unpacked package, which calls `weir upgrade --release` of the new release. */
const install = (folder: string, args: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    spawn('sh', [join(folder, 'install.sh'), ...args], { stdio: withLock() })
      .on('error', reject)
      .on('close', (code) => resolve(code ?? 1));
  });

/** The same, with what it writes to standard error: the reason of a failure, for the panel. */
const installAndListen = (folder: string): Promise<Installed> =>
  new Promise((resolve, reject) => {
    const stdio = withLock().map((one, at) => (at === 2 ? 'pipe' : one));
    let complained = '';
    const child = spawn('sh', [join(folder, 'install.sh')], { stdio });
    child.stderr?.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk);
      complained = (complained + chunk.toString()).slice(-MOST_COMPLAINED);
    });
    child.on('error', reject).on('close', (code) => resolve({ code: code ?? 1, complained }));
  });

/** As `weir-update.service`. */
async function upgradeAsRequested(context: ProgramContext): Promise<number> {
  const { env, directory, say, complain } = context;
  const installation = ownInstallation();
  if (process.getuid?.() !== 0 || (await installation.current()) === undefined) {
    complain('run this as root, where a package is installed: it installs what the panel has downloaded');
    return 2;
  }
  return serveRequest({
    installation,
    directory,
    key: env['WEIR_UPDATE_KEY'] ?? '',
    install: installAndListen,
    finish: async (version) => {
      let complained = '';
      const machine = await thisMachine(context);
      const listening = { ...machine, complain: (line: string) => complain((complained = line)) };
      const code = await switchRelease(listening, version, { withoutBackup: false });
      return { code, complained };
    },
    say,
    complain,
  });
}

export const upgradeCommand = programCommand({
  name: 'upgrade',
  about:
    'Upgrades an installed package: checks the file and the configuration, makes a backup, and starts the new release. Connections through the core stay open. If the new panel does not work, the previous release comes back, with its database.',
  operand: 'file',
  options: {
    file: optional(
      text()
        .max(MOST_PATH)
        .description('package, weir-<version>-linux-<machine>.tar.gz; compared with SHA256SUMS beside it'),
    ),
    release: optional(
      text().max(64).description('version of a release in /opt/weir/releases, instead of a file'),
    ),
    requested: optional(
      bool().description('install what the panel has downloaded and asked for, instead of a file'),
    ),
    withoutBackup: optional(bool().description('make no backup; for a panel that cannot make one any more')),
  },
  example: 'weir upgrade weir-0.2.0-linux-x64.tar.gz',
  act: async (context) => {
    const { options, say, complain } = context;
    const { file, release, withoutBackup = false } = options;
    if (options.requested) return upgradeAsRequested(context as never);
    if ((file === undefined) === (release === undefined)) {
      complain('name a package file, or a version with --release');
      return 2;
    }
    const machine = await thisMachine(context as never);
    if (release !== undefined) {
      const known = await machine.installation.releases();
      if (!isVersion(release) || !known.includes(release)) {
        complain(`there is no release ${release}; installed are ${known.join(', ')}`);
        return 1;
      }
      return switchRelease(machine, release, { withoutBackup });
    }
    const path = resolve(file ?? '');
    if (!(await verify(path))) complain(`there is no SHA256SUMS beside ${path}: its origin is not verified`);
    const folder = await machine.installation.draft();
    try {
      say(`unpacking ${path}`);
      await unpack(path, folder);
      return await install(folder, withoutBackup ? ['--without-backup'] : []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

export const rollbackCommand = programCommand({
  name: 'rollback',
  about:
    'Goes back to the release before the last upgrade. If migrations ran since, the database of before the upgrade must come back as well: that needs --database, because what was changed since is lost. Traffic that the running core still has in its counters is counted again.',
  options: {
    database: optional(bool().description('put the database of before the upgrade back, if migrations ran')),
  },
  example: 'weir rollback',
  act: async (context) => {
    return rollBack(await thisMachine(context as never), context.options.database === true);
  },
});
