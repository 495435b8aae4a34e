// Functions of the program around the panel that handle the database as a whole.
import { during, extensionPoint, type Principal, token } from '../../kernel/index.js';
import type { Decryption } from './encryption/age-file.js';

export { type Decryption, decryptFile, identityProblem, isEncrypted } from './encryption/age-file.js';

/** Rows of this panel that take the place of those of a backup. */
export type HostRows = readonly {
  readonly table: string;
  readonly key: string;
  /** values of `key`; rows of the backup with other values stay */
  readonly keys: readonly string[];
  readonly rows: readonly Readonly<Record<string, string | number | null>>[];
}[];

/** Settings that belong to a machine, and not to the data. */
export const HOST_SETTINGS: readonly string[] = [
  'webListen',
  'allowedHosts',
  'webPort',
  'webCertFile',
  'webKeyFile',
  'webBasePath',
  'subListen',
  'subDomain',
  'subPort',
  'subCertFile',
  'subKeyFile',
  'subURI',
  'subJsonURI',
  'subAltURI',
];

/** What a rehearsal of a restore found. */
export interface Rehearsed {
  /** why the backup cannot be restored; empty if it can */
  readonly problem: string;
  /** number of rows by table */
  readonly rows: Readonly<Record<string, number>>;
  /** tables and columns of the file that this release does not know; they are not restored */
  readonly leftOut: readonly string[];
}

/** A restore, of a panel that may have stopped since. */
export interface LastRestore {
  /** Unix ms */
  readonly at: number;
  /** failed: the previous database is in use */
  readonly state: 'under way' | 'done' | 'failed';
  /** why it failed; empty else */
  readonly problem: string;
  /** path of the database that was replaced; empty where there is none */
  readonly previous: string;
}

export interface RehearsalRequest {
  /** path of the backup: a SQLite file */
  readonly path: string;
  readonly keep: HostRows;
  /** lines of a `secrets.key` that belongs to the backup */
  readonly keys: readonly string[];
  /** for an encrypted backup */
  readonly decryption?: Decryption | undefined;
  /** The database is not to be used: on a server, nothing is copied to it. */
  readonly isTrial?: boolean | undefined;
}

/** Provided by the program that runs the panel. */
export interface PanelDatabaseApi {
  /** Writes a consistent copy of the database to a new SQLite file, whatever database the panel uses. Edits go on meanwhile. Rejects with a sentence; no file is left then. */
  snapshot(path: string): Promise<void>;
  /** Runs queries on a backup, which is only read. Each returns at most 1,000 rows. */
  query(
    path: string,
    queries: readonly string[],
  ): Promise<readonly (readonly Readonly<Record<string, unknown>>[])[]>;
  /** Makes a new database of the backup in a folder of its own, starts a panel on it in a process of its own, and checks it. Call `discard` or `PanelProgram.restoreDatabase` with the folder then. */
  rehearse(request: RehearsalRequest): Promise<Rehearsed & { readonly folder: string }>;
  /** Deletes the folder of a rehearsal. */
  discard(folder: string): Promise<void>;
  lastRestore(): Promise<LastRestore | undefined>;
}
export const PanelDatabase = token<PanelDatabaseApi>('panel', 'PanelDatabase');

/** A file of a target, as the target lists it. */
export interface TargetFile {
  readonly name: string;
  readonly bytes: number;
}
/** A place to which complete backups are copied: a folder, a service for objects. It is never trusted: each copy is read back. */
export interface BackupTarget {
  /** small letters, digits and hyphens: `s3` */
  readonly name: string;
  /** Whether an admin has set it up; otherwise it is not called. */
  isOn(): boolean;
  /** Where it is, for display, without secrets; blank while it is off. */
  place(): string;
  /** Stores the file under this name, `<guid>/<file name>`, and replaces an earlier one. Rejects with a sentence. The signal aborts when it takes too long or the panel stops. */
  put(
    name: string,
    file: { readonly path: string; readonly bytes: number },
    signal: AbortSignal,
  ): Promise<void>;
  /** Yields the stored bytes. Rejects with a sentence. */
  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Lists the files below this folder, at most `most`. */
  list(folder: string, most: number, signal: AbortSignal): Promise<readonly TargetFile[]>;
  /** Deletes a file; resolves also if there is none. */
  remove(name: string, signal: AbortSignal): Promise<void>;
}
const TARGET_NAME = /^[a-z][a-z0-9-]{0,31}$/;
/** Places to which backups are copied. */
export const BackupTargets = extensionPoint<BackupTarget>(
  'backup',
  'BackupTargets',
  (target, { name: plugin, outside }, others) => {
    const { name } = target;
    if (typeof name !== 'string' || !TARGET_NAME.test(name) || name === 'local')
      return 'the name of a target is small letters, digits and hyphens, and not local';
    for (const method of ['isOn', 'place', 'put', 'read', 'list', 'remove'] as const)
      if (typeof target[method] !== 'function') return `the target ${name} needs the function ${method}`;
    if (outside && name !== plugin && !name.startsWith(`${plugin}-`))
      return `the target ${name} must be called ${plugin} or ${plugin}-…, because names of a third-party plugin begin with its own`;
    const other = others.find(({ value }) => value.name === name);
    return other && `the target ${name} already exists, in plugin ${other.plugin}; choose another name`;
  },
);

/** A backup that was made and verified, and is in the list. */
export interface MadeBackup {
  readonly name: string;
  readonly bytes: number;
  readonly isEncrypted: boolean;
  /** Opens its file for reading; it cannot be deleted until `close`. */
  open(): Promise<{ readonly path: string; close(): Promise<void> }>;
}
export interface BackupsApi {
  /** Makes a backup as `x/backup/run` does, and copies it to all targets. Rejects with a sentence. */
  make(who: Principal): Promise<MadeBackup>;
}
/** For plugins that send backups to people. */
export const Backups = token<BackupsApi>('backup', 'Backups');

/** What changed about a backup. */
export interface BackupChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly name: string;
  /** `local`, or the name of a target */
  readonly place: string;
  readonly before: object | undefined;
  readonly after: object | undefined;
}
/** Runs inside a write of its own when a backup was made or verified, and before one is deleted. */
export const duringBackupChange = during<{
  readonly changes: readonly BackupChange[];
  readonly who: Principal;
}>('backup/duringBackupChange');
