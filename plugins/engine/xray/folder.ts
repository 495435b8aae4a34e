// The engine's directory: paths of its files, and how they are written.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../../kernel/index.js';

/** sun_path holds 108 bytes with its final zero. */
const SOCKET_PATH_LIMIT = 107;
const TEMPORARY = 'tmp-';
const TEMPORARY_AGE_MS = 10 * 60_000;
const SHORT_FOLDER = 'weir-';

export interface DriverLog {
  debug(message: string, data?: object): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
}

export class EngineFolder {
  readonly path: string;
  readonly config: string;
  readonly recordPath: string;
  readonly access: string;
  readonly error: string;
  readonly output: string;
  /** see name-mark.ts */
  readonly mark: string;
  /** path of the API's socket unless it would be too long */
  readonly usualSocket: string;

  /** @param path absolute */
  constructor(path: string) {
    this.path = path;
    this.config = join(path, 'config.json');
    this.recordPath = join(path, 'core.json');
    this.access = join(path, 'access.log');
    this.error = join(path, 'error.log');
    this.output = join(path, 'stdout.log');
    this.mark = join(path, 'name-mark');
    this.usualSocket = join(path, 'api.sock');
  }

  /** Creates the directory and logs, private, and removes half-written files of a killed panel. */
  async prepare(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    // the core would create them with another mode
    for (const log of [this.access, this.error]) await (await open(log, 'a', 0o600)).close();
    for (const name of await readdir(this.path)) {
      if (!name.startsWith(TEMPORARY)) continue;
      const path = join(this.path, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
      // Older than this process: of a killed one. The age is for a clock that was set back meanwhile.
      if (mtimeMs < performance.timeOrigin || Date.now() - mtimeMs > TEMPORARY_AGE_MS)
        await rm(path, { force: true });
    }
  }

  /** Whether a process listens on the socket here, whatever core.json says. */
  socketAnswers(): Promise<boolean> {
    return new Promise((resolve) => {
      const connection = connect(this.usualSocket);
      connection.once('error', () => resolve(false));
      connection.once('connect', () => {
        connection.destroy();
        resolve(true);
      });
    });
  }

  /** Returns a free path for the api socket; in a short private directory when the path here is too long for a socket. */
  async socket(): Promise<string> {
    // the core reads what follows a comma as the socket's mode
    if (Buffer.byteLength(this.usualSocket) <= SOCKET_PATH_LIMIT && !this.usualSocket.includes(',')) {
      await this.removeSocket(this.usualSocket);
      return this.usualSocket;
    }
    return join(await mkdtemp(join(tmpdir(), SHORT_FOLDER)), 'api.sock');
  }

  /** Removes the socket of a stopped core: with it the next core would not start. */
  async removeSocket(socket: string): Promise<void> {
    await rm(socket, { force: true });
    await rm(`${socket}.lock`, { force: true });
    const folder = dirname(socket);
    if (folder !== this.path && basename(folder).startsWith(SHORT_FOLDER))
      await rm(folder, { recursive: true, force: true });
  }

  /** Calls `use` with unique names of temporary files, and removes these afterwards. */
  async withTemporary<T>(endings: readonly string[], use: (...paths: string[]) => Promise<T>): Promise<T> {
    const id = randomUUID();
    const paths = endings.map((ending) => join(this.path, `${TEMPORARY}${id}${ending}`));
    try {
      return await use(...paths);
    } finally {
      for (const path of paths) await rm(path, { force: true });
    }
  }

  /** Writes a private file atomically. Rejects with an error that names it. */
  async write(path: string, content: Iterable<string>): Promise<void> {
    await this.withTemporary(['.new'], async (draft = '') => {
      const file = await open(draft, 'wx', 0o600);
      try {
        await writeFile(file, content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
    }).catch((cause: unknown) => {
      // The content is composed while it is written, and may be rejected.
      if ((cause as NodeJS.ErrnoException).syscall === undefined) throw cause;
      throw new Error(`${path} cannot be written: ${messageOf(cause)}`, { cause });
    });
  }
}
