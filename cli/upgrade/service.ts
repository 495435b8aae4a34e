// The service under systemd.
import { chmod, copyFile, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from './run-program.js';

export interface ServiceState {
  readonly active: boolean;
  /** of the panel; 0 while there is none */
  readonly pid: number;
  /** how often the panel has exited and was started again since it was started on request */
  readonly restarts: number;
}

/** What an upgrade needs of a service manager. */
export interface Service {
  /** Puts the unit of a release in place. */
  install(release: string): Promise<void>;
  /** Starts the panel with the current release, or restarts it. The core is left to the new panel. */
  restart(): Promise<void>;
  /** Stops the panel, and leaves the core. */
  leave(): Promise<void>;
  state(): Promise<ServiceState>;
  /** The last error in the log of the panel; blank where none is found. */
  lastError(): Promise<string>;
}

const UNIT = 'weir';
const UNITS = '/etc/systemd/system';
/** An older release has none of them. */
const UPDATE_UNITS = ['weir-update.service', 'weir-update.path'];
/** More than `TimeoutStopSec` of the unit. */
const CALL_LIMIT_MS = 60_000;
const LEAVE_LIMIT_MS = 25_000;
const LOOK_MS = 100;
const LINES = '200';

async function systemctl(...args: string[]): Promise<string> {
  const { code, said, complained } = await runProgram('systemctl', args, CALL_LIMIT_MS);
  if (code !== 0)
    throw new Error(`systemctl ${args.join(' ')} failed: ${complained.trim() || `code ${code}`}`);
  return said;
}

/** `Name=value` lines. */
const fieldsOf = (text: string): Map<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    }),
  );

/** The last entry of level error, as a sentence. */
export function lastErrorIn(log: string): string {
  for (const line of log.split('\n').reverse()) {
    if (!line.includes('"level":"error"')) continue;
    try {
      const { msg = '', problem, reason, error } = JSON.parse(line) as Record<string, unknown>;
      const why = problem ?? reason ?? (error as { message?: unknown } | undefined)?.message;
      return typeof why === 'string' ? `${String(msg)}: ${why}` : String(msg);
    } catch {}
  }
  return '';
}

/** Not `systemctl kill`: its option for the main process has another name in older versions. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited meanwhile.
  }
}

async function placeUnit(release: string, name: string): Promise<void> {
  const draft = join(UNITS, `${name}.new`);
  await copyFile(join(release, 'systemd', name), draft);
  await chmod(draft, 0o644);
  await rename(draft, join(UNITS, name));
}

/** The last restart on request, in seconds since 1970: older entries of the log are of another release. */
let since = 0;

export const systemd: Service = {
  install: async (release) => {
    await placeUnit(release, 'weir.service');
    const here = await readdir(join(release, 'systemd'));
    const hasUpdates = UPDATE_UNITS.every((name) => here.includes(name));
    if (hasUpdates) for (const name of UPDATE_UNITS) await placeUnit(release, name);
    // Neither stops the service that may be running this upgrade.
    else await systemctl('disable', '--quiet', ...UPDATE_UNITS).catch(() => undefined);
    await systemctl('daemon-reload');
    if (!hasUpdates) return;
    await systemctl('enable', '--quiet', ...UPDATE_UNITS);
    await systemctl('start', 'weir-update.path');
  },
  restart: async () => {
    since = Math.floor(Date.now() / 1000);
    // Otherwise the count of restarts goes on where the previous release left it.
    await systemctl('reset-failed', UNIT);
    await systemctl('restart', UNIT);
  },
  leave: async () => {
    let told = 0;
    for (const deadline = Date.now() + LEAVE_LIMIT_MS; ; await sleep(LOOK_MS)) {
      const { pid } = await systemd.state();
      if (pid === 0) break;
      // SIGTERM, also that of `systemctl stop`, would stop the core as well.
      if (Date.now() > deadline) signal(pid, 'SIGKILL');
      // A panel that failed may have been started again meanwhile.
      else if (pid !== told) signal(pid, 'SIGUSR2');
      told = pid;
    }
    // Without a panel this only ends the attempts to start one.
    await systemctl('stop', UNIT);
  },
  state: async () => {
    const fields = fieldsOf(await systemctl('show', '--property=ActiveState,MainPID,NRestarts', UNIT));
    const active = fields.get('ActiveState');
    return {
      active: active === 'active' || active === 'activating' || active === 'reloading',
      pid: Number(fields.get('MainPID')) || 0,
      restarts: Number(fields.get('NRestarts')) || 0,
    };
  },
  lastError: () =>
    runProgram(
      'journalctl',
      ['--unit', UNIT, `--since=@${since}`, '--lines', LINES, '--output', 'cat', '--no-pager'],
      CALL_LIMIT_MS,
    ).then(
      ({ said }) => lastErrorIn(said),
      () => '',
    ),
};
