// An installed package as tests of its upgrades see it: the package that they install, and the panel in the container.
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PanelApi } from '../harness/api.js';
import { sourceRoot } from '../harness/source-root.js';

const run = promisify(execFile);
const BUILD_OUTPUT = 16 * 1024 * 1024;

export class InstalledPanel extends PanelApi {
  readonly url: string;
  constructor(port: number) {
    super();
    this.url = `http://127.0.0.1:${port}`;
  }
  protected override told(): [] {
    return [];
  }
}

/** The folder of a package of this tree: one that was built before, or built now. */
export async function packageIn(parent: string): Promise<string> {
  const built = process.env['WEIR_TEST_PACKAGE'];
  if (built) {
    const folder = join(parent, basename(built));
    await cp(built, folder, { recursive: true });
    return folder;
  }
  const script = fileURLToPath(new URL('bin/package.mjs', await sourceRoot()));
  const { stdout } = await run(
    process.execPath,
    [script, '--arch', process.arch, '--folder', '--out', parent],
    { maxBuffer: BUILD_OUTPUT },
  );
  return stdout.trim().split('\n').at(-1) ?? '';
}
