// The way from the command line into a running panel: a Unix socket that only its owner can open. One line of JSON
// asks, lines of JSON answer, the last one has the exit code.
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Terminal } from './run.js';

export interface Channel {
  /** Waits for commands under way, but not for ever. */
  close(): Promise<void>;
}
type Run = (argv: readonly string[], terminal: Terminal, signal: AbortSignal) => Promise<number>;
type Line = { readonly say: string } | { readonly complain: string } | { readonly exit: number };

/** sun_path holds 104 bytes at least, with its final zero. */
const SOCKET_PATH_LIMIT = 103;
const MOST_ASKED = 64 * 1024;
const ASKED_WITHIN_MS = 5_000;
const LAST_WORDS_MS = 3_000;

/** Calls with a name of the socket that is short enough, which may last only as long as the call's promise. */
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

/** For who holds the folder's lock: whatever lies there is of a panel that is gone. */
export async function openChannel(directory: string, run: Run): Promise<Channel> {
  await rm(join(directory, 'panel.sock'), { force: true });
  const open = new Set<Socket>();
  const running = new Set<Promise<void>>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
    const work = serve(socket, run).finally(() => running.delete(work));
    running.add(work);
  });
  return withSocketPath(directory, async (path, release) => {
    // The socket is bound within the call, so nobody else's files get this mode.
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

async function serve(socket: Socket, run: Run): Promise<void> {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const argv = await asked(socket);
  if (!argv) return void socket.destroy();
  const write = (line: Line): void => void (socket.writable && socket.write(`${JSON.stringify(line)}\n`));
  const exit = await run(
    argv,
    { say: (say) => write({ say }), complain: (complain) => write({ complain }) },
    gone.signal,
  ).catch(() => 1);
  write({ exit });
  socket.end();
}

/** The words of the one line that is sent; undefined when it does not come, or is something else. */
async function asked(socket: Socket): Promise<readonly string[] | undefined> {
  let text = '';
  socket.setEncoding('utf8').setTimeout(ASKED_WITHIN_MS, () => socket.destroy());
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (text.includes('\n') || text.length > MOST_ASKED) break;
    }
    socket.setTimeout(0);
    const { argv } = JSON.parse(text) as { argv?: unknown };
    return Array.isArray(argv) && argv.every((word) => typeof word === 'string') ? argv : undefined;
  } catch {
    return undefined;
  }
}

/** Lets the panel of this folder run it. Resolves with the exit code; undefined when no panel listens. */
export async function askPanel(
  directory: string,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number | undefined> {
  return withSocketPath(directory, async (path, release) => {
    const socket = connect(path);
    try {
      await once(socket, 'connect');
      socket.write(`${JSON.stringify({ argv })}\n`);
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
    throw new Error('the panel ended before the command did; its log says why');
  }).catch((error: unknown) => {
    // No folder, no panel.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
}
