// Copies of backups at targets. A target may say that it has a file and have nothing, a part or something else: what
// counts is what it returns.
import { createHash } from 'node:crypto';
import { open, rm, writeFile } from 'node:fs/promises';
import { type Contributed, messageOf, PanelError } from '../../../kernel/index.js';
import { describedBy, isBackupName, recordNameOf } from '../archive/backup-name.js';
import { newestFirst } from '../archive/local-folder.js';
import { type BackupRecord, type ListedBackup, MOST_RECORD_BYTES, readRecord } from '../archive/record.js';
import type { BackupTarget, TargetFile } from '../contract.js';
import { errors } from '../errors.js';

const WHOLE_MS = 2 * 3_600_000;
/** bytes in a ms */
const SLOWEST = 100;
/** A target that does nothing for so long. */
const SILENCE_MS = 2 * 60_000;
const MOST_FILES = 10_000;
/** Records that one list fetches. */
const MOST_LISTED = 200;
const AT_ONCE = 4;
/** Bytes of all records of one list: they are one reply. */
const MOST_LISTED_BYTES = 16 * 1024 * 1024;

export interface CopyLimits {
  readonly wholeMs: number;
  readonly silenceMs: number;
}
export const COPY_LIMITS: CopyLimits = { wholeMs: WHOLE_MS, silenceMs: SILENCE_MS };

export class TargetCopies {
  readonly #entry: Contributed<BackupTarget>;
  readonly #guid: string;
  readonly #stop: AbortSignal;
  readonly #limits: CopyLimits;

  /** The folder of the target is that of this panel, so several panels may share a target. */
  constructor(entry: Contributed<BackupTarget>, guid: string, stop: AbortSignal, limits = COPY_LIMITS) {
    this.#entry = entry;
    this.#guid = guid;
    this.#stop = stop;
    this.#limits = limits;
  }

  get name(): string {
    return this.#entry.value.name;
  }

  get isOn(): boolean {
    try {
      return this.#entry.value.isOn() === true;
    } catch (error) {
      this.#entry.fault(`isOn of the target ${this.name}`, error);
      return false;
    }
  }

  get place(): string {
    try {
      return String(this.#entry.value.place()).slice(0, 500);
    } catch (error) {
      this.#entry.fault(`place of the target ${this.name}`, error);
      return '';
    }
  }

  #keyOf(fileName: string): string {
    return `${this.#guid}/${fileName}`;
  }

  /** Runs one call with a limit, whatever the target does with the signal. `limit` in ms. */
  async #within<T>(what: string, limit: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const signal = AbortSignal.any([this.#stop, late.signal]);
    signal.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    let stop = (): void => undefined;
    const over = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      timer = setTimeout(
        () => late.abort(new Error(`${what} took longer than ${Math.round(limit / 1000)} s`)),
        limit,
      );
    });
    over.catch(() => undefined);
    try {
      return await Promise.race([call(signal), over]);
    } catch (error) {
      this.#stop.throwIfAborted();
      if (late.signal.aborted) throw late.signal.reason;
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /** Yields what the target has. Rejects when nothing comes, or more than `most` bytes. */
  async *#read(name: string, most: number): AsyncGenerator<Uint8Array> {
    const end = new AbortController();
    const signal = AbortSignal.any([this.#stop, end.signal]);
    const pieces = this.#entry.value.read(this.#keyOf(name), signal)[Symbol.asyncIterator]();
    let bytes = 0;
    let isOver = false;
    const began = Date.now();
    try {
      for (;;) {
        const { wholeMs, silenceMs } = this.#limits;
        const left = Math.max(1, wholeMs - (Date.now() - began));
        const piece = await this.#within('reading it', Math.min(silenceMs, left), () => pieces.next());
        if (piece.done) {
          isOver = true;
          return;
        }
        if (!(piece.value instanceof Uint8Array)) throw new Error('it returned something else than bytes');
        bytes += piece.value.length;
        if (bytes > most) throw new Error(`it has more than the ${most} bytes that were stored`);
        yield piece.value;
      }
    } finally {
      if (!isOver) end.abort(new Error('nobody reads any further'));
      void Promise.resolve(pieces.return?.(undefined)).catch(() => undefined);
    }
  }

  /** Rejects unless the target returns exactly these bytes. */
  async #readBack(name: string, bytes: number, sha256: string): Promise<void> {
    const hash = createHash('sha256');
    let read = 0;
    for await (const piece of this.#read(name, bytes)) {
      hash.update(piece);
      read += piece.length;
    }
    if (read !== bytes) throw new Error(`it says that it stored ${bytes} bytes, and returns ${read}`);
    if (hash.digest('hex') !== sha256)
      throw new Error('it returns other bytes than were sent: their SHA-256 differs');
  }

  async #store(name: string, path: string, bytes: number, sha256: string): Promise<void> {
    const key = this.#keyOf(name);
    const limit = Math.min(this.#limits.wholeMs, this.#limits.silenceMs + bytes / SLOWEST);
    await this.#within('storing it', limit, (signal) => this.#entry.value.put(key, { path, bytes }, signal));
    await this.#readBack(name, bytes, sha256);
  }

  /** Resolves when the target has returned the same bytes, of the file and then of its record. Rejects with a sentence. */
  async copy(path: string, { manifest, verification }: BackupRecord, recordPath: string): Promise<void> {
    try {
      await this.#store(manifest.name, path, manifest.bytes, manifest.sha256);
      const text = Buffer.from(`${JSON.stringify({ manifest, verification, copies: {} }, undefined, 1)}\n`);
      await writeFile(recordPath, text, { mode: 0o600 });
      const sha256 = createHash('sha256').update(text).digest('hex');
      // Without its record a file is not listed: the record says that the file was read back.
      await this.#store(recordNameOf(manifest.name), recordPath, text.length, sha256);
    } catch (error) {
      this.#stop.throwIfAborted();
      throw new Error(`the target ${this.name} has no complete copy: ${messageOf(error)}`, { cause: error });
    } finally {
      await rm(recordPath, { force: true });
    }
  }

  async #files(): Promise<readonly TargetFile[]> {
    const files: unknown = await this.#within('listing its files', this.#limits.silenceMs, (signal) =>
      this.#entry.value.list(this.#guid, MOST_FILES, signal),
    );
    if (!Array.isArray(files)) throw new Error('its list is not a list');
    return files.slice(0, MOST_FILES).flatMap((file: unknown) => {
      const { name, bytes } = (file ?? {}) as Partial<TargetFile>;
      return typeof name === 'string' && typeof bytes === 'number' ? [{ name, bytes }] : [];
    });
  }

  /** All backups of this panel that have a record there, the newest first; at most 200. */
  async list(): Promise<ListedBackup[]> {
    try {
      const sizes = new Map((await this.#files()).map(({ name, bytes }) => [name, bytes]));
      const names = [...sizes.keys()]
        .flatMap((name) => describedBy(name) ?? [])
        .filter((name) => sizes.has(name))
        .sort()
        .reverse()
        .slice(0, MOST_LISTED)
        .values();
      const found: ListedBackup[] = [];
      const budget = { left: MOST_LISTED_BYTES };
      const work = async (): Promise<void> => {
        for (const name of names) {
          const record = await this.#recordOf(name, budget);
          if (record) found.push(withSize(record, sizes.get(name) ?? 0));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return found.sort(newestFirst);
    } catch (error) {
      throw this.#failure('the backups there cannot be listed', error);
    }
  }

  async #recordOf(name: string, budget = { left: MOST_RECORD_BYTES }): Promise<BackupRecord | undefined> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#read(recordNameOf(name), MOST_RECORD_BYTES)) {
      budget.left -= piece.length;
      if (budget.left < 0) throw new Error('its records are too large for a list');
      pieces.push(piece);
    }
    try {
      const record = readRecord(Buffer.concat(pieces).toString('utf8'), name);
      return record.manifest.guid === this.#guid ? record : undefined;
    } catch {
      // Not one that this release wrote.
      return undefined;
    }
  }

  async find(name: string): Promise<ListedBackup | undefined> {
    try {
      const files = await this.#files();
      const file = files.find((one) => one.name === name);
      if (!file || !files.some((one) => one.name === recordNameOf(name))) return undefined;
      const record = await this.#recordOf(name);
      return record && withSize(record, file.bytes);
    } catch (error) {
      throw this.#failure(`the backup ${name} cannot be found`, error);
    }
  }

  /** Writes the file to a new local one, and compares it with its record. */
  async fetch({ manifest }: BackupRecord, to: string): Promise<void> {
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const file = await open(to, 'wx', 0o600);
      try {
        for await (const piece of this.#read(manifest.name, manifest.bytes)) {
          for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
          hash.update(piece);
          bytes += piece.length;
        }
      } finally {
        await file.close();
      }
      if (bytes !== manifest.bytes || hash.digest('hex') !== manifest.sha256)
        throw new Error('it returns another file than its record describes');
    } catch (error) {
      await rm(to, { force: true });
      throw this.#failure(`the backup ${manifest.name} cannot be fetched`, error);
    }
  }

  /** A half that a crash leaves is not listed, and `removeRests` deletes it. */
  async remove(name: string): Promise<void> {
    try {
      for (const file of [name, recordNameOf(name)])
        await this.#within('deleting it', this.#limits.silenceMs, (signal) =>
          this.#entry.value.remove(this.#keyOf(file), signal),
        );
    } catch (error) {
      throw this.#failure(`the backup ${name} cannot be deleted`, error);
    }
  }

  /** Deletes what interrupted uploads and deletions have left: one half of a pair, of a backup that is not copied again. */
  async removeRests(isCopiedAgain: (name: string) => boolean): Promise<void> {
    const files = new Set((await this.#files()).map(({ name }) => name));
    for (const file of files) {
      const name = describedBy(file) ?? file;
      if (!isBackupName(name) || isCopiedAgain(name)) continue;
      if (!files.has(name) || !files.has(recordNameOf(name))) await this.remove(name);
    }
  }

  #failure(what: string, error: unknown): Error {
    this.#stop.throwIfAborted();
    if (error instanceof PanelError) return error;
    return errors.TARGET_FAILED(`${what}, target ${this.name}: ${messageOf(error)}`, { cause: error });
  }
}

const withSize = (record: BackupRecord, bytes: number): ListedBackup => ({
  ...record,
  problem:
    bytes === record.manifest.bytes
      ? ''
      : `the file there has ${bytes} bytes, and its record says ${record.manifest.bytes}`,
});
