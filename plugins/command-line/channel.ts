// The channel from the command line to a running panel: a Unix socket that only its owner can open. The request is one
// line of JSON, the reply is lines of JSON, the last with the exit code. The request contains a secret from a file of mode
// 0600, because a program of the same user that forwards foreign bytes, such as a proxy core, could reach the socket.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { sameSecret } from '../../kernel/index.js';
import type { Terminal } from './run.js';

export interface Channel {
  /** How long a stop waits for running commands. */
  close(): Promise<void>;
}
type Run = (
  argv: readonly string[],
  terminal: Terminal,
  caller: { readonly folder: string; readonly signal: AbortSignal },
) => Promise<number>;
type Line = { readonly say: string } | { readonly complain: string } | { readonly exit: number };

/** sun_path has room for at least 104 bytes, with its final zero. */
const SOCKET_PATH_LIMIT = 103;
const SECRET_FILE = 'panel.secret';
const SECRET_BYTES = 32;
const MOST_ASKED = 64 * 1024;
const ASKED_WITHIN_MS = 5_000;
const LAST_WORDS_MS = 3_000;

/** Calls with a short enough path of the socket, which exists only until the promise of the call settles. */
async function withSocketPath<T>(
  directory: string,
  use: (path: string, hold: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const path = join(directory, 'panel.sock');
  if (Buffer.byteLength(path) <= SOCKET_PATH_LIMIT) return use(path, async () => undefined);
  const folder = await open(directory);
  try {
    return await use(`/proc/self/fd/${folder.fd}/panel.sock`, () => folder.close());
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Removes the previous file first, so that its mode or a link in its place has no effect. */
async function newSecret(directory: string): Promise<string> {
  const path = join(directory, SECRET_FILE);
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  await rm(path, { force: true });
  await writeFile(path, secret, { mode: 0o600, flag: 'wx' });
  return secret;
}

/** The caller must hold the folder's lock: then existing files are left over from a stopped panel. */
export async function openChannel(directory: string, run: Run): Promise<Channel> {
  await rm(join(directory, 'panel.sock'), { force: true });
  const secret = await newSecret(directory);
  const open = new Set<Socket>();
  const running = new Set<Promise<void>>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
    const work = serve(socket, secret, run).finally(() => running.delete(work));
    running.add(work);
  });
  return withSocketPath(directory, async (path, release) => {
    // The socket is bound within the call, so no other file gets this mode.
    const before = process.umask(0o177);
    try {
      server.listen(path);
    } finally {
      process.umask(before);
    }
    await once(server, 'listening');
    return {
      close: async () => {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        await Promise.race([
          Promise.all(running),
          new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref()),
        ]);
        for (const socket of open) socket.destroy();
        await closed;
        await release();
      },
    };
  });
}

async function serve(socket: Socket, secret: string, run: Run): Promise<void> {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const question = await asked(socket);
  // A caller without the secret gets no reply.
  if (!question || !sameSecret(question.secret, secret)) return void socket.destroy();
  const write = (line: Line): void => void (socket.writable && socket.write(`${JSON.stringify(line)}\n`));
  const exit = await run(
    question.argv,
    { say: (say) => write({ say }), complain: (complain) => write({ complain }) },
    { folder: question.folder, signal: gone.signal },
  ).catch(() => 1);
  write({ exit });
  socket.end();
}

interface Question {
  readonly secret: string;
  readonly argv: readonly string[];
  /** absolute path of the folder of the caller */
  readonly folder: string;
}

/** The line of the request; undefined when it does not come or is invalid. */
async function asked(socket: Socket): Promise<Question | undefined> {
  let text = '';
  socket.setEncoding('utf8').setTimeout(ASKED_WITHIN_MS, () => socket.destroy());
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (text.includes('\n') || text.length > MOST_ASKED) break;
    }
    socket.setTimeout(0);
    const { secret, argv, folder } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const isWhole = Array.isArray(argv) && argv.every((word) => typeof word === 'string');
    return typeof secret === 'string' && isWhole
      ? { secret, argv, folder: typeof folder === 'string' && isAbsolute(folder) ? folder : '/' }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Runs a command in the panel of this folder. Resolves with the exit code; undefined when no panel listens. */
export async function askPanel(
  directory: string,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number | undefined> {
  return withSocketPath(directory, async (path, release) => {
    const socket = connect(path);
    try {
      await once(socket, 'connect');
      const secret = await readFile(join(directory, SECRET_FILE), 'utf8').catch((cause: unknown) => {
        throw new Error(
          `${join(directory, SECRET_FILE)} cannot be read; restart the panel to write it again`,
          {
            cause,
          },
        );
      });
      socket.write(`${JSON.stringify({ secret, argv, folder: process.cwd() })}\n`);
      for await (const text of createInterface(socket)) {
        const line = JSON.parse(text) as Line;
        if ('exit' in line) return line.exit;
        if ('say' in line) terminal.say(line.say);
        else terminal.complain(line.complain);
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined;
      if (code === 'EACCES')
        throw new Error(`the panel of ${directory} belongs to another user; run this as that user`, {
          cause: error,
        });
      throw error;
    } finally {
      socket.destroy();
      await release();
    }
    throw new Error('the panel exited before the command was done; its log says why');
  }).catch((error: unknown) => {
    // Without the folder there is no panel.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
}
