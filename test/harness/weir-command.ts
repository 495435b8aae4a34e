// The command line as a process of its own, as a person calls it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environmentOf } from './api.js';
import { nodeFlags } from './node-flags.js';

export interface Ended {
  readonly code: number | null;
  /** standard output */
  readonly said: string;
  /** standard error */
  readonly complained: string;
}

const ENTRY = fileURLToPath(new URL('./weir-entry.js', import.meta.url));

/** `weir …` for the panel of this data folder. */
export async function weirCommand(
  dataDirectory: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith('WEIR_') || name.startsWith('WEIR_ENGINE_'),
    ),
  );
  const settings = { ...environmentOf(dataDirectory), WEIR_LOG_LEVEL: '', ...env };
  const child = spawn(process.execPath, [...nodeFlags, ENTRY, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inherited, ...settings },
  });
  let said = '';
  let complained = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said, complained };
}
