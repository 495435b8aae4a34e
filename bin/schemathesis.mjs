// Installs schemathesis, which tests an API against its description, into a folder of its own; for the tests.
import { createHash } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from './setup.mjs';

const REQUIREMENTS = join(root, 'test', 'schemathesis', 'requirements.txt');

/** Resolves with the path of the command, or a sentence that says why there is none. */
export async function schemathesis() {
  const digest = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex');
  const folder = join(root, 'node_modules', '.cache', 'weir', `schemathesis-${digest.slice(0, 12)}`);
  // Written last: without this file, an earlier install was interrupted.
  const stamp = join(folder, 'installed');
  const command = join(folder, 'bin', 'schemathesis');
  if (await stat(stamp).catch(() => undefined)) return { command };
  await rm(folder, { recursive: true, force: true });
  try {
    await run('python3 -m venv', 'python3', ['-m', 'venv', folder]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS];
    await run('pip install', join(folder, 'bin', 'python3'), pip);
    await writeFile(stamp, '');
    return { command };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return {
      missing: `schemathesis could not be installed (${error.message}); it needs Python 3.10 or later with venv and pip, and a package index`,
    };
  }
}
