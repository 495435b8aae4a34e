// Makes one backup in the data folder: copied, verified, encrypted, read back, and only then listed.
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Clock, type LiveSettings, messageOf } from '../../../kernel/index.js';
import type { ServerStatusApi } from '../../server-status/contract.js';
import type { PanelIdentityApi } from '../../settings/contract.js';
import type { PanelDatabaseApi } from '../contract.js';
import { encryptInThread } from '../encryption/encrypt-in-thread.js';
import type { Encryption, WrittenFile } from '../encryption/age-file.js';
import { errors } from '../errors.js';
import type { backupSettings } from '../settings.js';
import { contentOf } from './counts.js';
import { digestOf } from './digest.js';
import type { LocalFolder } from './local-folder.js';
import { type BackupRecord, FORMAT, type Manifest } from './record.js';
import { isFullDisk, restoreProblem, untilStopped } from './verifier.js';

interface Needs {
  readonly database: PanelDatabaseApi | undefined;
  readonly status: ServerStatusApi | undefined;
  readonly identity: PanelIdentityApi;
  readonly localFolder: LocalFolder;
  readonly settings: LiveSettings<typeof backupSettings>;
  readonly clock: Clock;
  readonly dataDirectory: string;
}
type Made = Omit<Manifest, 'name'>;

const kindOf = ({ recipients, passphrase }: Encryption): Manifest['encryption'] =>
  recipients.length > 0 ? 'recipients' : passphrase === '' ? '' : 'passphrase';

export class BackupMaker {
  readonly #needs: Needs;
  #count = 0;

  constructor({ database, status, identity, localFolder, settings, clock, dataDirectory }: Needs) {
    this.#needs = { database, status, identity, localFolder, settings, clock, dataDirectory };
  }

  encryption(): Encryption {
    const { backupRecipients, backupPassphrase } = this.#needs.settings.read();
    return { recipients: backupRecipients, passphrase: backupRecipients.length > 0 ? '' : backupPassphrase };
  }

  /** Resolves with a record that may say that the verification failed. Rejects with a sentence where there is no backup; nothing is left then. */
  async make(by: Manifest['by'], signal: AbortSignal): Promise<BackupRecord> {
    const { database, localFolder, dataDirectory, clock } = this.#needs;
    if (!database) throw errors.NO_PROGRAM();
    const encryption = this.encryption();
    const isEncrypted = kindOf(encryption) !== '';
    // The start removes both: drafts of this folder, and everything in `snapshots`.
    const draft = await localFolder.draft();
    const plain = isEncrypted ? await this.#scratch(dataDirectory) : draft;
    try {
      const createdAt = clock.now();
      await untilStopped(database.snapshot(plain), signal);
      const content = await digestOf(plain, signal);
      const facts = await contentOf(database, plain);
      const problem = await restoreProblem(database, plain, facts.counts, signal);
      if (isFullDisk(problem)) throw new Error(`it cannot be verified: ${problem}`);
      const file = isEncrypted ? await this.#encrypt(plain, draft, encryption, signal) : content;
      const made: Made = {
        format: FORMAT,
        guid: this.#needs.identity.guid,
        createdAt,
        release: (await this.#needs.status?.status())?.panelVersion ?? '',
        by,
        encryption: kindOf(encryption),
        recipients: [...encryption.recipients],
        ...file,
        contentBytes: content.bytes,
        contentSha256: content.sha256,
        ...facts,
        migrations: [...facts.migrations],
      };
      const name = await localFolder.freeName(new Date(createdAt), isEncrypted);
      const record: BackupRecord = {
        manifest: { ...made, name },
        verification: {
          state: problem === '' ? 'verified' : 'failed',
          at: clock.now(),
          method: 'restored',
          problem,
        },
        copies: {},
      };
      signal.throwIfAborted();
      await localFolder.add(draft, record);
      return record;
    } catch (error) {
      signal.throwIfAborted();
      throw errors.NOT_MADE(`the backup cannot be made: ${messageOf(error)}`, { cause: error });
    } finally {
      for (const path of [draft, plain]) await rm(path, { force: true }).catch(() => undefined);
    }
  }

  async #scratch(dataDirectory: string): Promise<string> {
    const folder = resolve(dataDirectory, 'snapshots');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return join(folder, `${process.pid}-plain-${this.#count++}.db`);
  }

  /** The disk may lie: the file is read back before the only readable copy is deleted. */
  async #encrypt(
    plain: string,
    draft: string,
    encryption: Encryption,
    signal: AbortSignal,
  ): Promise<WrittenFile> {
    const written = await encryptInThread(plain, draft, encryption, signal);
    const found = await digestOf(draft, signal);
    if (found.sha256 !== written.sha256 || found.bytes !== written.bytes)
      throw new Error('the disk returned other bytes of the encrypted file than were written');
    return found;
  }
}
