import { definePlugin, maybe, provide, singleton } from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { ArchiveImporter } from './archive-importer.js';
import { ArchiveWriter } from './archive-writer.js';
import { commands } from './commands.js';
import { type ArchiveRecord, ArchiveRecords } from './contract.js';
import { RELEASE } from './format.js';
import { Parts } from './parts.js';
import { routes } from './routes.js';

async function* nothing(): AsyncGenerator<never> {}

export default definePlugin({
  name: 'archive',
  version: RELEASE,
  api: 1,
  about: 'Writes what an admin owns to a portable archive, and takes it back.',
  uses: { audit: maybe(AuditTrail) },
  services: {
    parts: singleton(Parts),
    writer: singleton(ArchiveWriter),
    importer: singleton(ArchiveImporter),
  },
  provides: ({ parts }) => [
    provide(ArchiveRecords, {
      of: (kind) =>
        (parts
          .inOrder()
          .find(({ value }) => value.kind === kind)
          ?.value.export({ secrets: false }) ?? nothing()) as AsyncIterable<readonly ArchiveRecord[]>,
    }),
  ],
  commands,
  routes,
});
