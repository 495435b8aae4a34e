// Unix sockets on which an inbound may listen. The core makes two files, the socket and `<path>.lock`, which it empties
// if it is there (Xray-core 26.3.27, transport/internet/system_listener.go); so both must be nobody else's.
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { OWN_TAG_PREFIX } from './contract.js';

/** Bytes that a socket's path has room for (sun_path of Linux and macOS), without `.lock`. */
const LONGEST = 100;

const isBelow = (folder: string, path: string): boolean => {
  const rest = relative(folder, path);
  return rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest);
};
const real = (path: string): Promise<string> => realpath(path).catch(() => path);

export class SocketFolders {
  readonly #folders: readonly string[];
  readonly #dataDirectory: string;

  constructor(folders: readonly string[], dataDirectory: string) {
    this.#folders = folders.map((folder) => resolve(folder));
    this.#dataDirectory = resolve(dataDirectory);
  }

  /** Resolves with the reason why an inbound must not listen there; undefined when it may. */
  async problem(listen: string): Promise<string | undefined> {
    if (Buffer.byteLength(listen) > LONGEST) return `a Unix socket has at most ${LONGEST} bytes`;
    // Abstract names are no files; anybody on this machine may connect to them.
    if (listen.startsWith('@'))
      return listen.replace(/^@@?/, '').startsWith(OWN_TAG_PREFIX)
        ? `names that begin with @${OWN_TAG_PREFIX} belong to the panel; choose another`
        : undefined;
    const path = listen.replace(/,\d+$/, '');
    if (resolve(path) !== path) return `${path} must be written as ${resolve(path)}`;
    const folder = await realpath(dirname(path)).catch(() => undefined);
    if (folder === undefined) return `the folder ${dirname(path)} does not exist; create it`;
    const place = join(folder, basename(path));
    if (isBelow(this.#dataDirectory, path) || isBelow(await real(this.#dataDirectory), place))
      return `${path} is in the panel's data folder; choose another folder`;
    const allowed = [...this.#folders, ...(await Promise.all(this.#folders.map(real)))];
    if (!allowed.some((one) => isBelow(one, place) && one !== place))
      return `${path} is outside the folders for sockets (${this.#folders.join(', ')}); choose one of them, or name its folder in WEIR_SOCKET_DIRS and restart the panel`;
    const [there, lock] = await Promise.all(
      [place, `${place}.lock`].map((one) => lstat(one).catch(() => undefined)),
    );
    if (there && !there.isSocket()) return `${path} is a file; choose another name`;
    return lock && !(lock.isFile() && lock.size === 0)
      ? `${path}.lock is in the way: the core would empty it; choose another name`
      : undefined;
  }
}
