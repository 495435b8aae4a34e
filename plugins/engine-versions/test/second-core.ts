// A real second version of the core, built once from its Go module and retained in the cache folder.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sourceRoot } from '../../../test/harness/source-root.js';
import { keptCore, PROGRAM } from '../../engine/install/release.js';

/** The version in second-core/go.mod. */
export const SECOND_VERSION = '26.2.6';

/** Resolves with its path, or with why there is none. */
export async function secondCore(): Promise<{ readonly binary: string } | { readonly missing: string }> {
  // Beside the folder in which a panel looks for its core.
  const folder = join(keptCore(process.env), '..', '..', '..', 'test-cores');
  const binary = join(folder, `xray-${SECOND_VERSION}-${process.platform}-${process.arch}`, PROGRAM);
  if (
    await access(binary).then(
      () => true,
      () => false,
    )
  )
    return { binary };
  const unfinished = join(dirname(binary), `unfinished-${randomUUID()}`);
  try {
    await mkdir(dirname(binary), { recursive: true });
    await promisify(execFile)(
      'go',
      ['build', '-trimpath', '-ldflags', '-s -w', '-o', unfinished, 'github.com/xtls/xray-core/main'],
      {
        cwd: fileURLToPath(new URL('plugins/engine-versions/test/second-core/', await sourceRoot())),
        env: { ...process.env, GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
        maxBuffer: 16 * 1024 * 1024,
      },
    );
    await rename(unfinished, binary);
    return { binary };
  } catch (error) {
    return { missing: `core ${SECOND_VERSION} cannot be built: ${(error as Error).message.split('\n')[0]}` };
  }
}
