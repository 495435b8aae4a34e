import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bool, command, type Command, optional, Refusal, text } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { Archive } from './archive/archive.js';
import type { BackupMaker } from './archive/backup-maker.js';
import type { ListedBackup } from './archive/record.js';
import {
  type Decryption,
  type Encryption,
  identityProblem,
  recipientProblem,
} from './encryption/age-file.js';
import { type Restore, summary } from './restore.js';
import type { Scheduler } from './schedule/scheduler.js';
import type { Snapshots } from './snapshots.js';

const MOST_KEY_BYTES = 4096;
const MOST_IDENTITY_BYTES = 32_768;

/** Lines of a file of keys. */
async function linesIn(option: string, path: string, most: number): Promise<string[]> {
  const unreadable = (error: NodeJS.ErrnoException): never => {
    throw new Refusal(`--${option}: ${path} cannot be read: ${error.code ?? error.message}`);
  };
  const file = await open(path).catch(unreadable);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most + 1), 0, most + 1, 0).catch(unreadable);
    if (bytesRead > most) throw new Refusal(`--${option}: ${path} is too large for a file of keys`);
    return buffer.toString('latin1', 0, bytesRead).split(/\r?\n/);
  } finally {
    await file.close();
  }
}

async function decryptionFrom(identity?: string, passphraseFile?: string): Promise<Decryption> {
  const identities = identity === undefined ? [] : await linesIn('identity', identity, MOST_IDENTITY_BYTES);
  const problem = identity === undefined ? undefined : await identityProblem(identities);
  if (problem !== undefined) throw new Refusal(`--identity: ${identity} cannot be used: ${problem}`);
  const [passphrase = ''] =
    passphraseFile === undefined
      ? []
      : await linesIn('passphrase-file', passphraseFile, MOST_KEY_BYTES).then((lines) =>
          lines.map((line) => Buffer.from(line, 'latin1').toString('utf8')),
        );
  return { identities, passphrase };
}

/** What a backup is encrypted with: the keys of the option, or what the settings say. */
async function encryptionFor(
  maker: BackupMaker,
  encrypt: boolean,
  recipients: string | undefined,
): Promise<Encryption | undefined> {
  const keys = (recipients ?? '').split(/[\s,]+/).filter((key) => key !== '');
  for (const [i, key] of keys.entries()) {
    const problem = await recipientProblem(key);
    if (problem !== undefined) throw new Refusal(`--recipients: key number ${i + 1}: ${problem}`);
  }
  if (keys.length > 0) return { recipients: keys, passphrase: '' };
  if (recipients !== undefined) throw new Refusal('--recipients has no key');
  if (!encrypt) return undefined;
  const encryption = maker.encryption();
  if (encryption.recipients.length === 0 && encryption.passphrase === '')
    throw new Refusal('--encrypt needs the setting backupRecipients or backupPassphrase, or --recipients');
  return encryption;
}

/** `weir_2026-11-23_040000.db  verified  12 clients  3 inbounds  1.2 MB  s3` */
function line({ manifest, verification, copies, problem }: ListedBackup): string {
  const { name, counts, bytes, encryption } = manifest;
  const copied = Object.entries(copies).map(([target, copy]) =>
    copy.problem === '' ? target : `not at ${target}: ${copy.problem}`,
  );
  const state = problem !== '' ? problem : `${verification.state} ${verification.problem}`.trim();
  return (
    [
      name,
      state,
      `${counts.clients} clients`,
      `${counts.inbounds} inbounds`,
      `${(bytes / 1_000_000).toFixed(1)} MB`,
      ...(encryption === '' ? [] : [`encrypted with ${encryption}`]),
      ...copied,
    ]
      .join('  ')
      // A record at a target may hold what moves the cursor of a terminal.
      .replaceAll(/\p{Cc}/gu, '?')
  );
}

interface Scope {
  readonly snapshots: Snapshots;
  readonly restore: Restore;
  readonly archive: Archive;
  readonly maker: BackupMaker;
  readonly scheduler: Scheduler;
  readonly audit?: AuditTrailApi | undefined;
}

export const commands = ({ snapshots, restore, archive, maker, scheduler, audit }: Scope): Command[] => [
  command({
    name: 'backup',
    about: 'Copies the database to a SQLite file, while the panel runs. Prints the path of the file.',
    options: {
      folder: optional(
        text().max(4096).description('path of the folder; by default backups/ in the data folder'),
      ),
      encrypt: optional(
        bool().description('encrypt it with the public keys or the passphrase of the settings'),
      ),
      recipients: optional(
        text().max(32_768).description('encrypt it for these public keys of age; comma-separated'),
      ),
    },
    example: 'weir backup --folder /var/backups',
    run: async ({ options, folder: caller, who, say }) => {
      const { encrypt = false, recipients } = options;
      const folder = options.folder === undefined ? undefined : resolve(caller, options.folder);
      const encryption = await encryptionFor(maker, encrypt, recipients);
      await audit?.act('backup', who, { name: 'backup', facts: { folder: folder ?? '' } });
      say(await snapshots.writeTo(folder, encryption));
    },
  }),
  command({
    name: 'backups',
    about: 'Lists the backups that the panel has made and verified, the newest first.',
    options: {
      place: optional(text().max(32).description('name of a target, such as s3; by default the data folder')),
    },
    example: 'weir backups --place s3',
    run: async ({ options: { place }, say }) => {
      const backups = await archive.list(place);
      for (const backup of backups) say(line(backup));
      if (backups.length === 0) say('there is no backup yet; `weir backups run` makes one');
    },
  }),
  command({
    name: 'backups run',
    about: 'Makes a backup now, as the schedule does: verified, encrypted, copied to the targets.',
    example: 'weir backups run',
    run: async ({ say, who }) => {
      const made = await scheduler.run('admin', who);
      say(line(made));
      if (made.verification.state !== 'verified')
        throw new Refusal(`the backup cannot be restored: ${made.verification.problem}`);
    },
  }),
  command({
    name: 'backup restore',
    about:
      'Restores a backup in the panel that runs, which restarts then. `weir restore` does the same, with and without a panel, and waits for the result.',
    options: {
      file: text().max(4096).description('path of the SQLite file, or of an encrypted one'),
      key: optional(text().max(4096).description('path of the `secrets.key` that belongs to the backup')),
      identity: optional(
        text().max(4096).description('path of the identity file that opens an encrypted backup'),
      ),
      passphraseFile: optional(
        text().max(4096).description('path of a file whose first line is the passphrase'),
      ),
      allSettings: optional(
        bool().description('take addresses, ports, certificates and base path from the backup as well'),
      ),
    },
    example: 'weir backup restore --file /var/backups/weir_2026-11-23_040000.db',
    run: async ({ options, folder, who, say }) => {
      const { allSettings = false } = options;
      const from = (path: string | undefined): string | undefined =>
        path === undefined ? undefined : resolve(folder, path);
      const key = from(options.key);
      const identity = from(options.identity);
      const passphraseFile = from(options.passphraseFile);
      const given = await decryptionFrom(identity, passphraseFile);
      const isGiven = identity !== undefined || passphraseFile !== undefined;
      const result = await restore.restore({
        path: resolve(folder, options.file),
        who,
        keepHostSettings: !allSettings,
        decryption: isGiven ? given : { identities: [], passphrase: maker.encryption().passphrase },
        ...(key !== undefined && { keys: await linesIn('key', key, MOST_KEY_BYTES) }),
      });
      say(`restored ${summary(result)}; the panel restarts`);
    },
  }),
];
