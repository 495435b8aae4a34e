// Makes backups by the schedule, copies them to the targets, and deletes old ones.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  inspect,
  int,
  type LiveSettings,
  type Log,
  messageOf,
  type PluginContext,
  type Principal,
  replaceFile,
  shape,
  text,
} from '../../../kernel/index.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../../settings/contract.js';
import { type Archive, LOCAL } from '../archive/archive.js';
import { isGood, type LocalFolder } from '../archive/local-folder.js';
import { type BackupRecord, isVerified, type ListedBackup, type Manifest } from '../archive/record.js';
import type { backupSettings } from '../settings.js';
import type { TargetCopies } from '../targets/copies.js';
import { superfluous, superfluousFailed } from './rotation.js';
import { dueAt, RETRY_MS, type RunState, withoutFuture } from './timetable.js';

const STATE_FILE = '.schedule.json';
const State = shape({
  schedule: text().max(32),
  since: int().min(0),
  triedAt: int().min(0),
  doneAt: int().min(0),
  problem: text().max(10_000),
});

interface Needs {
  readonly archive: Archive;
  readonly localFolder: LocalFolder;
  readonly settings: LiveSettings<typeof backupSettings>;
  readonly allSettings: SettingsApi;
  readonly clock: Clock;
  readonly log: Log;
  readonly self: PluginContext['self'];
  readonly signal: AbortSignal;
}

export interface ScheduleStatus {
  /** Unix ms; 0: no schedule */
  readonly nextAt: number;
  readonly triedAt: number;
  readonly doneAt: number;
  readonly problem: string;
}

export class Scheduler {
  readonly #needs: Needs;
  #state: RunState = { schedule: '', since: 0, triedAt: 0, doneAt: 0, problem: '' };
  /** Unix ms of the last failure of a target, by its name */
  readonly #failedAt = new Map<string, number>();
  /** of the newest backup, by target */
  readonly #problems = new Map<string, string>();
  #isLooking = false;

  constructor({ archive, localFolder, settings, allSettings, clock, log, self, signal }: Needs) {
    this.#needs = { archive, localFolder, settings, allSettings, clock, log, self, signal };
  }

  get #path(): string {
    return join(this.#needs.localFolder.path, STATE_FILE);
  }

  get #zone(): string | undefined {
    return timeZoneOf(this.#needs.allSettings.read(panelSettings).timeLocation);
  }

  /** Without a state, as in a new data folder, the first backup is made at the next time. */
  async start(): Promise<void> {
    await this.#readState();
    // An alarm about a target does not end because the panel restarts.
    const newest = await this.#needs.localFolder.newestGood();
    for (const [name, { problem }] of Object.entries(newest?.copies ?? {})) this.#problems.set(name, problem);
  }

  async #readState(): Promise<void> {
    const stored = await readFile(this.#path, 'utf8').catch(() => undefined);
    if (stored === undefined) return;
    try {
      const result = inspect(State, JSON.parse(stored));
      if ('value' in result) this.#state = result.value as RunState;
    } catch {
      this.#needs.log.warn('the state of the backup schedule cannot be read; it begins again', {
        path: this.#path,
      });
    }
  }

  async #keep(change: Partial<RunState>): Promise<void> {
    this.#state = { ...this.#state, ...change };
    // On a full disk the state in memory is enough until the next start.
    await replaceFile(this.#path, `${JSON.stringify(this.#state)}\n`, 0o600).catch((error: unknown) =>
      this.#needs.log.warn('the state of the backup schedule cannot be stored', { reason: messageOf(error) }),
    );
  }

  status(): ScheduleStatus {
    const { triedAt, doneAt, problem } = this.#state;
    const { backupSchedule: schedule } = this.#needs.settings.read();
    // A schedule that was just set counts from the next look, in a minute at most.
    const state =
      schedule === this.#state.schedule
        ? this.#state
        : { ...this.#state, schedule, since: this.#needs.clock.now(), problem: '' };
    return { nextAt: schedule === '' ? 0 : dueAt(state, this.#zone), triedAt, doneAt, problem };
  }

  /** Why an admin should look; blank: everything is well. */
  get problem(): string {
    if (this.#state.problem !== '') return this.#state.problem;
    const names = new Set(this.#needs.archive.targets().map(({ name }) => name));
    return [...this.#problems].find(([name, problem]) => problem !== '' && names.has(name))?.[1] ?? '';
  }

  /** Called each minute, and at the start: makes what is due, also what was missed while the panel was off. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#look();
    } finally {
      this.#isLooking = false;
    }
  }

  async #look(): Promise<void> {
    const { settings, clock, archive } = this.#needs;
    const { backupSchedule: schedule } = settings.read();
    const now = clock.now();
    if (schedule !== this.#state.schedule) await this.#keep({ schedule, since: now, problem: '' });
    const sound = withoutFuture(this.#state, now);
    if (sound !== this.#state) await this.#keep(sound);
    if (archive.work !== '') return;
    if (schedule !== '' && dueAt(this.#state, this.#zone) <= now) await this.#runScheduled();
    else if (this.#mayCopy().length > 0)
      await archive.exclusively('copying a backup', () => this.#distribute(this.#mayCopy()));
  }

  async #runScheduled(): Promise<void> {
    const { log, self, signal } = this.#needs;
    try {
      await this.run('schedule', self);
    } catch (error) {
      if (signal.aborted) return;
      log.error('a scheduled backup failed; it is tried again in an hour', { reason: messageOf(error) });
    }
  }

  /** Makes a backup, copies it and deletes old ones. Resolves when it is in the data folder; problems of targets are in its record. */
  run(by: Manifest['by'], who: Principal): Promise<ListedBackup> {
    const { archive, localFolder } = this.#needs;
    return archive.exclusively('making a backup', async () => {
      const made = await this.#make(by, who);
      if (isVerified(made)) {
        await this.#distribute(archive.targets());
        await this.#rotate(LOCAL);
      } else await this.#rotate(LOCAL, true);
      return (await localFolder.find(made.manifest.name)) ?? { ...made, problem: '' };
    });
  }

  async #make(by: Manifest['by'], who: Principal): Promise<BackupRecord> {
    const { archive, clock, signal } = this.#needs;
    const triedAt = clock.now();
    try {
      const made = await archive.make(by, who);
      const problem = isVerified(made)
        ? ''
        : `the backup ${made.manifest.name} cannot be restored: ${made.verification.problem}`;
      await this.#keep({ triedAt, problem, ...(problem === '' && { doneAt: triedAt }) });
      return made;
    } catch (error) {
      if (!signal.aborted) await this.#keep({ triedAt, problem: messageOf(error).slice(0, 2_000) });
      throw error;
    }
  }

  /** Targets whose last failure is an hour ago. */
  #mayCopy(): readonly TargetCopies[] {
    const { archive, clock } = this.#needs;
    return archive.targets().filter(({ name }) => {
      const failedAt = this.#failedAt.get(name);
      return failedAt === undefined || Math.abs(clock.now() - failedAt) >= RETRY_MS;
    });
  }

  /** The newest good backup goes to each of these targets that does not have it. */
  async #distribute(targets: readonly TargetCopies[]): Promise<void> {
    const { archive, localFolder, clock } = this.#needs;
    const newest = await localFolder.newestGood();
    for (const target of newest ? targets : []) {
      const copy = newest?.copies[target.name];
      if (!newest || (copy?.problem === '' && copy.place === target.place)) continue;
      const problem = await archive.copyTo(target, newest);
      this.#problems.set(target.name, problem);
      if (problem === '') this.#failedAt.delete(target.name);
      else this.#failedAt.set(target.name, clock.now());
      if (problem === '') await this.#rotate(target.name);
    }
  }

  /** Deletes old backups of this panel in one place; after a failed one, only earlier failed ones. */
  async #rotate(place: string, hasFailed = false): Promise<void> {
    const { archive, settings, self, log, signal } = this.#needs;
    const { backupKeepLast, backupKeepDays, backupKeepWeeks, backupKeepMonths } = settings.read();
    try {
      const backups = (await archive.list(place)).filter((backup) => archive.isOwn(backup));
      const rotated = backups.map((backup) => ({
        name: backup.manifest.name,
        createdAt: backup.manifest.createdAt,
        isGood: isGood(backup),
        hasFailed: backup.verification.method === 'restored' && !isVerified(backup) && backup.problem === '',
      }));
      const kept = {
        last: backupKeepLast,
        days: backupKeepDays,
        weeks: backupKeepWeeks,
        months: backupKeepMonths,
      };
      const old = new Set(hasFailed ? superfluousFailed(rotated) : superfluous(rotated, kept, this.#zone));
      for (const backup of backups) {
        signal.throwIfAborted();
        if (old.has(backup.manifest.name)) await archive.delete(backup, place, self);
      }
      if (!hasFailed) await archive.removeRests(place);
    } catch (error) {
      signal.throwIfAborted();
      log.warn('old backups could not be deleted', { place, reason: messageOf(error) });
    }
  }
}
