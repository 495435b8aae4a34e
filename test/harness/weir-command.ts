// The command line: called in this process, or started as a person starts it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { weir } from '../../cli/weir.js';
import type { Check } from '../../panel/check-in-child.js';
import { environmentOf } from './api.js';
import { nodeFlags } from './node-flags.js';

export interface Ended {
  readonly code: number | null;
  /** standard output */
  readonly said: string;
  /** standard error */
  readonly complained: string;
}

type Env = Readonly<Record<string, string>>;
const ENTRY = fileURLToPath(new URL('./weir-entry.js', import.meta.url));

function environment(dataDirectory: string, env: Env): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith('WEIR_') || name.startsWith('WEIR_ENGINE_'),
    ),
  );
  return { ...inherited, ...environmentOf(dataDirectory), WEIR_LOG_LEVEL: '', ...env };
}

/** `weir …` for the panel of this data folder, in this process. */
export const weirCommand = (
  dataDirectory: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> => weirWithCheck(dataDirectory, argv, env);

/**
 * The same with a check of one's own before a plugin is added or removed. By default it is another process; a test whose
 * plugins do no harm while they are imported passes `check` of panel/check.ts.
 */
export async function weirWithCheck(
  dataDirectory: string,
  argv: readonly string[],
  env: Env,
  check?: Check,
): Promise<Ended> {
  let said = '';
  let complained = '';
  const terminal = {
    say: (line: string) => void (said += `${line}\n`),
    complain: (line: string) => void (complained += `${line}\n`),
  };
  const code = await weir(argv, environment(dataDirectory, env), terminal, check);
  return { code, said, complained };
}

/** The same as a process of its own: for exit codes, streams and what must not outlive a command. */
export async function weirProcess(
  dataDirectory: string,
  argv: readonly string[],
  env: Env = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...nodeFlags, ENTRY, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(dataDirectory, env),
  });
  let said = '';
  let complained = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said, complained };
}
