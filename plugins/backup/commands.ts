import { open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { bool, command, type Command, optional, Refusal, text } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { type Restore, summary } from './restore.js';
import type { Snapshots } from './snapshots.js';

const MOST_KEY_BYTES = 4096;

/** Lines of a file of keys. */
async function keysIn(path: string): Promise<string[]> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_KEY_BYTES + 1), 0, MOST_KEY_BYTES + 1, 0);
    if (bytesRead > MOST_KEY_BYTES) throw new Refusal(`--key: ${path} is too large for a file of keys`);
    return buffer.toString('latin1', 0, bytesRead).split(/\r?\n/);
  } finally {
    await file.close();
  }
}

export const commands = ({
  snapshots,
  restore,
  audit,
}: {
  snapshots: Snapshots;
  restore: Restore;
  audit?: AuditTrailApi | undefined;
}): Command[] => [
  command({
    name: 'backup',
    about: 'Copies the database to a SQLite file, while the panel runs. Prints the path of the file.',
    options: {
      folder: optional(
        text().max(4096).description('absolute path of the folder; by default backups/ in the data folder'),
      ),
    },
    example: 'weir backup --folder /var/backups',
    run: async ({ options: { folder }, who, say }) => {
      if (folder !== undefined && !isAbsolute(folder))
        throw new Refusal(`--folder must be an absolute path, and "${folder}" is not`);
      await audit?.act('backup', who, { name: 'backup', facts: { folder: folder ?? '' } });
      say(await snapshots.writeTo(folder));
    },
  }),
  command({
    name: 'backup restore',
    about:
      'Restores a backup in the panel that runs, which restarts then. `weir restore` does the same, with and without a panel, and waits for the result.',
    options: {
      file: text().max(4096).description('absolute path of the SQLite file'),
      key: optional(
        text().max(4096).description('absolute path of the `secrets.key` that belongs to the backup'),
      ),
      allSettings: optional(
        bool().description('take addresses, ports, certificates and base path from the backup as well'),
      ),
    },
    example: 'weir backup restore --file /var/backups/weir_2026-11-23_040000.db',
    run: async ({ options: { file, key, allSettings = false }, who, say }) => {
      for (const [name, path] of [
        ['file', file],
        ['key', key],
      ] as const)
        if (path !== undefined && !isAbsolute(path))
          throw new Refusal(`--${name} must be an absolute path, and "${path}" is not`);
      const result = await restore.restore({
        path: file,
        who,
        keepHostSettings: !allSettings,
        ...(key !== undefined && { keys: await keysIn(key) }),
      });
      say(`restored ${summary(result)}; the panel restarts`);
    },
  }),
];
