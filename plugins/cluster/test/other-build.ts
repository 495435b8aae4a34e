// A build of another version beside this one: a copy, with other migrations.
import { appendFile, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceRoot } from '../../../test/harness/source-root.js';

export class OtherBuild {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** `migration` is the source of one more migration of the plugin `clients`. */
  static async of(version: string, migration = ''): Promise<OtherBuild> {
    const root = fileURLToPath(await sourceRoot());
    const folder = await mkdtemp(join(tmpdir(), 'weir-build-'));
    const build = new OtherBuild(folder);
    await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
    await cp(join(root, 'config'), join(folder, 'config'), { recursive: true });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as object;
    await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
    if (migration !== '')
      await appendFile(
        join(folder, 'dist', 'plugins', 'clients', 'model', 'tables.js'),
        `\nmigrations.push(${migration});\n`,
      );
    return build;
  }

  /** The panel of this build, as two-panels starts it. */
  get entry(): string {
    return join(this.#folder, 'dist', 'plugins', 'cluster', 'test', 'panel-entry.js');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
