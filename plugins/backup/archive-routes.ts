// The list of backups, and what is done to them.
import { createReadStream } from 'node:fs';
import {
  bool,
  int,
  list,
  type LiveSettings,
  optional,
  payload,
  route,
  type Route,
  shape,
  stream,
  text,
  withMessage,
  word,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { holdingOpen } from '../outgoing/contract.js';
import { type Archive, LOCAL, withDefault } from './archive/archive.js';
import type { BackupMaker } from './archive/backup-maker.js';
import { BackupName, listedBackup } from './archive/record.js';
import { decryptionFields, decryptionOf } from './decryption-fields.js';
import { errors } from './errors.js';
import { type Restore, summary } from './restore.js';
import type { Scheduler } from './schedule/scheduler.js';
import type { backupSettings } from './settings.js';

const EXAMPLE_NAME = 'weir_2026-11-23_040000.db';
const params = () => shape({ name: BackupName().example(EXAMPLE_NAME) });
const Place = () =>
  optional(
    word()
      .max(32)
      .pattern(/^[a-z][a-z0-9-]*$/)
      .description('local, or the name of a target; local by default')
      .example(LOCAL),
  );
const Status = shape({
  schedule: text().description('the setting backupSchedule'),
  nextAt: int().description('Unix ms of the next backup; 0: none is planned'),
  triedAt: int().description('Unix ms of the last attempt; 0: none'),
  doneAt: int().description('Unix ms of the last backup that was made and verified; 0: none'),
  problem: text().description('why the last backup or copy failed; blank if none did'),
  work: text().description('what is being done now; blank: nothing'),
  encryption: text().description('of the next backup: recipients, passphrase, or blank for none'),
  targets: list(shape({ name: text(), place: text().description('folder or bucket') })).description(
    'targets that are set up',
  ),
});

interface Scope {
  readonly archive: Archive;
  readonly scheduler: Scheduler;
  readonly restore: Restore;
  readonly maker: BackupMaker;
  readonly settings: LiveSettings<typeof backupSettings>;
  readonly audit?: AuditTrailApi | undefined;
}

export const archiveRoutes = ({ archive, scheduler, restore, maker, settings, audit }: Scope): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/x/backup/status',
    name: 'backup.status',
    doc: 'The schedule of backups, the last result, and what is being done now.',
    reply: payload(Status),
    handle: () => {
      const { recipients, passphrase } = maker.encryption();
      return {
        schedule: settings.read().backupSchedule,
        ...scheduler.status(),
        problem: scheduler.problem,
        work: archive.work,
        encryption: recipients.length > 0 ? 'recipients' : passphrase === '' ? '' : 'passphrase',
        targets: archive.targets().map(({ name, place }) => ({ name, place })),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/backup/list',
    name: 'backup.list',
    doc: 'The backups that this panel has made, the newest first, with their manifests. No file is opened for it.',
    query: shape({ place: Place() }),
    reply: payload(list(listedBackup)),
    errors: [errors.UNKNOWN_PLACE, errors.PLACE_OFF, errors.TARGET_FAILED],
    handle: (input) => holdingOpen(input.reply.progressed, () => archive.list(input.query.place)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/backup/run',
    name: 'backup.run',
    doc: 'Makes a backup now: copies the database, restores the copy into a scratch database to verify it, encrypts it, and copies it to all targets. Resolves when all of that is done; `verification` says whether it can be restored, and `copies` what targets have.',
    reply: payload(listedBackup),
    errors: [errors.AT_WORK, errors.NO_PROGRAM, errors.NOT_MADE],
    handle: (input) => holdingOpen(input.reply.progressed, () => scheduler.run('admin', input.who)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/backup/verify/{name}',
    name: 'backup.verify',
    doc: 'Verifies a backup: compares the file with its SHA-256 and restores it into a scratch database. An encrypted one is only restored with an identity or a passphrase; the panel has its own passphrase, and never an identity.',
    params: params(),
    body: shape({ place: Place(), ...decryptionFields() }).example({ place: LOCAL }),
    reply: payload(listedBackup),
    errors: [
      errors.AT_WORK,
      errors.UNKNOWN,
      errors.UNKNOWN_PLACE,
      errors.PLACE_OFF,
      errors.TARGET_FAILED,
      errors.NO_PROGRAM,
      errors.WRONG_KEY,
      errors.BUSY,
      errors.NOT_VERIFIED,
    ],
    handle: async (input) => {
      const { place = LOCAL, ...keys } = input.body;
      const decryption = await decryptionOf(keys);
      return holdingOpen(input.reply.progressed, () =>
        archive.exclusively('verifying a backup', () =>
          archive.verify(input.params.name, place, decryption, input.who),
        ),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/backup/download/{name}',
    name: 'backup.download',
    doc: 'The file of a backup, as it is stored: encrypted, if it was encrypted.',
    params: params(),
    query: shape({ place: Place() }),
    reply: stream('application/octet-stream'),
    errors: [
      errors.UNKNOWN,
      errors.UNKNOWN_PLACE,
      errors.PLACE_OFF,
      errors.TARGET_FAILED,
      errors.CHANGED,
      errors.BUSY,
    ],
    handle: async (input) => {
      const { name } = input.params;
      const { place = LOCAL } = input.query;
      const { manifest, problem } = await holdingOpen(input.reply.progressed, () =>
        archive.find(name, place),
      );
      if (problem !== '') throw errors.CHANGED(problem);
      if (input.method === 'HEAD') return { body: () => [] as never, fileName: name, length: manifest.bytes };
      await audit?.act('download', input.who, { name: 'backup', facts: { file: name, place } });
      const opened = await holdingOpen(input.reply.progressed, () => archive.open(name, place));
      const body = createReadStream(opened.path);
      // The file system retains the content of a file that is open.
      body.once('open', () => void opened.close());
      body.once('close', () => void opened.close());
      // Nobody reads the stream of a caller who has left meanwhile.
      if (input.signal.aborted) body.destroy();
      else input.signal.addEventListener('abort', () => body.destroy(), { once: true });
      return { body, fileName: name, length: opened.record.manifest.bytes };
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/backup/delete/{name}',
    name: 'backup.delete',
    doc: 'Deletes a backup in one place. The newest verified one is only deleted with `force`.',
    params: params(),
    body: shape({ place: Place(), force: optional(bool()) }).example({ place: LOCAL }),
    reply: payload(text()),
    errors: [
      errors.AT_WORK,
      errors.UNKNOWN,
      errors.UNKNOWN_PLACE,
      errors.PLACE_OFF,
      errors.LAST_VERIFIED,
      errors.TARGET_FAILED,
    ],
    handle: async (input) => {
      const { place = LOCAL, force = false } = input.body;
      const { name } = input.params;
      await holdingOpen(input.reply.progressed, () =>
        archive.exclusively('deleting a backup', () => archive.remove(name, place, input.who, force)),
      );
      return withMessage('', `the backup ${name} is deleted`);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/backup/restore/{name}',
    name: 'backup.restoreListed',
    doc: 'Restores a backup of the list, as importDB restores a file. The panel restarts then.',
    params: params(),
    body: shape({
      place: Place(),
      keepHostSettings: optional(
        bool().description('false: addresses, ports, certificates and base path come from the backup too'),
      ),
      secretsKey: optional(
        text().max(4096).description('content of the `secrets.key` of the backup, if it is another one'),
      ),
      ...decryptionFields(),
    }).example({ place: LOCAL }),
    reply: payload(text()),
    errors: [
      errors.AT_WORK,
      errors.UNKNOWN,
      errors.UNKNOWN_PLACE,
      errors.PLACE_OFF,
      errors.TARGET_FAILED,
      errors.NO_PROGRAM,
      errors.CHANGED,
      errors.BUSY,
      errors.RESTORING,
      errors.NEEDS_KEY,
      errors.NOT_RESTORED,
    ],
    handle: async (input) => {
      const { place = LOCAL, keepHostSettings = true, secretsKey = '', ...keys } = input.body;
      const given = await decryptionOf(keys);
      const work = async () => {
        const opened = await archive.open(input.params.name, place);
        try {
          await archive.refuseChanged(opened);
          const { encryption } = opened.record.manifest;
          return await restore.restore({
            path: opened.path,
            who: input.who,
            origin: { file: input.params.name, place },
            keepHostSettings,
            keys: secretsKey.split(/\s+/),
            decryption: withDefault(given, encryption, maker.encryption().passphrase),
          });
        } finally {
          await opened.close();
        }
      };
      const result = await holdingOpen(input.reply.progressed, () =>
        archive.exclusively('restoring a backup', work),
      );
      input.reply.header('connection', 'close');
      return withMessage('', `the backup is restored and the panel restarts: ${summary(result)}`);
    },
  }),
];
