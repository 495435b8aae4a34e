// An installed package: its releases side by side, the link to the current one, and the record of the last upgrade.
import { mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { replaceFile } from '../../file/replace.js';
import type { AppliedMigration } from '../../panel/inspect-data.js';

const VERSION = /^\d+\.\d+\.\d+(?:[-+.][\w.+-]+)?$/;
const MOST_BYTES = 1024 * 1024;

/** An upgrade, or its way back. */
export interface UpgradeRecord {
  /** in ms since 1970 */
  readonly at: number;
  readonly state: 'under way' | 'done' | 'failed';
  /** versions */
  readonly from: string;
  readonly to: string;
  /** path of the backup that was made before */
  readonly backup: string;
  /** what had run in the database before; undefined where there was no database yet */
  readonly applied?: readonly AppliedMigration[] | undefined;
  /** names of plugins that did not run before */
  readonly notRunning: readonly string[];
  readonly problem: string;
}

/** The last attempt, and the last one that succeeded: a failed one does not take away the way back. */
type RecordName = 'upgrade.json' | 'upgraded.json';

export const isVersion = (text: string): boolean => VERSION.test(text);

export class Installation {
  /** `/opt/weir` */
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  folderOf(version: string): string {
    return join(this.root, 'releases', version);
  }

  async #linked(name: string): Promise<string | undefined> {
    const target = await readlink(join(this.root, name)).catch(() => undefined);
    return target === undefined ? undefined : basename(target);
  }
  /** The version that the service runs, or starts next. */
  current(): Promise<string | undefined> {
    return this.#linked('current');
  }
  /** The version before the current one. */
  previous(): Promise<string | undefined> {
    return this.#linked('previous');
  }

  async releases(): Promise<string[]> {
    const names = await readdir(join(this.root, 'releases')).catch(() => []);
    return names.filter(isVersion).sort();
  }

  /** In one step: there is no moment without a link. */
  async link(name: 'current' | 'previous', version: string): Promise<void> {
    const draft = join(this.root, `.${name}-${process.pid}`);
    await rm(draft, { force: true });
    await symlink(join('releases', version), draft);
    await rename(draft, join(this.root, name));
  }

  async record(name: RecordName): Promise<UpgradeRecord | undefined> {
    const path = join(this.root, name);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    if (text.length > MOST_BYTES) throw new Error(`${path} is too large; remove it`);
    try {
      const record = JSON.parse(text) as UpgradeRecord;
      const { from, to, at, backup, notRunning } = record;
      const isWhole = Number.isSafeInteger(at) && typeof backup === 'string' && Array.isArray(notRunning);
      if (isWhole && [from, to].every((version) => isVersion(String(version)))) return record;
    } catch {}
    throw new Error(`${path} is damaged; remove it, and see with \`weir health\` which version runs`);
  }

  write(name: RecordName, record: UpgradeRecord): Promise<void> {
    return replaceFile(join(this.root, name), `${JSON.stringify(record)}\n`, 0o600);
  }

  /** Nothing to go back to is left. */
  forget(name: RecordName): Promise<void> {
    return rm(join(this.root, name), { force: true });
  }

  /** Removes all releases but these. */
  async prune(kept: readonly (string | undefined)[]): Promise<string[]> {
    const old = (await this.releases()).filter((version) => !kept.includes(version));
    await Promise.all(old.map((version) => rm(this.folderOf(version), { recursive: true, force: true })));
    return old;
  }

  /** A new folder for a package that is unpacked; the caller removes it. Those of upgrades that were killed go now. */
  async draft(): Promise<string> {
    const left = (await readdir(this.root)).filter((name) => name.startsWith('.unpacked-'));
    await Promise.all(left.map((name) => rm(join(this.root, name), { recursive: true, force: true })));
    const folder = join(this.root, `.unpacked-${process.pid}`);
    await mkdir(folder, { mode: 0o700 });
    return folder;
  }
}
