// Puts a rehearsed SQLite database in the place of the panel's own. The file is replaced by one `rename`, so a crash at any
// moment leaves the previous database or the new one, and a record says what was going on.
import { access, link, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder } from '../../file/lock.js';
import { replaceFile, syncFolder } from '../../file/replace.js';
import type { LastRestore } from '../../plugins/backup/contract.js';
import { SqliteFile } from './sqlite-file.js';

const DATABASE_FILE = 'weir.sqlite';
const KEY_FILE = 'secrets.key';
const RECORD = 'restore.json';
const KEPT = 3;
const PREFIX = 'before-restore-';
/** of folders in the data folder in which a restore is rehearsed */
export const SCRATCH_PREFIX = 'restore-';
const SCRATCH = /^restore-[A-Za-z0-9]{6}$/;

interface Swapping extends LastRestore {
  /** the folder of the new database */
  readonly scratch: string;
}

/** Where the panel has its database. */
export interface Place {
  /** the data folder */
  readonly directory: string;
  /** of the database server, if the panel uses one */
  readonly address?: string | undefined;
}

interface ServerDatabases {
  /** Resolves with the name of the database that has the previous tables. */
  readonly swap: (url: URL) => Promise<string>;
  readonly undo: (url: URL) => Promise<void>;
  readonly discard: (url: URL) => Promise<void>;
  readonly isSwapped: (url: URL) => Promise<boolean>;
}
const onServer = (): Promise<ServerDatabases> =>
  import('../../drivers/mysql/databases.js' as string) as Promise<ServerDatabases>;

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const write = (directory: string, record: Swapping): Promise<void> =>
  replaceFile(join(directory, RECORD), `${JSON.stringify(record)}\n`, 0o600);

async function read(directory: string): Promise<Swapping | undefined> {
  const text = await readFile(join(directory, RECORD), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const record = JSON.parse(text) as Swapping;
    return typeof record.scratch === 'string' && typeof record.previous === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Moves everything of the write-ahead log into the file: without that, the log of one database would be applied to another. */
export async function foldLog(path: string): Promise<void> {
  if (!(await exists(path))) return;
  const file = await SqliteFile.open(path);
  try {
    await file.execute('PRAGMA busy_timeout=10000; PRAGMA journal_mode=DELETE;');
  } finally {
    await file.close();
  }
  for (const rest of ['-wal', '-shm', '-journal'])
    if (await exists(`${path}${rest}`))
      throw new Error(`another program has ${path} open; stop it and restore again`);
}

const linesOf = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8').catch(() => '')).split(/\r?\n/).filter((line) => line !== '');

/** Adds the keys of the backup to those of the panel, which stay first: they encrypt. */
async function addKeys(directory: string, scratch: string): Promise<void> {
  const own = await linesOf(join(directory, KEY_FILE));
  const all = [...new Set([...own, ...(await linesOf(join(scratch, KEY_FILE)))])];
  if (all.length > own.length) await replaceFile(join(directory, KEY_FILE), `${all.join('\n')}\n`, 0o600);
}

async function prune(folder: string): Promise<void> {
  const old = (await readdir(folder))
    .filter((name) => name.startsWith(PREFIX))
    .sort()
    .slice(0, -KEPT);
  await Promise.all(old.map((name) => rm(join(folder, name), { force: true })));
}

/** The previous database comes back. */
async function undo({ directory, address }: Place, record: Swapping, problem: string): Promise<void> {
  const path = join(directory, DATABASE_FILE);
  if (address !== undefined) await (await onServer()).undo(new URL(address));
  else if (record.previous !== '' && (await exists(record.previous))) {
    await foldLog(path);
    await rename(record.previous, path);
    await syncFolder(directory);
  }
  await write(directory, { ...record, state: 'failed', previous: '', problem });
}

export interface Swapped {
  /** The new database is in use. */
  done(): Promise<void>;
  /** Puts the previous database back. */
  undo(problem: string): Promise<void>;
}

/** Makes the record, and replaces the file. */
async function swapFile(directory: string, scratch: string, at: number): Promise<Swapping> {
  const path = join(directory, DATABASE_FILE);
  const backups = join(directory, 'backups');
  await foldLog(path);
  await mkdir(backups, { recursive: true, mode: 0o700 });
  const isFirst = !(await exists(path));
  const previous = isFirst
    ? ''
    : join(backups, `${PREFIX}${new Date(at).toISOString().replaceAll(/[:.]/g, '-')}.sqlite`);
  const record: Swapping = { at, state: 'under way', problem: '', previous, scratch };
  if (!isFirst) await link(path, previous);
  await syncFolder(backups);
  await write(directory, record);
  await rename(join(scratch, DATABASE_FILE), path);
  await syncFolder(directory);
  return record;
}

async function swapOnServer(
  { directory, address = '' }: Place,
  scratch: string,
  at: number,
): Promise<Swapping> {
  const record: Swapping = { at, state: 'under way', problem: '', previous: '', scratch };
  await write(directory, record);
  const previous = `database ${await (await onServer()).swap(new URL(address))}`;
  return { ...record, previous };
}

/** Call it while no panel runs. The previous database stays: on SQLite in `backups`, the last three; on a server in a database beside it. */
export async function swapDatabase(place: Place, scratch: string, isLocked = false): Promise<Swapped> {
  const { directory, address } = place;
  const lock = isLocked ? undefined : await lockFolder(directory);
  try {
    await addKeys(directory, scratch);
    const at = Date.now();
    const record = await (address === undefined
      ? swapFile(directory, scratch, at)
      : swapOnServer(place, scratch, at));
    return {
      done: async () => {
        await write(directory, { ...record, state: 'done' });
        await rm(scratch, { recursive: true, force: true });
        if (address === undefined) await prune(join(directory, 'backups'));
        else await (await onServer()).discard(new URL(address));
      },
      undo: async (problem) => {
        const again = isLocked ? undefined : await lockFolder(directory);
        try {
          await undo(place, record, problem);
        } finally {
          await again?.release();
        }
        await rm(scratch, { recursive: true, force: true });
      },
    };
  } finally {
    await lock?.release();
  }
}

/** Puts the previous database back, if it was replaced, and records the problem. */
export async function failedRestore(
  directory: string,
  { folder, problem, swapped }: { folder: string; problem: string; swapped: Swapped | undefined },
): Promise<void> {
  if (swapped) return swapped.undo(problem);
  await write(directory, { at: Date.now(), state: 'failed', problem, previous: '', scratch: folder });
  await rm(folder, { recursive: true, force: true });
}

/** Records how a restore ended that a crash has cut off. `problem`: why the panel does not start, if it does not; then the previous database comes back, and this resolves with true. */
export async function settleRestore(place: Place, problem?: string): Promise<boolean> {
  const { directory } = place;
  const isBack = await settle(place, problem);
  // A start that failed before it made the folder is no matter of a restore.
  const left = (await readdir(directory).catch(() => [])).filter((name) => SCRATCH.test(name));
  await Promise.all(left.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  return isBack;
}

async function settle(place: Place, problem: string | undefined): Promise<boolean> {
  const { directory, address } = place;
  const record = await read(directory);
  if (record?.state !== 'under way') return false;
  const wasSwapped =
    address === undefined
      ? !(await exists(join(record.scratch, DATABASE_FILE)))
      : await (await onServer()).isSwapped(new URL(address));
  if (wasSwapped && problem !== undefined) {
    const lock = await lockFolder(directory);
    try {
      await undo(place, record, problem);
    } finally {
      await lock.release();
    }
    return true;
  }
  if (wasSwapped) await write(directory, { ...record, state: 'done' });
  else await write(directory, { ...record, state: 'failed', problem: 'the restore was interrupted' });
  return false;
}

/** The last restore in this data folder. */
export async function lastRestore(directory: string): Promise<LastRestore | undefined> {
  const record = await read(directory);
  if (!record) return undefined;
  const { at, state, problem, previous } = record;
  return { at, state, problem, previous };
}
