// Files of certificates: key and chain of one order lie in one folder, and a link names the folder that is in use. Moving
// the link is one step, so that nobody ever finds the key of one certificate beside the chain of another.
import { randomBytes } from 'node:crypto';
import {
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { replaceFile, syncFolder } from '../../kernel/index.js';
import { CERTIFICATE_FOLDER, type CertificatePaths } from './contract.js';
import type { Pem } from './pair-files.js';

const [CHAIN, KEY, CURRENT, PANEL] = ['fullchain.pem', 'privkey.pem', 'current', 'panel'];
/** Links to an admin's own files, in a folder for each pair. No certificate's folder has this name: theirs end with digits. */
const PANEL_FILES = 'panel-files';
/** Names of folders are made here; anything else in a row of the database is not followed. */
const FOLDER = /^[a-z0-9][a-z0-9.-]{0,120}$/;
const MOST_BYTES = 1024 * 1024;
/** As the system follows them. */
const MOST_LINKS = 40;

export const newFolder = (begin: string): string =>
  `${begin.slice(0, 100).replace(/[^a-z0-9]+$/, '')}-${randomBytes(6).toString('hex')}`;

/** Moves a symbolic link, in one step. */
async function link(target: string, path: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await symlink(target, draft);
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new Error(`${path} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

export class CertificateFolders {
  readonly #root: string;

  constructor({ dataDirectory }: { dataDirectory: string }) {
    this.#root = join(dataDirectory, CERTIFICATE_FOLDER);
  }

  #of(folder: string, ...rest: readonly string[]): string {
    for (const name of [folder, ...rest.slice(0, 1)])
      if (!FOLDER.test(name)) throw new Error(`${name} is not a folder of a certificate`);
    return join(this.#root, folder, ...rest);
  }

  /** Paths that stay the same when the certificate is renewed. */
  paths(folder: string): CertificatePaths {
    return { certificate: this.#of(folder, CURRENT, CHAIN), key: this.#of(folder, CURRENT, KEY) };
  }

  /** Resolves when the key of an order is on the disk. */
  async begin(folder: string, order: string, key: string): Promise<void> {
    await mkdir(this.#of(folder, order), { recursive: true, mode: 0o700 });
    await replaceFile(this.#of(folder, order, KEY), key, 0o600);
    await syncFolder(this.#of(folder));
    await syncFolder(this.#root);
  }

  /** Undefined when it is not there. */
  async #read(folder: string, order: string, name: string): Promise<string | undefined> {
    const path = this.#of(folder, order, name);
    try {
      const file = await open(path, 'r');
      try {
        if ((await file.stat()).size > MOST_BYTES) throw new Error(`${path} is too large`);
        return await readFile(file, 'utf8');
      } finally {
        await file.close();
      }
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  keyOf(folder: string, order: string): Promise<string | undefined> {
    return this.#read(folder, order, KEY);
  }

  /** Key and chain of an order; undefined until both are there. */
  async pairOf(folder: string, order: string): Promise<Pem | undefined> {
    const [cert, key] = [await this.#read(folder, order, CHAIN), await this.#read(folder, order, KEY)];
    return cert === undefined || key === undefined ? undefined : { cert, key };
  }

  /** Writes the chain beside its key, then puts both in use. */
  async publish(folder: string, order: string, chain: string): Promise<void> {
    await replaceFile(this.#of(folder, order, CHAIN), chain, 0o600);
    await link(order, this.#of(folder, CURRENT));
    await syncFolder(this.#of(folder));
  }

  /** The order whose files are in use; empty when none are. */
  async current(folder: string): Promise<string> {
    try {
      const order = await readlink(this.#of(folder, CURRENT));
      return FOLDER.test(order) ? order : '';
    } catch {
      return '';
    }
  }

  /** Serves the panel with this certificate from its next start on. */
  async usePanel(folder: string): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await link(join(folder, CURRENT), join(this.#root, PANEL));
    await syncFolder(this.#root);
  }

  /** The folder of the certificate that the panel uses at its next start; empty when none. */
  async panel(): Promise<string> {
    try {
      return (await readlink(join(this.#root, PANEL))).split('/')[0] ?? '';
    } catch {
      return '';
    }
  }

  /** Serves the panel with an admin's own files from its next start on. */
  async usePanelFiles({ certificate, key }: CertificatePaths): Promise<void> {
    const pair = join(PANEL_FILES, randomBytes(6).toString('hex'));
    const folder = join(this.#root, pair);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await symlink(certificate, join(folder, CHAIN));
    await symlink(key, join(folder, KEY));
    await syncFolder(folder);
    await link(pair, join(this.#root, PANEL));
    await syncFolder(this.#root);
    for (const name of await readdir(join(this.#root, PANEL_FILES)))
      if (join(PANEL_FILES, name) !== pair)
        await rm(join(this.#root, PANEL_FILES, name), { recursive: true, force: true });
  }

  /** The own files that the panel uses at its next start; undefined when it uses none, or another certificate. */
  async panelFiles(): Promise<CertificatePaths | undefined> {
    if ((await this.panel()) !== PANEL_FILES) return undefined;
    try {
      const folder = join(this.#root, PANEL);
      return { certificate: await readlink(join(folder, CHAIN)), key: await readlink(join(folder, KEY)) };
    } catch {
      // Somebody has removed them by hand.
      return { certificate: '', key: '' };
    }
  }

  /** Whether the path lies in this folder, or leads through it. */
  async holds(path: string): Promise<boolean> {
    const root = await realpath(this.#root).catch(() => this.#root);
    for (let at = path, links = 0; links < MOST_LINKS; links++) {
      const folder = await realpath(dirname(at)).catch(() => dirname(resolve(at)));
      if (folder === root || folder.startsWith(root + sep)) return true;
      const target = await readlink(at).catch(() => undefined);
      if (target === undefined) return false;
      at = resolve(folder, target);
    }
    return false;
  }

  async leavePanel(): Promise<void> {
    await rm(join(this.#root, PANEL), { force: true });
  }

  /** Removes the files of all orders but those in use and those of `keep`. */
  async sweep(folder: string, keep: ReadonlySet<string>): Promise<void> {
    const current = await this.current(folder);
    const names = await readdir(this.#of(folder)).catch(() => []);
    for (const name of names) {
      const isLink = name === CURRENT || (await lstat(this.#of(folder, name))).isFile();
      if (!isLink && name !== current && !keep.has(name))
        await rm(this.#of(folder, name), { recursive: true, force: true });
    }
  }

  async remove(folder: string): Promise<void> {
    await rm(this.#of(folder), { recursive: true, force: true });
  }
}
