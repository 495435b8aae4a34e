// How this panel was installed: whether it can update itself, and which keys root trusts.
import { access, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOutcome, OUTCOME, PACKAGE_KEY, MOST_EXCHANGED, type UpdateOutcome } from './exchange-files.js';
import { type PublicKey, readPublicKeys } from './minisign.js';

/** `<app>/dist/plugins/updates/` */
const HERE = fileURLToPath(new URL('.', import.meta.url));
const MANIFEST = new URL('../../../package.json', import.meta.url);
/** As `install.sh` places it: `<root>/releases/<version>/app/…` */
const INSTALLED = /^(.+)\/releases\/[^/]+\/app\/dist\/plugins\/updates\/$/;
const CONTAINER = ['/.dockerenv', '/run/.containerenv'];
const SYSTEMD = '/run/systemd/system';

export interface UpdateConfig {
  readonly root?: string | undefined;
  readonly key?: string | undefined;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** A file that another user may have made large. Undefined where there is none. */
async function readSmall(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_EXCHANGED + 1), 0, MOST_EXCHANGED + 1, 0);
    return bytesRead > MOST_EXCHANGED ? undefined : buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

export class ThisInstallation {
  /** the folder with the releases; undefined where no package is installed */
  readonly root: string | undefined;
  readonly #config: UpdateConfig;

  constructor({ config }: { readonly config: UpdateConfig }) {
    this.#config = config;
    this.root = config.root ?? INSTALLED.exec(HERE)?.[1];
  }

  async version(): Promise<string> {
    return (JSON.parse(await readFile(MANIFEST, 'utf8')) as { version: string }).version;
  }

  /** Of the running package; blank where nothing says it. */
  async commit(): Promise<string> {
    if (this.root === undefined) return '';
    const about = await readSmall(join(this.root, 'current', 'VERSION'));
    return /"commit": "([0-9a-f]{7,64})"/.exec(about ?? '')?.[1] ?? '';
  }

  /** What to do instead, where the panel cannot update itself; undefined where it can. */
  async whyNot(): Promise<string | undefined> {
    const isOverridden = this.#config.root !== undefined;
    if (this.root !== undefined && (isOverridden || (await isThere(SYSTEMD)))) return undefined;
    if ((await Promise.all(CONTAINER.map(isThere))).includes(true))
      return 'this panel runs in a container: fetch the new image, and start a new container from it with the same data folder (docs/install.md)';
    return this.root === undefined
      ? 'this panel was not installed from the package for Linux: update a checkout with `git pull` and `npm start`, and a container with its image'
      : 'systemd does not run here, and it starts the installation: run install.sh --no-start of the new package, and restart the panel';
  }

  /** The keys that root trusts: of /etc/weir.env, else that of the installed package. */
  async machineKeys(): Promise<PublicKey[]> {
    if (this.#config.key !== undefined) return readPublicKeys(this.#config.key);
    if (this.root === undefined) return [];
    return readPublicKeys((await readSmall(join(this.root, 'current', PACKAGE_KEY))) ?? '');
  }

  /** The keys of an index: of the environment, of the setting, of the package. */
  async keys(setting: string): Promise<PublicKey[]> {
    if (this.#config.key === undefined && setting !== '') return readPublicKeys(setting);
    return this.machineKeys();
  }

  /** What root did for the last request; undefined where there was none. */
  async outcome(): Promise<UpdateOutcome | undefined> {
    if (this.root === undefined) return undefined;
    const content = await readSmall(join(this.root, OUTCOME));
    return content === undefined ? undefined : readOutcome(content);
  }
}
