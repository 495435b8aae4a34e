// Switches the service from one release to another and waits until the panel works. If it does not, the previous release
// comes back, with the previous database if migrations ran. The core runs all the time.
import { readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../kernel/errors/errors.js';
import type { AppliedMigration } from '../../panel/inspect-data.js';
import type { Installation, UpgradeRecord } from './installation.js';
import { isSame, type Wanted } from './put-back.js';
import type { Ended } from './run-program.js';
import type { Service } from './service.js';

/** The machine around an upgrade; tests have their own. */
export interface Machine {
  readonly installation: Installation;
  readonly service: Service;
  /** Runs a command of a release as the panel's user. */
  readonly weir: (release: string, argv: readonly string[]) => Promise<Ended>;
  /** What has run in the database; undefined where there is none yet. */
  readonly applied: () => Promise<readonly AppliedMigration[] | undefined>;
  /** Puts a copy of before the upgrade in place, as the panel's user. Resolves with its path and that of the replaced database; undefined where no copy fits. */
  readonly putBack: (wanted: Wanted) => Promise<{ copy: string; kept: string } | undefined>;
  /** The database is a file that this machine has. */
  readonly isFile: boolean;
  readonly say: (line: string) => void;
  readonly complain: (line: string) => void;
  /** how long a panel may take to start, migrations included */
  readonly limitMs: number;
  /** a panel that works must still be the same process after this time */
  readonly settledMs: number;
}

const LOOK_MS = 250;
/** A line of `weir check`. */
const NEWER = /^note +a newer release has migrated.*$/m;
const NOT_RUNNING = /^plugin (\S+) does not run: (.*)$/gm;

const notRunningIn = (said: string): Map<string, string> =>
  new Map([...said.matchAll(NOT_RUNNING)].map(([, name = '', reason = '']) => [name, reason]));

/** Whether the process runs a program of this release. */
async function isFrom(pid: number, release: string): Promise<boolean> {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
  return program.startsWith(`${release}/`);
}

/** Waits until the release works; resolves with the reason why it does not. */
export async function whyNotReady(
  { installation, service, weir, limitMs, settledMs }: Machine,
  version: string,
  notRunning: readonly string[],
): Promise<string | undefined> {
  const release = installation.folderOf(version);
  let last = 'the panel does not start';
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await sleep(LOOK_MS)) {
    try {
      const { active, pid, restarts } = await service.state();
      if (!active || restarts > 0) return (await service.lastError()) || 'the panel exited; its log says why';
      if (pid === 0 || !(await isFrom(pid, release))) continue;
      const health = await weir(version, ['health']);
      if (health.code !== 0) {
        last = health.complained.trim() || last;
        continue;
      }
      const failed = [...notRunningIn(health.said)].filter(([name]) => !notRunning.includes(name));
      if (failed.length > 0)
        return `plugins do not run: ${failed.map(([name, reason]) => `${name} (${reason})`).join('; ')}`;
      await sleep(settledMs);
      const later = await service.state();
      if (later.pid === pid && later.restarts === 0) return undefined;
    } catch (error) {
      // A call that fails or hangs must not leave a broken release in place.
      last = messageOf(error);
    }
  }
  return `${last} (after ${Math.round(limitMs / 1000)} s)`;
}

/** Refuses a release with which the panel would not start, before anything changes. What the running release complains about as well is no reason. */
async function refuseUnfit(machine: Machine, from: string, to: string): Promise<boolean> {
  const { weir, applied, isFile, complain } = machine;
  // The migrations of the new release run on a copy of the database first. That of a server has no copy.
  const hasCopy = isFile && (await applied()) !== undefined;
  const found = await weir(to, hasCopy ? ['check', '--copy'] : ['check']);
  const [newer] = NEWER.exec(found.said) ?? [];
  if (newer !== undefined) {
    complain(
      `nothing was changed: ${newer.replace(/^note +/, '')}; \`weir rollback\` goes back to an older release`,
    );
    return true;
  }
  if (found.code === 0) return false;
  complain(found.complained.trim());
  const before = await weir(from, ['check']);
  if (before.code !== 0 && before.complained === found.complained) {
    complain(`Weir ${from} has the same problems; the upgrade goes on`);
    return false;
  }
  complain(`nothing was changed: Weir ${to} would not start as ${from} does`);
  return true;
}

export interface SwitchOptions {
  /** goes on without a backup */
  readonly withoutBackup: boolean;
}

/** Resolves with the exit code of the command. */
export async function switchRelease(machine: Machine, to: string, options: SwitchOptions): Promise<number> {
  const { installation, service, weir, applied, say, complain } = machine;
  const current = await installation.current();
  if (current === undefined) throw new Error(`${installation.root} has no current release; run install.sh`);
  const last = await installation.record('upgrade.json');
  if (current === to && last?.state === 'under way' && last.to === to) {
    say(`the upgrade from ${last.from} to ${to} was interrupted; it goes on`);
    return settle(machine, last, async () => {
      await service.install(installation.folderOf(to));
      // It may have been killed between the link and the restart.
      if (!(await isFrom((await service.state()).pid, installation.folderOf(to)))) await service.restart();
    });
  }
  if (current === to) {
    const problem = (await service.state()).active ? await whyNotReady(machine, to, []) : 'it is stopped';
    say(`Weir ${to} is installed already${problem === undefined ? ' and works' : `: ${problem}`}`);
    return problem === undefined ? 0 : 1;
  }
  if (await refuseUnfit(machine, current, to)) return 1;
  const before = await weir(current, ['health']);
  let backup = '';
  if (!options.withoutBackup) {
    const made = await weir(current, ['backup']);
    if (made.code !== 0) {
      complain(`nothing was changed: the backup failed: ${made.complained.trim()}`);
      return 1;
    }
    backup = made.said.trim().split('\n').at(-1) ?? '';
    say(`backup: ${backup}`);
  }
  const record: UpgradeRecord = {
    at: Date.now(),
    state: 'under way',
    from: current,
    to,
    backup,
    applied: await applied(),
    notRunning: [...notRunningIn(before.said).keys()],
    problem: '',
  };
  await installation.write('upgrade.json', record);
  return settle(machine, record, async () => {
    await installation.link('current', to);
    await service.install(installation.folderOf(to));
    await service.restart();
  });
}

/** Starts the new release and waits for it, then records the end of the upgrade or goes back. */
async function settle(machine: Machine, record: UpgradeRecord, start: () => Promise<void>): Promise<number> {
  const { installation, say, complain } = machine;
  const { from, to } = record;
  const problem = await start().then(() => whyNotReady(machine, to, record.notRunning), messageOf);
  if (problem === undefined) {
    await installation.link('previous', from);
    await installation.write('upgraded.json', { ...record, state: 'done' });
    await installation.write('upgrade.json', { ...record, state: 'done' });
    const removed = await installation.prune([from, to]);
    if (removed.length > 0) say(`removed ${removed.join(', ')}`);
    say(`Weir ${to} works`);
    return 0;
  }
  complain(`Weir ${to} does not work: ${problem}`);
  await goBack(machine, { ...record, problem });
  return 1;
}

/** Brings the release of before the record back. Rejects with what a person has to do. */
export async function goBack(machine: Machine, record: UpgradeRecord): Promise<void> {
  const { installation, service, applied, putBack, isFile, say, complain } = machine;
  const { from, backup, notRunning } = record;
  const note = (error: unknown): void => complain(messageOf(error));
  await service.leave();
  if (!isSame(record.applied, await applied())) {
    if (!isFile)
      throw new Error(
        `migrations ran on the database server, and the panel is stopped: restore the database with the means of the server, or link ${installation.root}/current to releases/${from}, start weir and run \`weir restore ${backup} --all-settings\``,
      );
    const back =
      record.applied &&
      (await putBack({ applied: record.applied, at: record.at, backup }).catch((cause: unknown) => {
        throw new Error(
          `${messageOf(cause)}; the panel is stopped, and the core runs: remove the cause (a full disk, for example) and run the same command again`,
          { cause },
        );
      }));
    if (!back)
      throw new Error(
        `migrations ran, and no copy of the database of before was found; the panel is stopped, and the core runs`,
      );
    say(`the database is that of ${back.copy} again; the migrated one is ${back.kept}`);
  }
  await installation.link('current', from);
  // On a full disk neither the unit nor the record can be written. The previous release can start without them.
  await service.install(installation.folderOf(from)).catch(note);
  const problem = await service.restart().then(() => whyNotReady(machine, from, notRunning), messageOf);
  await installation.write('upgrade.json', { ...record, state: 'failed' }).catch(note);
  if (problem !== undefined) throw new Error(`Weir ${from} is back, but does not work either: ${problem}`);
  say(`Weir ${from} is back and works`);
}
