// The client as its users have it: built as a package, in a folder outside of the source tree that knows nothing of Weir.
import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sourceRoot } from '../../test/harness/source-root.js';

const run = promisify(execFile);
const rootFolder = async (): Promise<string> => fileURLToPath(await sourceRoot());

/** `npm run sdk` into `out`; resolves with the path of the archive. */
export async function packSdk(out: string): Promise<string> {
  const { stdout } = await run(process.execPath, [join(await rootFolder(), 'bin/sdk.mjs'), '--out', out]);
  return stdout.trim();
}

/** Puts the package into `folder`, as npm would; much quicker than npm. */
export async function placeSdk(folder: string): Promise<void> {
  const target = join(folder, 'node_modules', '@weir-panel', 'sdk');
  await run(process.execPath, [join(await rootFolder(), 'bin/sdk.mjs'), '--folder', target]);
}

/** What people have beside it: types of Node, from our own packages. */
export async function placeTypes(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules', '@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types'])
    await symlink(join(await rootFolder(), 'node_modules', name), join(folder, 'node_modules', name));
}

/** Compiles a folder by its tsconfig.json; resolves with what the compiler complains about. */
export async function compile(folder: string): Promise<string> {
  const compiler = join(await rootFolder(), 'node_modules', 'typescript', 'bin', 'tsc');
  return run(process.execPath, [compiler, '-p', folder], { cwd: folder }).then(
    () => '',
    (error: { stdout?: string; message: string }) => error.stdout || error.message,
  );
}
