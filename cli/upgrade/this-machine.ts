// The machine that an upgrade runs on: its service, and the user of the data folder.
import { fork } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfigFile } from '../../panel/config-file.js';
import { appliedMigrations, databaseAddress } from '../../panel/inspect-data.js';
import type { ProgramContext } from '../program-command.js';
import { Installation } from './installation.js';
import { runProgram } from './run-program.js';
import { systemd } from './service.js';
import type { Machine } from './switch-release.js';
import type { Wanted } from './put-back.js';

const ENTRY = fileURLToPath(new URL('./put-back-process.js', import.meta.url));
/** `<root>/releases/<version>/app/dist/cli/upgrade/` */
const ROOT = fileURLToPath(new URL('../../../../../../', import.meta.url)).replace(/\/$/, '');
const COMMAND_LIMIT_MS = 30 * 60_000;
/** A panel that hangs must not hold up the way back. */
const HEALTH_LIMIT_MS = 60_000;
const START_LIMIT_MS = 5 * 60_000;
const SETTLED_MS = 2_000;

type PutBack = { readonly copy?: string; readonly kept?: string; readonly problem?: string };

/** Runs as the owner of the folder. */
async function putBackAsOwner(
  directory: string,
  wanted: Wanted,
): Promise<{ copy: string; kept: string } | undefined> {
  const { uid, gid } = await stat(directory);
  return new Promise((resolve, reject) => {
    const child = fork(ENTRY, { uid, gid, cwd: '/', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    let answer: PutBack = { problem: 'the process that restores the database exited' };
    child.on('message', (message) => (answer = message as PutBack));
    child.on('error', reject);
    child.on('close', () => {
      const { copy, kept = '', problem } = answer;
      if (problem !== undefined) reject(new Error(`the database could not be put back: ${problem}`));
      else resolve(copy === undefined ? undefined : { copy, kept });
    });
    child.send({ directory, wanted });
  });
}

/** Where this program is installed. */
export const ownInstallation = (): Installation => new Installation(ROOT);

/** Rejects with a sentence where no package is installed, or without the rights. */
export async function thisMachine({ env, directory, say, complain }: ProgramContext): Promise<Machine> {
  const installation = ownInstallation();
  if ((await installation.current()) === undefined)
    throw new Error(
      'this Weir does not come from an installed package (docs/install.md); update a checkout with git, and a container with its image',
    );
  if (process.getuid?.() !== 0) throw new Error('run this as root: it changes the service');
  if (!(await stat('/run/systemd/system').catch(() => undefined)))
    throw new Error(
      'systemd does not run here; run install.sh --no-start and restart the panel with SIGUSR2',
    );
  const problems: string[] = [];
  const address = databaseAddress(env, await readConfigFile(env), problems);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return {
    installation,
    service: systemd,
    weir: (release, argv) =>
      runProgram(
        join(installation.folderOf(release), 'bin', 'weir'),
        argv,
        argv[0] === 'health' ? HEALTH_LIMIT_MS : COMMAND_LIMIT_MS,
      ),
    applied: () => appliedMigrations(address, directory),
    putBack: (wanted) => putBackAsOwner(directory, wanted),
    isFile: address === undefined,
    say,
    complain,
    limitMs: START_LIMIT_MS,
    settledMs: SETTLED_MS,
  };
}
