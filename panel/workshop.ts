// Where packages of plugins are put in and taken out: a copy of `plugins/` in the data folder, which takes its place when all is well.
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

/** What npm was told to keep, by the names of the packages. */
export async function installedIn(dataDirectory: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(dataDirectory, 'plugins', 'package.json'), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { dependencies?: Record<string, string> }).dependencies ?? {};
}

export class Workshop {
  readonly #dataDirectory: string;
  /** the data folder was made for it */
  readonly #made: boolean;
  /** as a data folder: its `plugins/` are those that are worked at */
  readonly folder: string;

  private constructor(dataDirectory: string, made: boolean) {
    this.#dataDirectory = dataDirectory;
    this.#made = made;
    this.folder = join(dataDirectory, 'plugins.new');
  }

  /** One at a time; what one that crashed has left behind is cleared away. */
  static async open(dataDirectory: string): Promise<Workshop> {
    const made = !(await isThere(dataDirectory));
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    const workshop = new Workshop(dataDirectory, made);
    await workshop.#enter();
    try {
      if (await isThere(workshop.#live))
        await cp(workshop.#live, workshop.#plugins, { recursive: true, verbatimSymlinks: true });
      await mkdir(join(workshop.#plugins, 'packages'), { recursive: true });
      const manifest = join(workshop.#plugins, 'package.json');
      if (!(await isThere(manifest))) await writeFile(manifest, '{\n  "private": true\n}\n');
    } catch (error) {
      await workshop.close();
      throw error;
    }
    return workshop;
  }

  get #live(): string {
    return join(this.#dataDirectory, 'plugins');
  }
  get #plugins(): string {
    return join(this.folder, 'plugins');
  }
  get #former(): string {
    return join(this.folder, 'former');
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
          `the plugins of ${this.#dataDirectory} are just being changed by the process ${pid}; try again when it has ended`,
        );
      if ((await isThere(this.#former)) && !(await isThere(this.#live)))
        await rename(this.#former, this.#live);
      await rm(this.folder, { recursive: true });
      await mkdir(this.folder, { mode: 0o700 });
    }
    await writeFile(holder, String(process.pid));
  }

  /** From a file that stays beside it, so that npm never has to fetch it again. */
  async install({ name, path }: Packed): Promise<void> {
    const file = join('packages', basename(path));
    const former = await this.#fileOf(name);
    if (former !== undefined) await rm(former, { force: true });
    await rename(path, join(this.#plugins, file));
    // A plugin may name `@weir-panel/weir` as a peer, for its types; it gets the panel that runs.
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

  /** What a package was installed from. */
  async #fileOf(name: string): Promise<string | undefined> {
    const [, file] = /^file:(packages\/[^/]+)$/.exec((await installedIn(this.folder))[name] ?? '') ?? [];
    return file === undefined ? undefined : join(this.#plugins, file);
  }

  /** Puts it in the place of the former one. */
  async takeOver(): Promise<void> {
    const hadSome = await isThere(this.#live);
    if (hadSome) await rename(this.#live, this.#former);
    await rename(this.#plugins, this.#live).catch(async (error: unknown) => {
      if (hadSome) await rename(this.#former, this.#live);
      throw error;
    });
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
    // Only when it is empty.
    if (this.#made) await rmdir(this.#dataDirectory).catch(() => undefined);
  }
}
