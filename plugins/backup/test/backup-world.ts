// The parts that make, copy and rotate backups, on a real folder and a clock of the test. Only the database is a small one:
// a file that is copied, and a rehearsal that the test decides.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { Archive, LOCAL } from '../archive/archive.js';
import { BackupMaker } from '../archive/backup-maker.js';
import { LocalFolder } from '../archive/local-folder.js';
import type { BackupChange, BackupTarget, PanelDatabaseApi } from '../contract.js';
import { Scheduler } from '../schedule/scheduler.js';

export interface World {
  readonly folder: string;
  readonly clock: FakeClock;
  readonly archive: Archive;
  readonly scheduler: Scheduler;
  readonly localFolder: LocalFolder;
  readonly changes: BackupChange[];
  readonly logged: string[];
  readonly settings: Record<string, unknown>;
  /** what the next rehearsal finds; blank: nothing */
  problem: string;
  /** awaited inside each rehearsal */
  rehearsal: Promise<void> | undefined;
  /** how many clients the next rehearsal finds */
  restoredClients: number;
  /** throws in place of a copy */
  snapshotError: Error | undefined;
  /** throws in place of a write to the database */
  writeError: Error | undefined;
  /** awaited inside each copy */
  pause: (() => Promise<void>) | undefined;
  stop(): void;
  names(place?: string): Promise<string[]>;
}

interface Options {
  readonly folder?: string;
  readonly clock?: FakeClock;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly targets?: readonly BackupTarget[];
  readonly guid?: string;
}

export const NIGHT = Date.UTC(2026, 10, 23, 4, 30);
const DEFAULTS = {
  backupSchedule: '04:30',
  backupKeepLast: 3,
  backupKeepDays: 0,
  backupKeepWeeks: 0,
  backupKeepMonths: 0,
  backupRecipients: [],
  backupPassphrase: '',
  backupFolder: '',
  backupFolderRequired: true,
};

/** Starts as a panel does; the same folder may be started again. */
export async function backupWorld(t: ExecutionContext, options: Options = {}): Promise<World> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'weir-test-')));
  if (options.folder === undefined) t.teardown(() => rm(folder, { recursive: true, force: true }));
  const clock = options.clock ?? new FakeClock(NIGHT - 3_600_000);
  const settings: Record<string, unknown> = { ...DEFAULTS, ...options.settings };
  const stop = new AbortController();
  const logged: string[] = [];
  const note = (text: string, fields?: object) => void logged.push(`${text} ${JSON.stringify(fields ?? {})}`);
  const log = { debug: note, info: note, warn: note, error: note, child: () => log } as never;
  const changes: BackupChange[] = [];
  let count = 0;
  const database: PanelDatabaseApi = {
    snapshot: async (path) => {
      if (world.snapshotError) throw world.snapshotError;
      await writeFile(path, `copy ${count++}`, { mode: 0o600 });
      await world.pause?.();
    },
    query: async (_path, queries) =>
      queries.map((sql) => {
        if (sql.includes('sqlite_master')) return [{ name: 'clients' }];
        return sql.includes('kernel_migrations') ? [{ plugin: 'a', name: 'b' }] : [{ found: 1 }];
      }),
    rehearse: async () => {
      await world.rehearsal;
      return {
        problem: world.problem,
        rows: { clients: world.restoredClients },
        leftOut: [],
        folder: join(folder, 'scratch'),
      };
    },
    discard: async () => undefined,
    lastRestore: async () => undefined,
  };
  const db = {
    write: async (work: (tx: object) => Promise<unknown>) => {
      if (world.writeError) throw world.writeError;
      return work({
        during: async (_: unknown, { changes: some }: { changes: BackupChange[] }) =>
          void changes.push(...some),
      });
    },
  } as never;
  const live = { read: () => settings } as never;
  const identity = { guid: options.guid ?? '3f2504e0-4f89-41d3-9a0c-0305e82c3301' };
  const localFolder = new LocalFolder({ dataDirectory: folder, log });
  const maker = new BackupMaker({
    database,
    status: undefined,
    identity,
    localFolder,
    settings: live,
    clock,
    dataDirectory: folder,
  });
  const fault = (where: string, error: unknown) => note(`fault ${where} ${String(error)}`);
  const contributions = (() =>
    (options.targets ?? []).map((value) => ({ plugin: 'test', value, fault }))) as never;
  const signal = stop.signal;
  const archive = new Archive({
    localFolder,
    maker,
    database,
    identity,
    contributions,
    db,
    clock,
    log,
    signal,
    dataDirectory: folder,
  });
  const allSettings = { read: () => ({ timeLocation: 'UTC' }) } as never;
  const self = { kind: 'plugin', name: 'backup' } as const;
  const needs = { archive, localFolder, settings: live, allSettings, clock, log, self, signal };
  const scheduler = new Scheduler(needs);
  const world: World = {
    folder,
    clock,
    archive,
    scheduler,
    localFolder,
    changes,
    logged,
    settings,
    problem: '',
    rehearsal: undefined,
    restoredClients: 1,
    snapshotError: undefined,
    writeError: undefined,
    pause: undefined,
    stop: () => stop.abort(new Error('the panel stops')),
    names: async (place = LOCAL) => (await archive.list(place)).map(({ manifest }) => manifest.name),
  };
  await archive.start();
  await scheduler.start();
  return world;
}

/** Everything in the folder of backups but the state of the schedule. */
export const filesIn = async (world: World): Promise<string[]> =>
  (await readdir(join(world.folder, 'backups')).catch(() => []))
    .filter((name) => name !== '.schedule.json')
    .sort();
