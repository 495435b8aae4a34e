import { definePlugin, maybe, singleton } from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { ArchiveImporter } from './archive-importer.js';
import { ArchiveWriter } from './archive-writer.js';
import { commands } from './commands.js';
import { RELEASE } from './format.js';
import { Parts } from './parts.js';
import { routes } from './routes.js';

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
  commands,
  routes,
});
