// The control socket of amneziawg-go: text lines `key=value`. Source: wireguard.com/xplatform, "Configuration Protocol".
import { connect, type Socket } from 'node:net';

const FOLDER = '/var/run/amneziawg';
const LIMIT_MS = 5_000;
/** A device has at most 65,536 peers of about 400 bytes. */
const MOST_BYTES = 32 * 1024 * 1024;
const LONGEST_LINE = 16 * 1024;

export const socketOf = (interfaceName: string): string => `${FOLDER}/${interfaceName}.sock`;

/** The program refused an operation; `errno` is that of Linux, negative. */
export class ControlRefusal extends Error {
  override readonly name = 'ControlRefusal';
  readonly errno: number;
  constructor(errno: number) {
    super(`amneziawg-go refuses its settings (errno ${errno})`);
    this.errno = errno;
  }
}

/** Calls back for each line of a reply, without its end. */
type EachLine = (line: string) => void;

function exchange(path: string, request: string, eachLine: EachLine, limit: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let socket: Socket | undefined;
    let [rest, bytes, isDone] = ['', 0, false];
    const finish = (error?: Error): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      socket?.destroy();
      if (error) reject(error);
      else resolve();
    };
    const timer = setTimeout(
      () => finish(new Error(`amneziawg-go does not answer within ${limit / 1000} s`)),
      limit,
    );
    const take = (line: string): void => {
      const [, errno] = /^errno=(-?\d{1,9})$/.exec(line) ?? [];
      if (errno === undefined) eachLine(line);
      else finish(Number(errno) === 0 ? undefined : new ControlRefusal(Number(errno)));
    };
    const read = (chunk: string): void => {
      if (isDone) return;
      if ((bytes += chunk.length) > MOST_BYTES) throw new Error('the reply of amneziawg-go is too long');
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LONGEST_LINE) throw new Error('a line of amneziawg-go is too long');
      for (const line of lines) {
        if (isDone) return;
        take(line);
      }
    };
    socket = connect(path)
      .setEncoding('latin1')
      .on('error', (error) => finish(new Error(`amneziawg-go cannot be reached: ${error.message}`)))
      .on('close', () => finish(new Error('amneziawg-go closed its control socket')))
      .on('data', (chunk) => {
        try {
          read(String(chunk));
        } catch (error) {
          finish(error as Error);
        }
      });
    socket.write(request);
  });
}

/** Talks to the process behind one interface. */
export class ControlSocket {
  readonly #path: string;
  readonly #limit: number;

  constructor(path: string, limit = LIMIT_MS) {
    this.#path = path;
    this.#limit = limit;
  }

  /** Passes each line of the settings and peers to the listener. */
  get(eachLine: EachLine): Promise<void> {
    return exchange(this.#path, 'get=1\n\n', (line) => line !== '' && eachLine(line), this.#limit);
  }

  /** Applies lines `key=value`, all in one operation. Rejects with ControlRefusal; lines before the refused one may be in force then. */
  async set(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    // A line break would be a line of its own, a blank line the end of the operation.
    const broken = lines.find((line) => !/^[a-z0-9_]+=[\x20-\x7e]*$/.test(line));
    if (broken !== undefined)
      throw new Error(
        `a value for amneziawg-go is not text of one line: ${JSON.stringify(broken.slice(0, 40))}`,
      );
    await exchange(this.#path, `set=1\n${lines.join('\n')}\n\n`, () => {}, this.#limit);
  }
}
