// `weir restore`: puts a backup in the place of the panel's database, whether a panel runs or not.
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastRestore } from '../panel/restore/swap.js';
import { restoreOffline } from '../panel/restore/restore-offline.js';
import { askPanel } from '../plugins/command-line/channel.js';
import { bool, optional, text } from '../schema/shape.js';
import { programCommand } from './program-command.js';

/** How long a restart with the restored database may take. */
const RESTART_MS = 5 * 60_000;
const LOOK_MS = 200;
const MOST_KEY_BYTES = 32_768;

async function linesOf(path: string): Promise<string[]> {
  const { size } = await stat(path);
  if (size > MOST_KEY_BYTES) throw new Error(`${path} is too large for a file of keys`);
  return (await readFile(path, 'utf8')).split(/\r?\n/);
}

export const restoreCommand = programCommand({
  name: 'restore',
  about:
    'Restores a backup: makes a new database of it, checks it, and puts it in the place of the present one, which stays in backups/ of the data folder. Works with and without a running panel.',
  operand: 'file',
  options: {
    file: text().max(4096).description('file of `weir backup` or getDb; it may be encrypted'),
    key: optional(
      text()
        .max(4096)
        .description('path of the `secrets.key` that belongs to the backup, if it is another one'),
    ),
    identity: optional(
      text().max(4096).description('path of the identity file of age that opens an encrypted backup'),
    ),
    passphraseFile: optional(
      text().max(4096).description('path of a file whose first line is the passphrase of the backup'),
    ),
    allSettings: optional(
      bool().description('take addresses, ports, certificates and base path from the backup as well'),
    ),
  },
  example: 'weir restore /var/backups/weir_2026-11-23_040000.db',
  act: async ({
    env,
    directory,
    options: { file, key, identity, passphraseFile, allSettings = false },
    say,
    complain,
  }) => {
    const path = resolve(file);
    const keyFile = key === undefined ? undefined : resolve(key);
    const began = Date.now();
    const exit = await askPanel(
      directory,
      [
        'backup',
        'restore',
        `--file=${path}`,
        ...(keyFile === undefined ? [] : [`--key=${keyFile}`]),
        ...(identity === undefined ? [] : [`--identity=${resolve(identity)}`]),
        ...(passphraseFile === undefined ? [] : [`--passphrase-file=${resolve(passphraseFile)}`]),
        ...(allSettings ? ['--all-settings'] : []),
      ],
      { say, complain },
    );
    if (exit === undefined) {
      const keys = keyFile === undefined ? [] : await linesOf(keyFile);
      const { rows, leftOut, isHostKept } = await restoreOffline({
        env,
        path,
        keepHostSettings: !allSettings,
        keys,
        decryption: {
          identities: identity === undefined ? [] : await linesOf(identity),
          passphrase: passphraseFile === undefined ? '' : ((await linesOf(passphraseFile))[0] ?? ''),
        },
      });
      say(`restored ${Object.values(rows).reduce((sum, count) => sum + count, 0)} rows`);
      if (leftOut.length > 0)
        complain(`not restored, as this release does not know them: ${leftOut.join(', ')}`);
      if (!allSettings && !isHostKept)
        complain('there was no database to keep addresses and ports of: those of the backup hold');
      return 0;
    }
    if (exit !== 0) return exit;
    for (const deadline = Date.now() + RESTART_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
      const last = await lastRestore(directory);
      if (!last || last.at < began || last.state === 'under way') continue;
      if (last.state === 'done') {
        say('the panel runs with the restored database');
        return 0;
      }
      complain(`the restore failed, and the previous database is in use: ${last.problem}`);
      return 1;
    }
    complain('the panel has not restarted yet; see its log');
    return 1;
  },
});
