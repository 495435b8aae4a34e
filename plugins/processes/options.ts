// Checks the options of a process and fills in defaults.
import { createHash } from 'node:crypto';
import { isAbsolute, relative, resolve } from 'node:path';
import type { BackOffTimes } from './back-off.js';
import type { ProcessOptions } from './contract.js';
import { minimalEnvironment } from './environment.js';
import type { LogLimits } from './cut-log.js';
import type { Probe } from './probes.js';

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const;
/** Linux allows 128 KiB in one argument or variable (MAX_ARG_STRLEN, execve(2)). */
const LONGEST = 128 * 1024 - 1;
const MOST_ARGUMENTS = 10_000;
const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

/** Checked options, with defaults. */
export interface Plan {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** digest of everything that the process is started with */
  readonly digest: string;
  readonly ready: Probe | undefined;
  readonly readyWithin: number;
  readonly log: LogLimits;
  readonly adopt: boolean;
  readonly backOff: BackOffTimes;
  readonly attempts: number;
  readonly stopSignal: NodeJS.Signals;
  readonly stopGrace: number;
}

/** Whether a path lies in a folder, or is it; symbolic links are not followed. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}

export const isName = (name: unknown): name is string => typeof name === 'string' && NAME.test(name);

/** Throws an error that names the option. @param folder of the process @param data the panel's data folder */
export function planOf(options: ProcessOptions, folder: string, data: string): Plan {
  const refuse = (option: string, problem: string): never => {
    throw new TypeError(`processes: the option ${option} of ${JSON.stringify(options.name)} ${problem}`);
  };
  const text = (option: string, value: unknown): string => {
    if (typeof value !== 'string') return refuse(option, 'is not a text');
    if (value.includes('\0')) return refuse(option, 'holds a zero byte');
    return Buffer.byteLength(value) > LONGEST ? refuse(option, 'is longer than 128 KiB') : value;
  };
  const whole = (option: string, value: unknown, least: number, most: number): number =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
      ? value
      : refuse(option, `must be a whole number from ${least} to ${most}`);

  const { name, args = [], env = {}, ready, adopt = true, stopSignal = 'SIGTERM' } = options;
  if (!isName(name)) refuse('name', 'must be 1 to 48 lower-case letters, digits and hyphens');
  const command = text('command', options.command);
  if (command === '' || (command.includes('/') && !isAbsolute(command)))
    refuse('command', 'must be an absolute path, or a name that is looked up in PATH');
  if (!Array.isArray(args) || args.length > MOST_ARGUMENTS)
    refuse('args', `must be a list of at most ${MOST_ARGUMENTS} texts`);
  for (const arg of args) text('args', arg);
  for (const [variable, value] of Object.entries(env)) {
    if (!VARIABLE.test(variable))
      refuse('env', `has the name ${JSON.stringify(variable)}; letters, digits and _ only`);
    text(`env.${variable}`, value);
  }
  const cwd = options.cwd === undefined ? folder : resolve(folder, text('cwd', options.cwd));
  if (!isInside(cwd, data)) refuse('cwd', `must lie in the data folder ${data}`);
  if (ready !== undefined && typeof ready !== 'function') refuse('ready', 'must be a function');
  if (!SIGNALS.includes(stopSignal)) refuse('stopSignal', `must be one of ${SIGNALS.join(', ')}`);
  const startedWith = text('startedWith', options.startedWith ?? '');
  const { first = 1_000, last = 30_000, healthy = 60_000, attempts } = options.backOff ?? {};
  const passed = { ...env };
  return {
    name,
    command,
    args: [...args],
    env: { ...minimalEnvironment(), ...passed },
    cwd,
    // A digest of the owner's options only: a change of the panel's PATH or LANG needs no restart.
    digest: digestOf([command, args, Object.entries(passed).sort(), cwd, startedWith]),
    ready,
    readyWithin: whole('readyWithin', options.readyWithin ?? 30_000, 1, DAY_MS),
    log: {
      maxBytes: whole('log.maxBytes', options.log?.maxBytes ?? 4 * MIB, 1024, 1024 * MIB),
      keep: whole('log.keep', options.log?.keep ?? 1, 0, 20),
    },
    adopt,
    backOff: {
      first: whole('backOff.first', first, 1, DAY_MS),
      last: whole('backOff.last', last, first, DAY_MS),
      healthy: whole('backOff.healthy', healthy, 1, DAY_MS),
    },
    attempts: attempts === undefined ? Infinity : whole('backOff.attempts', attempts, 1, 1_000_000),
    stopSignal,
    stopGrace: whole('stopGrace', options.stopGrace ?? 5_000, 0, 60_000),
  };
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');
