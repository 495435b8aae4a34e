// Puts a rehearsed SQLite database in the place of the panel's own. The file is replaced by one `rename`, so a crash at any
// moment leaves the previous database or the new one, and a record says what was going on.
import { access, link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder } from '../../file/lock.js';
import { replaceFile } from '../../file/replace.js';
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

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync().catch(() => undefined);
  } finally {
    await folder.close();
  }
}

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
async function foldLog(path: string): Promise<void> {
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
async function undo(directory: string, record: Swapping, problem: string): Promise<void> {
  const path = join(directory, DATABASE_FILE);
  if (record.previous !== '' && (await exists(record.previous))) {
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

/** Call it while no panel runs. The previous database stays in `backups`; the last three do. */
export async function swapDatabase(directory: string, scratch: string, isLocked = false): Promise<Swapped> {
  const path = join(directory, DATABASE_FILE);
  const backups = join(directory, 'backups');
  const lock = isLocked ? undefined : await lockFolder(directory);
  try {
    await foldLog(path);
    await mkdir(backups, { recursive: true, mode: 0o700 });
    const at = Date.now();
    const isFirst = !(await exists(path));
    const previous = isFirst
      ? ''
      : join(backups, `${PREFIX}${new Date(at).toISOString().replaceAll(/[:.]/g, '-')}.sqlite`);
    const record: Swapping = { at, state: 'under way', problem: '', previous, scratch };
    await addKeys(directory, scratch);
    if (!isFirst) await link(path, previous);
    await syncFolder(backups);
    await write(directory, record);
    await rename(join(scratch, DATABASE_FILE), path);
    await syncFolder(directory);
    return {
      done: async () => {
        await write(directory, { ...record, state: 'done' });
        await rm(scratch, { recursive: true, force: true });
        await prune(backups);
      },
      undo: async (problem) => {
        const again = isLocked ? undefined : await lockFolder(directory);
        try {
          await undo(directory, record, problem);
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
export async function settleRestore(directory: string, problem?: string): Promise<boolean> {
  const isBack = await settle(directory, problem);
  const left = (await readdir(directory)).filter((name) => SCRATCH.test(name));
  await Promise.all(left.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  return isBack;
}

async function settle(directory: string, problem: string | undefined): Promise<boolean> {
  const record = await read(directory);
  if (record?.state !== 'under way') return false;
  const wasSwapped = !(await exists(join(record.scratch, DATABASE_FILE)));
  if (wasSwapped && problem !== undefined) {
    const lock = await lockFolder(directory);
    try {
      await undo(directory, record, problem);
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
