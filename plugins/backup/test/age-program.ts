// The program age, with which people open backups. `npm test` installs it for files that say "Runs age".
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

/** Why it cannot run here; blank if it can. For `testUnless`. */
export const ageObstacle = (): string =>
  process.env['WEIR_TEST_AGE_MISSING'] ||
  (spawnSync('age', ['--version']).status === 0 ? '' : 'the program age is missing; install the package age');

export function runAge(...args: readonly string[]): { code: number | null; out: Buffer; err: string } {
  const { status, stdout, stderr } = spawnSync('age', args, { maxBuffer: 64 * 1024 * 1024 });
  return { code: status, out: stdout, err: stderr.toString() };
}

/** A new identity file and its public key. */
export function newIdentity(): { text: string; recipient: string } {
  const text = spawnSync('age-keygen', []).stdout.toString();
  const recipient = /public key: (age1\w+)/.exec(text)?.[1] ?? '';
  return { text, recipient };
}

/** age reads a passphrase from a terminal only, and `script` gives it one. */
export async function runAgeWithPassphrase(passphrase: string, command: string): Promise<string> {
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  const take = (chunk: Buffer): void => {
    out += chunk.toString();
    if (/passphrase[^\n]*:\s*$/i.test(stripVTControlCharacters(out))) {
      out += '\n';
      child.stdin.write(`${passphrase}\n`);
    }
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  await once(child, 'close');
  return out;
}
