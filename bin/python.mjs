// Installs Python packages into a virtual environment of their own, for tests that need programs in Python.
import { createHash } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from './setup.mjs';

/**
 * @param name of what the environment is for
 * @param requirements file with its packages, all pinned, from the root of the checkout
 * Resolves with the folder of its commands, or a sentence that says why there is none.
 */
export async function pythonWith(name, requirements) {
  const file = join(root, requirements);
  const digest = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  const folder = join(root, 'node_modules', '.cache', 'weir', `${name}-${digest.slice(0, 12)}`);
  // Written last: without this file, an earlier install was interrupted.
  const stamp = join(folder, 'installed');
  const commands = join(folder, 'bin');
  if (await stat(stamp).catch(() => undefined)) return { commands };
  await rm(folder, { recursive: true, force: true });
  try {
    await run('python3 -m venv', 'python3', ['-m', 'venv', folder]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', file];
    await run('pip install', join(commands, 'python3'), pip);
    await writeFile(stamp, '');
    return { commands };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return {
      missing: `${name} could not be installed (${error.message}); it needs Python 3.10 or later with venv and pip, and a package index`,
    };
  }
}
