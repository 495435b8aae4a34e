import { resolve } from 'node:path';
import { bool, command, type Command, optional, text } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { writeArchiveFile } from './archive-file.js';
import type { ArchiveImporter } from './archive-importer.js';
import type { ArchiveWriter, Written } from './archive-writer.js';
import { told } from './told.js';

interface Scope {
  readonly writer: ArchiveWriter;
  readonly importer: ArchiveImporter;
  readonly audit?: AuditTrailApi | undefined;
}

export const commands = ({ writer, importer, audit }: Scope): Command[] => [
  command({
    name: 'export',
    about:
      'Writes what you own to an archive of JSON lines that other programs can read: inbounds, clients with their credentials and counters, hosts and the rest, while the panel runs.',
    options: {
      file: text().max(4096).description('path of the new file; compressed if the name ends with .gz'),
      secrets: optional(
        bool().description('also tokens and passwords that open other machines and accounts'),
      ),
    },
    operand: 'file',
    example: 'weir export /var/backups/panel.jsonl.gz',
    run: async ({ options, folder, who, say, signal }) => {
      const { secrets = false } = options;
      const file = resolve(folder, options.file);
      await audit?.act('download', who, { name: 'archive', facts: { file, secrets } });
      let written: Written | undefined;
      const pieces = writer.pieces({ secrets, at: new Date() }, (facts) => void (written = facts));
      await writeArchiveFile(file, pieces, signal);
      for (const [kind, count] of Object.entries(written?.records ?? {})) {
        const sums = Object.entries(written?.sums[kind] ?? {}).map(([name, sum]) => `${name} ${sum}`);
        say(`${kind}: ${count}${sums.length > 0 ? ` (sums: ${sums.join(', ')})` : ''}`);
      }
      say(
        `written to ${file}. It has the credentials of all clients and the private keys of inbounds${secrets ? ', and what opens other machines and accounts' : ''}: keep it private`,
      );
    },
  }),
  command({
    name: 'import archive',
    about:
      'Takes from an archive of `weir export` what is new here, and leaves what is here already. Without --apply, it only says what it would do.',
    options: {
      file: text().max(4096).description('path of the archive'),
      apply: optional(bool().description('import it; without this, nothing is changed')),
      settings: optional(bool().description('settings of the archive replace those of this panel')),
    },
    operand: 'file',
    example: 'weir import archive /var/backups/panel.jsonl.gz --apply',
    run: async ({ options, folder, who, say, signal }) => {
      const { apply = false, settings = false } = options;
      const file = resolve(folder, options.file);
      if (apply) await audit?.act('import', who, { name: 'archive', facts: { file } });
      for (const line of told(await importer.run(file, { apply, settings, who, signal }))) say(line);
    },
  }),
];
