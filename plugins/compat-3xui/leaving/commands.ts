import { resolve } from 'node:path';
import { command, type Command, text } from '../../../kernel/index.js';
import type { AuditTrailApi } from '../../audit/contract.js';
import type { Leaving } from './leaving.js';

const MOST_SHOWN = 50;

export const commands = ({
  leaving,
  audit,
}: {
  leaving: Leaving;
  audit?: AuditTrailApi | undefined;
}): Command[] => [
  command({
    name: 'export 3x-ui',
    about:
      'Writes inbounds and clients in the form that 3x-ui imports, to a new folder. Its READ-ME.txt says how to import them there.',
    options: { folder: text().max(4096).description('path of the new folder') },
    operand: 'folder',
    example: 'weir export 3x-ui /var/backups/to-3x-ui',
    run: async ({ options, folder: caller, who, say, signal }) => {
      const folder = resolve(caller, options.folder);
      await audit?.act('download', who, { name: '3x-ui', facts: { folder } });
      const { inbounds, clients, notes } = await leaving.write(folder, signal);
      say(`${inbounds} inbounds and ${clients} clients are in ${folder}`);
      for (const note of notes.slice(0, MOST_SHOWN)) say(`  ${note}`);
      say(
        'READ-ME.txt says how to import them. The folder has the credentials of all clients: keep it private',
      );
    },
  }),
];
