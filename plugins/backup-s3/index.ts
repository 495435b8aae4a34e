// S3 as a target of backups.
import { contribute, definePlugin, singleton } from '../../kernel/index.js';
import { BackupTargets } from '../backup/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { S3Target } from './s3-target.js';
import { s3Settings } from './settings.js';

export default definePlugin({
  name: 'backup-s3',
  version: '0.1.0',
  api: 1,
  about: 'Copies backups to a bucket of S3, or of a service with the same API.',
  uses: { outgoing: Outgoing },
  settings: s3Settings,
  services: { target: singleton(S3Target) },
  contributes: ({ target }) => [contribute(BackupTargets, target), contribute(OutgoingHosts, target.access)],
});
