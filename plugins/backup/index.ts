import { definePlugin, maybe, singleton } from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { commands } from './commands.js';
import { PanelDatabase } from './contract.js';
import { downloadRoutes } from './download.js';
import { Restore } from './restore.js';
import { restoreRoutes } from './restore-routes.js';
import { Snapshots } from './snapshots.js';
import { PanelProgram } from '../system/contract.js';

export default definePlugin({
  name: 'backup',
  version: '0.1.0',
  api: 1,
  about: 'Backs up the database, and restores it.',
  uses: { database: maybe(PanelDatabase), program: maybe(PanelProgram), audit: maybe(AuditTrail) },
  services: { snapshots: singleton(Snapshots), restore: singleton(Restore) },
  routes: ({ snapshots, restore, audit }) => [...downloadRoutes(snapshots, audit), ...restoreRoutes(restore)],
  commands,
  start: async ({ snapshots, restore }) => {
    await snapshots.start();
    await restore.start();
  },
});
