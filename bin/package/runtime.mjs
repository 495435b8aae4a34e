// Node: the binary of the project, from a package of npm that is pinned by its digest.
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { cached, checkMachine, run } from './target.mjs';

/** Resolves with the version and the unpacked package, which has the headers for addons as well. */
export async function copyRuntime(folder, arch) {
  const { version, packages } = JSON.parse(await readFile(join(root, 'install', 'runtime.json'), 'utf8'));
  const { name, integrity } = packages[arch];
  const kept = await cached(`node-${arch}`, { version, integrity }, async (draft) => {
    await run('the download of Node', 'npm', [
      ...['pack', `${name}@${version}`, '--pack-destination', draft, '--ignore-scripts', '--loglevel=error'],
    ]);
    const [file] = await readdir(draft);
    checkIntegrity(await readFile(join(draft, file)), integrity, `${name}@${version}`);
    await run('tar', 'tar', ['-xzf', join(draft, file), '-C', draft]);
  });
  const files = join(kept, 'package');
  await checkMachine(join(files, 'bin', 'node'), arch);
  await copyFile(join(files, 'bin', 'node'), join(folder, 'bin', 'node'));
  return { version, folder: files };
}

export function checkIntegrity(bytes, integrity, what) {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${what} has the digest ${found}, but install/runtime.json has ${integrity}`);
}
