import {
  contribute,
  definePlugin,
  job,
  kernelReady,
  maybe,
  provide,
  singleton,
  tap,
} from '../../kernel/index.js';
import { WatchedStates } from '../alarms/contract.js';
import { audited, AuditedHooks, AuditTrail } from '../audit/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { ServerStatus } from '../server-status/contract.js';
import { beforeSettingsSave, PanelIdentity, Settings } from '../settings/contract.js';
import { PanelProgram } from '../system/contract.js';
import { Archive } from './archive/archive.js';
import { BackupMaker } from './archive/backup-maker.js';
import { backupsForPlugins } from './archive/backups-for-plugins.js';
import { LocalFolder } from './archive/local-folder.js';
import { archiveRoutes } from './archive-routes.js';
import { commands } from './commands.js';
import { Backups, BackupTargets, duringBackupChange, PanelDatabase } from './contract.js';
import { downloadRoutes } from './download.js';
import { refuseBadKeys } from './encryption/refuse-bad-keys.js';
import { Restore } from './restore.js';
import { restoreRoutes } from './restore-routes.js';
import { Scheduler } from './schedule/scheduler.js';
import { backupSettings } from './settings.js';
import { Snapshots } from './snapshots.js';
import { FolderTarget } from './targets/folder-target.js';
import { failedBackup } from './notified.js';

export default definePlugin({
  name: 'backup',
  version: '0.1.0',
  api: 1,
  about: 'Backs up the database by a schedule, verifies and encrypts backups, and restores them.',
  uses: {
    database: maybe(PanelDatabase),
    program: maybe(PanelProgram),
    status: maybe(ServerStatus),
    identity: PanelIdentity,
    allSettings: Settings,
    audit: maybe(AuditTrail),
  },
  settings: backupSettings,
  hooks: [duringBackupChange],
  services: {
    snapshots: singleton(Snapshots),
    restore: singleton(Restore),
    localFolder: singleton(LocalFolder),
    maker: singleton(BackupMaker),
    archive: singleton(Archive),
    folderTarget: singleton(FolderTarget),
    scheduler: singleton(Scheduler),
  },
  provides: (scope) => [provide(Backups, backupsForPlugins(scope))],
  contributes: ({ folderTarget, scheduler }) => [
    contribute(BackupTargets, folderTarget),
    contribute(NotifiedEvents, failedBackup),
    contribute(WatchedStates, { name: 'backup', problem: () => scheduler.problem }),
    contribute(
      AuditedHooks,
      audited({
        area: 'backup',
        hook: duringBackupChange,
        describe: ({ kind, name, place, before, after }) => ({ kind, name, id: place, before, after }),
      }),
    ),
  ],
  taps: ({ scheduler, log, signal }) => [
    tap(beforeSettingsSave, (save) => refuseBadKeys(save), { strict: true }),
    // A backup that was missed while the panel was off takes minutes, and an event must not.
    tap(kernelReady, () => {
      void scheduler.look().catch((error: unknown) => {
        if (!signal.aborted) log.error('the look at the backup schedule failed', { reason: String(error) });
      });
    }),
  ],
  routes: (scope) => [
    ...downloadRoutes(scope.snapshots, scope.audit),
    ...restoreRoutes(scope.restore),
    ...archiveRoutes(scope),
  ],
  commands,
  jobs: ({ scheduler }) => [job('schedule', '1m', () => scheduler.look())],
  start: async ({ snapshots, restore, archive, scheduler }) => {
    await snapshots.start();
    await restore.start();
    await archive.start();
    await scheduler.start();
  },
});
