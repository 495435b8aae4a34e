// All backups that have a record, in the data folder and at targets, and what is done to them: one thing at a time.
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type Clock,
  type Database,
  type Log,
  messageOf,
  PanelError,
  type PluginContext,
  type Principal,
  storageFailure,
} from '../../../kernel/index.js';
import type { PanelIdentityApi } from '../../settings/contract.js';
import {
  type BackupChange,
  BackupTargets,
  type Decryption,
  duringBackupChange,
  type PanelDatabaseApi,
} from '../contract.js';
import { errors } from '../errors.js';
import { TargetCopies } from '../targets/copies.js';
import type { BackupMaker } from './backup-maker.js';
import { digestOf } from './digest.js';
import { isGood, type LocalFolder } from './local-folder.js';
import type { BackupRecord, ListedBackup, Manifest } from './record.js';
import { verify } from './verifier.js';

export const LOCAL = 'local';
/** Files of targets that are here at once: each takes as much disk as it has bytes. */
const MOST_FETCHED = 2;

/** Parts of a manifest that an audit shows. */
export const facts = ({ manifest, verification }: BackupRecord): object => ({
  createdAt: manifest.createdAt,
  by: manifest.by,
  bytes: manifest.bytes,
  sha256: manifest.sha256,
  encryption: manifest.encryption,
  verification: verification.state,
  // Differs each time, so that a verification with the same result has an entry too.
  verifiedAt: verification.at,
  method: verification.method,
  problem: verification.problem,
});

/** A backup whose file is here to be read; `close` removes it where it was fetched. */
export interface OpenedBackup {
  readonly path: string;
  readonly record: BackupRecord;
  close(): Promise<void>;
}

interface Needs {
  readonly localFolder: LocalFolder;
  readonly maker: BackupMaker;
  readonly database: PanelDatabaseApi | undefined;
  readonly identity: PanelIdentityApi;
  readonly contributions: PluginContext['contributions'];
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly dataDirectory: string;
}

export class Archive {
  readonly #needs: Needs;
  #targets: readonly TargetCopies[] = [];
  #work: string | undefined;
  #count = 0;
  #fetched = 0;

  constructor({
    localFolder,
    maker,
    database,
    identity,
    contributions,
    db,
    clock,
    log,
    signal,
    dataDirectory,
  }: Needs) {
    this.#needs = {
      localFolder,
      maker,
      database,
      identity,
      contributions,
      db,
      clock,
      log,
      signal,
      dataDirectory,
    };
  }

  async start(): Promise<void> {
    const { contributions, identity, signal, localFolder } = this.#needs;
    this.#targets = contributions(BackupTargets).map(
      (entry) => new TargetCopies(entry, identity.guid, signal),
    );
    await localFolder.start();
  }

  /** What is being done now; blank: nothing. */
  get work(): string {
    return this.#work ?? '';
  }

  /** Never two at once: a second one is refused. */
  async exclusively<T>(work: string, run: () => Promise<T>): Promise<T> {
    if (this.#work !== undefined) throw errors.AT_WORK();
    this.#work = work;
    try {
      return await run();
    } finally {
      this.#work = undefined;
    }
  }

  /** Those that are set up. */
  targets(): readonly TargetCopies[] {
    return this.#targets.filter(({ isOn }) => isOn);
  }

  targetOf(place: string): TargetCopies {
    const target = this.#targets.find(({ name }) => name === place);
    if (!target) throw errors.UNKNOWN_PLACE();
    if (!target.isOn) throw errors.PLACE_OFF();
    return target;
  }

  list(place = LOCAL): Promise<ListedBackup[]> {
    return place === LOCAL ? this.#needs.localFolder.list() : this.targetOf(place).list();
  }

  async find(name: string, place = LOCAL): Promise<ListedBackup> {
    const found = await (place === LOCAL
      ? this.#needs.localFolder.find(name)
      : this.targetOf(place).find(name));
    if (!found) throw errors.UNKNOWN();
    return found;
  }

  /** Only backups of this panel are rotated. */
  isOwn({ manifest }: BackupRecord): boolean {
    return manifest.guid === this.#needs.identity.guid;
  }

  async removeRests(place: string): Promise<void> {
    if (place === LOCAL) return;
    const names = new Set((await this.#needs.localFolder.list()).map(({ manifest }) => manifest.name));
    await this.targetOf(place).removeRests((name) => names.has(name));
  }

  /** Makes a backup in the data folder. */
  async make(by: Manifest['by'], who: Principal): Promise<BackupRecord> {
    const { maker, log, signal } = this.#needs;
    const record = await maker.make(by, signal);
    const { name, bytes } = record.manifest;
    const { state, problem } = record.verification;
    if (state === 'verified') log.info('a backup is made and verified', { name, bytes });
    else log.error('a backup is made, and cannot be restored', { name, problem });
    await this.#note({ kind: 'added', name, place: LOCAL, before: undefined, after: facts(record) }, who);
    return record;
  }

  async verify(name: string, place: string, decryption: Decryption, who: Principal): Promise<ListedBackup> {
    const { database, clock, signal, localFolder, maker } = this.#needs;
    if (!database) throw errors.NO_PROGRAM();
    const opened = await this.open(name, place);
    const { record } = opened;
    try {
      const verification = await verify(database, opened.path, record.manifest, {
        decryption: withDefault(decryption, record.manifest.encryption, maker.encryption().passphrase),
        at: clock.now(),
        signal,
      }).catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof PanelError) throw error;
        throw errors.NOT_VERIFIED(`the backup could not be verified now: ${messageOf(error)}`, {
          cause: error,
        });
      });
      const after = { ...record, verification };
      if (place === LOCAL) await localFolder.save(after);
      await this.#note({ kind: 'updated', name, place, before: facts(record), after: facts(after) }, who);
      return { ...after, problem: '' };
    } finally {
      await opened.close();
    }
  }

  /** Opens a backup for reading; one of a target is fetched and compared with its record. */
  async open(name: string, place = LOCAL): Promise<OpenedBackup> {
    const record = await this.find(name, place);
    if (place === LOCAL) {
      const path = this.#needs.localFolder.fileOf(name);
      return { path, record, close: () => Promise.resolve() };
    }
    await this.#refuseOther(record, place);
    if (this.#fetched >= MOST_FETCHED) throw errors.BUSY();
    this.#fetched++;
    let path: string | undefined;
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => {
      closed ??= (path === undefined ? Promise.resolve() : rm(path, { force: true })).finally(
        () => void this.#fetched--,
      );
      return closed;
    };
    try {
      path = await this.#scratchPath();
      await this.targetOf(place).fetch(record, path);
      return { path, record, close };
    } catch (error) {
      await close().catch(() => undefined);
      throw error;
    }
  }

  /** A record at a target is as good as the target: whoever writes there can replace both. What is known here counts. */
  async #refuseOther({ manifest }: BackupRecord, place: string): Promise<void> {
    const own = await this.#needs.localFolder.find(manifest.name);
    if (own && this.isOwn(own) && own.manifest.sha256 !== manifest.sha256)
      throw errors.TARGET_FAILED(
        `the target ${place} has another file than the backup ${manifest.name} that was copied to it: its SHA-256 differs`,
      );
  }

  /** Rejects where the file is not the one of its record, as on a disk that fails: its database may still look sound. */
  async refuseChanged({ path, record: { manifest } }: OpenedBackup): Promise<void> {
    const found = await digestOf(path, this.#needs.signal);
    if (found.sha256 !== manifest.sha256) throw errors.CHANGED();
  }

  /** Removed by the next start, whatever happens. */
  async #scratchPath(): Promise<string> {
    const folder = resolve(this.#needs.dataDirectory, 'snapshots');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return join(folder, `${process.pid}-archive-${this.#count++}.db`);
  }

  /** Copies a local backup to a target; the local one stays, whatever happens. Resolves with the problem, blank without one. */
  async copyTo(target: TargetCopies, backup: BackupRecord): Promise<string> {
    const { localFolder, clock, log, signal } = this.#needs;
    const { name } = backup.manifest;
    const problem = await target
      .copy(localFolder.fileOf(name), backup, `${await this.#scratchPath()}.json`)
      .then(() => '', messageOf);
    signal.throwIfAborted();
    if (problem === '') log.info('a backup is copied to a target', { name, target: target.name });
    else
      log.error('a backup could not be copied to a target', { name, target: target.name, reason: problem });
    const now = await localFolder.find(name);
    const copy = { at: clock.now(), place: target.place, problem: problem.slice(0, 2_000) };
    if (now) await localFolder.save({ ...now, copies: { ...now.copies, [target.name]: copy } });
    return problem;
  }

  async remove(name: string, place: string, who: Principal, force = false): Promise<void> {
    const backup = await this.find(name, place);
    const newest = (await this.list(place)).find(isGood);
    if (newest?.manifest.name === name && !force) throw errors.LAST_VERIFIED();
    await this.delete(backup, place, who);
  }

  /** Recorded before: a file that is gone cannot be described. */
  async delete(backup: BackupRecord, place: string, who: Principal): Promise<void> {
    const { name } = backup.manifest;
    await this.#note({ kind: 'deleted', name, place, before: facts(backup), after: undefined }, who);
    await (place === LOCAL ? this.#needs.localFolder.remove(name) : this.targetOf(place).remove(name));
    this.#needs.log.info('a backup is deleted', { name, place, by: who.name });
  }

  /** A full disk must not prevent that a backup is deleted to make room. */
  async #note(change: BackupChange, who: Principal): Promise<void> {
    const { db, log } = this.#needs;
    try {
      await db.write((tx) => tx.during(duringBackupChange, { changes: [change], who }));
    } catch (error) {
      if (!storageFailure(error)) throw error;
      log.warn('a change of a backup could not be recorded', { name: change.name, reason: messageOf(error) });
    }
  }
}

/** The panel's own passphrase opens its own backups, where nobody gives another one. */
export function withDefault(
  given: Decryption,
  encryption: Manifest['encryption'],
  passphrase: string,
): Decryption {
  const isGiven = given.passphrase !== '' || given.identities.length > 0;
  return isGiven || encryption !== 'passphrase' ? given : { identities: [], passphrase };
}
