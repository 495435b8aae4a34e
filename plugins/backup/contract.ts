// Functions of the program around the panel that handle the database as a whole.
import { token } from '../../kernel/index.js';

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
  'webDomain',
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
}

/** Provided by the program that runs the panel. */
export interface PanelDatabaseApi {
  /** Writes a consistent copy of the database to a new SQLite file, whatever database the panel uses. Edits go on meanwhile. Rejects with a sentence; no file is left then. */
  snapshot(path: string): Promise<void>;
  /** Makes a new database of the backup in a folder of its own, starts a panel on it in a process of its own, and checks it. Call `discard` or `PanelProgram.restoreDatabase` with the folder then. */
  rehearse(request: RehearsalRequest): Promise<Rehearsed & { readonly folder: string }>;
  /** Deletes the folder of a rehearsal. */
  discard(folder: string): Promise<void>;
  lastRestore(): Promise<LastRestore | undefined>;
}
export const PanelDatabase = token<PanelDatabaseApi>('panel', 'PanelDatabase');
