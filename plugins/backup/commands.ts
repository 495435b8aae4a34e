import { isAbsolute } from 'node:path';
import { command, type Command, optional, Refusal, text } from '../../kernel/index.js';
import type { Snapshots } from './snapshots.js';

export const commands = ({ snapshots }: { snapshots: Snapshots }): Command[] => [
  command({
    name: 'backup',
    about: 'Copies the database to a SQLite file, while the panel runs. Prints the path of the file.',
    options: {
      folder: optional(
        text().max(4096).description('absolute path of the folder; by default backups/ in the data folder'),
      ),
    },
    example: 'weir backup --folder /var/backups',
    run: async ({ options: { folder }, say }) => {
      if (folder !== undefined && !isAbsolute(folder))
        throw new Refusal(`--folder must be an absolute path, and "${folder}" is not`);
      say(await snapshots.writeTo(folder));
    },
  }),
];
