// Installs and removes plugin packages in a staging copy of `plugins/`, which replaces the folder when all has worked.
import { cp, mkdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { npm, type Packed } from './npm.js';

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Packages that npm was told to install, by name. */
export async function installedIn(dataDirectory: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(dataDirectory, 'plugins', 'package.json'), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { dependencies?: Record<string, string> }).dependencies ?? {};
}

export class StagedPlugins {
  readonly #dataDirectory: string;
  /** whether the data folder was created for it */
  readonly #made: boolean;
  /** has the layout of a data folder; its `plugins/` is the staging copy */
  readonly folder: string;

  private constructor(dataDirectory: string, made: boolean) {
    this.#dataDirectory = dataDirectory;
    this.#made = made;
    this.folder = join(dataDirectory, 'plugins.new');
  }

  /** Only one at a time; cleans up what a crashed one has left behind. */
  static async open(dataDirectory: string): Promise<StagedPlugins> {
    const made = !(await isThere(dataDirectory));
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    const staged = new StagedPlugins(dataDirectory, made);
    await staged.#enter();
    try {
      if (await isThere(staged.#live))
        await cp(staged.#live, staged.#plugins, { recursive: true, verbatimSymlinks: true });
      await mkdir(join(staged.#plugins, 'packages'), { recursive: true });
      const manifest = join(staged.#plugins, 'package.json');
      if (!(await isThere(manifest))) await writeFile(manifest, '{\n  "private": true\n}\n');
    } catch (error) {
      await staged.close();
      throw error;
    }
    return staged;
  }

  get #live(): string {
    return join(this.#dataDirectory, 'plugins');
  }
  get #plugins(): string {
    return join(this.folder, 'plugins');
  }
  get #previous(): string {
    return join(this.folder, 'previous');
  }

  async #enter(): Promise<void> {
    const holder = join(this.folder, 'pid');
    const taken = await mkdir(this.folder, { mode: 0o700 }).then(
      () => false,
      (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? true : Promise.reject(error)),
    );
    if (taken) {
      const pid = Number(await readFile(holder, 'utf8').catch(() => ''));
      if (pid > 0 && isRunning(pid))
        throw new Error(
          `the process ${pid} is changing the plugins of ${this.#dataDirectory}; try again when it has exited`,
        );
      if ((await isThere(this.#previous)) && !(await isThere(this.#live)))
        await rename(this.#previous, this.#live);
      await rm(this.folder, { recursive: true });
      await mkdir(this.folder, { mode: 0o700 });
    }
    await writeFile(holder, String(process.pid));
  }

  /** Installs from a file that stays beside the package, so that npm never has to fetch it again. */
  async install({ name, path }: Packed): Promise<void> {
    const file = join('packages', basename(path));
    const previous = await this.#fileOf(name);
    if (previous !== undefined) await rm(previous, { force: true });
    await rename(path, join(this.#plugins, file));
    // A plugin may name `@weir-panel/weir` as a peer, for its types; at run time it gets the running panel.
    await npm(
      'install',
      ['--omit=dev', '--legacy-peer-deps', '--prefer-offline', '--prefix', this.#plugins, '--', `./${file}`],
      this.#plugins,
    );
  }

  async uninstall(name: string): Promise<void> {
    const file = await this.#fileOf(name);
    await npm(
      'uninstall',
      ['--offline', '--legacy-peer-deps', '--prefix', this.#plugins, '--', name],
      this.#plugins,
    );
    if (file !== undefined) await rm(file, { force: true });
  }

  /** The file or address that a package was installed from. */
  async #fileOf(name: string): Promise<string | undefined> {
    const [, file] = /^file:(packages\/[^/]+)$/.exec((await installedIn(this.folder))[name] ?? '') ?? [];
    return file === undefined ? undefined : join(this.#plugins, file);
  }

  /** Replaces the current folder with the staging copy. */
  async commit(): Promise<void> {
    const hadSome = await isThere(this.#live);
    if (hadSome) await rename(this.#live, this.#previous);
    await rename(this.#plugins, this.#live).catch(async (error: unknown) => {
      if (hadSome) await rename(this.#previous, this.#live);
      throw error;
    });
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
    // Only if it is empty.
    if (this.#made) await rmdir(this.#dataDirectory).catch(() => undefined);
  }
}
