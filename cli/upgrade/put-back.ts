// Puts the database of before an upgrade in the place of a migrated one. Only while no panel runs.
import { copyFile, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder } from '../../file/lock.js';
import type { AppliedMigration } from '../../panel/inspect-data.js';
import { SqliteFile } from '../../panel/restore/sqlite-file.js';
import { syncFolder } from '../../file/replace.js';
import { foldLog } from '../../panel/restore/swap.js';

const COPY = /^before-migration-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.sqlite$/;

const names = (applied: readonly AppliedMigration[]): string =>
  applied
    .map(({ plugin, name }) => `${plugin}/${name}`)
    .sort()
    .join();

export const isSame = (
  a: readonly AppliedMigration[] | undefined,
  b: readonly AppliedMigration[] | undefined,
): boolean => (a === undefined ? undefined : names(a)) === (b === undefined ? undefined : names(b));

async function appliedIn(path: string): Promise<readonly AppliedMigration[] | undefined> {
  try {
    const file = await SqliteFile.openForeign(path);
    try {
      const rows = await file.rows('SELECT plugin, name FROM kernel_migrations');
      return rows.map(({ plugin, name }) => ({ plugin: String(plugin), name: String(name) }));
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** When a start made this copy, in ms since 1970; undefined for other files. */
function madeAt(name: string): number | undefined {
  const [, day, hours, minutes, seconds, ms] = COPY.exec(name) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${hours}:${minutes}:${seconds}.${ms}Z`);
}

export interface Wanted {
  /** what the database had run before the upgrade */
  readonly applied: readonly AppliedMigration[];
  /** the start of the upgrade, in ms since 1970 */
  readonly at: number;
  /** the backup of before the upgrade */
  readonly backup: string;
}

/** The copy that the first start made before its migrations has everything that the previous panel saved; the backup is older. */
export async function findCopy(
  directory: string,
  { applied, at, backup }: Wanted,
): Promise<string | undefined> {
  const folder = join(directory, 'backups');
  const copies = (await readdir(folder).catch(() => []))
    .filter((name) => (madeAt(name) ?? -1) >= at)
    .sort()
    .map((name) => join(folder, name));
  for (const path of [...copies, ...(backup === '' ? [] : [backup])])
    if (isSame(await appliedIn(path), applied)) return path;
  return undefined;
}

/** Resolves with the path of the migrated database, which stays. A crash leaves one or the other in place. */
export async function putBack(directory: string, copy: string): Promise<string> {
  const lock = await lockFolder(directory);
  const draft = join(directory, 'restore-upgrade.sqlite');
  try {
    const path = join(directory, 'weir.sqlite');
    const backups = join(directory, 'backups');
    await rm(draft, { force: true });
    await copyFile(copy, draft);
    const file = await open(draft, 'r+');
    try {
      await file.chmod(0o600);
      await file.sync();
    } finally {
      await file.close();
    }
    await foldLog(path);
    await mkdir(backups, { recursive: true, mode: 0o700 });
    const kept = join(backups, `after-upgrade-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.sqlite`);
    await link(path, kept);
    await syncFolder(backups);
    await rename(draft, path);
    await syncFolder(directory);
    return kept;
  } catch (error) {
    // Half a copy would fill the rest of a full disk.
    await rm(draft, { force: true });
    throw error;
  } finally {
    await lock.release();
  }
}
