// Backups for plugins that send them to people.
import type { AuditTrailApi } from '../../audit/contract.js';
import type { BackupsApi } from '../contract.js';
import { errors } from '../errors.js';
import type { Scheduler } from '../schedule/scheduler.js';
import { type Archive, LOCAL } from './archive.js';
import { isVerified } from './record.js';

interface Parts {
  readonly scheduler: Scheduler;
  readonly archive: Archive;
  readonly audit: AuditTrailApi | undefined;
}

export const backupsForPlugins = ({ scheduler, archive, audit }: Parts): BackupsApi => ({
  async make(who) {
    const made = await scheduler.run('admin', who);
    const { name, bytes, encryption } = made.manifest;
    if (!isVerified(made)) throw errors.NOT_MADE(`the backup ${name} cannot be restored`);
    return {
      name,
      bytes,
      isEncrypted: encryption !== '',
      open: async () => {
        await audit?.act('download', who, { name: 'backup', facts: { file: name, place: LOCAL } });
        return archive.open(name, LOCAL);
      },
    };
  },
});
