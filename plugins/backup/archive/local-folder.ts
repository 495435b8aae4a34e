// The backups in the data folder. A backup is a file and its record; the record is written first, so a file with a backup's
// name but without a record is one that somebody made with `weir backup`, and is left alone.
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Log, messageOf, replaceFile, syncFolder } from '../../../kernel/index.js';
import { isDraftName } from '../draft-name.js';
import { backupName, describedBy, isBackupName, recordNameOf } from './backup-name.js';
import { type BackupRecord, isVerified, type ListedBackup, MOST_RECORD_BYTES, readRecord } from './record.js';

const RECORD_DRAFT = /^weir_[\d_-]+\.db(?:\.age)?\.json\.[0-9a-f]{12}$/;
/** What a process that was killed leaves behind. One panel at a time uses a data folder, so all of it is old at the start. */
const isLeftBehind = (name: string): boolean => isDraftName(name) || RECORD_DRAFT.test(name);
const MOST_FILES = 10_000;
const NEIGHBOURS = 5;
/** A thousand records that are read at once block everything else for 150 ms. */
const AT_ONCE = 4;

export const isGood = (backup: ListedBackup): boolean => isVerified(backup) && backup.problem === '';
export const newestFirst = (a: BackupRecord, b: BackupRecord): number =>
  b.manifest.createdAt - a.manifest.createdAt || (a.manifest.name < b.manifest.name ? 1 : -1);

export class LocalFolder {
  readonly path: string;
  readonly #log: Log;
  #count = 0;

  constructor({ dataDirectory, log }: { dataDirectory: string; log: Log }) {
    this.path = resolve(dataDirectory, 'backups');
    this.#log = log;
  }

  /** Removes what a kill has left: drafts, and records without a file. */
  async start(): Promise<void> {
    const names = await this.#names();
    for (const name of names) {
      const backup = describedBy(name);
      if (isLeftBehind(name) || (backup !== undefined && !names.includes(backup))) {
        await rm(join(this.path, name), { recursive: true, force: true });
        this.#log.info('removed what an interrupted backup has left', { name });
      }
    }
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.slice(0, MOST_FILES);
  }

  fileOf(name: string): string {
    if (!isBackupName(name)) throw new Error(`${JSON.stringify(name)} is not the name of a backup`);
    return join(this.path, name);
  }

  /** All backups that have a record, the newest first. */
  async list(): Promise<ListedBackup[]> {
    const names = (await this.#names()).flatMap((name) => describedBy(name) ?? []).values();
    const found: ListedBackup[] = [];
    const work = async (): Promise<void> => {
      for (const name of names) {
        const backup = await this.find(name);
        if (backup) found.push(backup);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return found.sort(newestFirst);
  }

  /** The newest verified one, without reading all records. Names are local times, so at the end of summer time they may be out of order. */
  async newestGood(): Promise<ListedBackup | undefined> {
    const names = (await this.#names())
      .flatMap((name) => describedBy(name) ?? [])
      .sort()
      .reverse();
    const found: ListedBackup[] = [];
    for (const name of names) {
      const backup = await this.find(name);
      if (backup && isGood(backup) && found.push(backup) >= NEIGHBOURS) break;
    }
    return found.sort(newestFirst)[0];
  }

  async find(name: string): Promise<ListedBackup | undefined> {
    if (!isBackupName(name)) return undefined;
    const path = join(this.path, recordNameOf(name));
    try {
      if ((await stat(path)).size > MOST_RECORD_BYTES) throw new Error('it is too large');
      const record = readRecord(await readFile(path, 'utf8'), name);
      const facts = await stat(this.fileOf(name)).catch(() => undefined);
      if (!facts) return undefined;
      const { bytes } = record.manifest;
      return {
        ...record,
        problem: facts.size === bytes ? '' : `the file has ${facts.size} bytes, and its record says ${bytes}`,
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      this.#log.warn('the record of a backup cannot be read; the backup is not listed', {
        name,
        reason: messageOf(error),
      });
      return undefined;
    }
  }

  /** Path of a new file that is removed at the next start if it is still there. */
  async draft(): Promise<string> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    return join(this.path, `.weir_${Date.now()}.${process.pid}-${this.#count++}.part`);
  }

  /** A name that neither a file nor a record has. */
  async freeName(at: Date, isEncrypted: boolean): Promise<string> {
    const taken = new Set(await this.#names());
    for (let number = 0; number < 1_000; number++) {
      const name = backupName(at, isEncrypted, number);
      if (!taken.has(name) && !taken.has(recordNameOf(name))) return name;
    }
    throw new Error('there are a thousand backups of this second');
  }

  /** Moves a complete draft to its name. */
  async add(draft: string, record: BackupRecord): Promise<void> {
    const { name } = record.manifest;
    await this.save(record);
    try {
      await rename(draft, this.fileOf(name));
      await syncFolder(this.path);
    } catch (error) {
      await rm(join(this.path, recordNameOf(name)), { force: true });
      throw error;
    }
  }

  save({ manifest, verification, copies }: BackupRecord): Promise<void> {
    const text = `${JSON.stringify({ manifest, verification, copies }, undefined, 1)}\n`;
    return replaceFile(join(this.path, recordNameOf(manifest.name)), text, 0o600);
  }

  /** The file goes first: a record without a file is removed at the next start. */
  async remove(name: string): Promise<void> {
    await rm(this.fileOf(name), { force: true });
    await rm(join(this.path, recordNameOf(name)), { force: true });
    await syncFolder(this.path);
  }
}
