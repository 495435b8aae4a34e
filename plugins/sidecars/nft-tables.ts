// Removes tables of nftables that a program's plugin made, where the plugin does not run any more.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../kernel/index.js';
import { minimalEnvironment } from '../processes/contract.js';

const LIMIT_MS = 10_000;
const SYSTEM_FOLDERS = '/usr/sbin:/sbin:/usr/bin:/bin';
/** A name of a panel's own: a record that came from elsewhere must not name the firewall of this machine. */
const NAME = /^weir_[a-z0-9_]{1,40}$/;
export const MOST_TABLES = 16;

export const isTableName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

/** Removes tables of the family inet, whether they are there or not. Rejects with the command that removes them. */
export async function removeTables(names: readonly string[]): Promise<void> {
  for (const name of names.filter(isTableName)) {
    const nft = promisify(execFile)('nft', ['-f', '-'], {
      env: { ...minimalEnvironment(), PATH: [SYSTEM_FOLDERS, process.env['PATH']].join(':') },
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    nft.child.stdin?.on('error', () => undefined).end(`table inet ${name}\ndelete table inet ${name}\n`);
    try {
      await nft;
    } catch (error) {
      const [reason] = messageOf(error).split('\n');
      throw new Error(`run "nft delete table inet ${name}" as root: ${reason}`, { cause: error });
    }
  }
}
