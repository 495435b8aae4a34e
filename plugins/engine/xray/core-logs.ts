// The log files of a core: followed, read from their end, and cut.
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { SerialQueue } from '../../../kernel/index.js';
import { cutLog, finishCut, type LogLimits, olderLog, sizeOf } from '../../processes/contract.js';
import type { LoggedConnection, LogLine } from '../driver.js';
import { AccessLog } from './access-log.js';
import type { DriverLog, EngineFolder } from './folder.js';
import { readLog } from './log-line.js';
import type { NameMark } from './name-mark.js';

type Folder = Pick<EngineFolder, 'access' | 'error' | 'output'>;

/** More than any setting keeps. */
const MOST_OLDER = 100;

export class CoreLogs {
  readonly #folder: Folder;
  readonly #log: Pick<DriverLog, 'warn'>;
  readonly #accesses: AccessLog;
  readonly #names: NameMark;
  /** Who reads at the end of a cut would miss lines, or read some twice. */
  readonly #queue = new SerialQueue();
  readonly #cuts = new SerialQueue();
  /** of places in the log of connections: another driver begins again at 0 */
  readonly #epoch = randomBytes(6).toString('hex');
  /** bytes of the log of connections that were cut off: the place where its file begins */
  #cutOff = 0;

  constructor(folder: Folder, log: Pick<DriverLog, 'warn'>, names: NameMark) {
    this.#folder = folder;
    this.#log = log;
    this.#names = names;
    this.#accesses = new AccessLog(folder.access, names);
  }

  /** Followers of a core that is about to start get no lines of earlier ones. */
  followFromEnd(): Promise<void> {
    return this.#queue.run(async () => {
      await finishCut(this.#folder.access, MOST_OLDER);
      this.#accesses.begin(await sizeOf(this.#folder.access));
    });
  }

  /** Followers of an adopted core get the log from its beginning, with the part that was cut off last. */
  followFromBeginning(): Promise<void> {
    return this.#queue.run(async () => {
      await finishCut(this.#folder.access, MOST_OLDER);
      this.#accesses.begin(0, [{ number: 1, position: 0 }]);
    });
  }

  readConnections(listener: (batch: readonly LoggedConnection[]) => void): Promise<void> {
    return this.#queue.run(() => this.#accesses.read(listener));
  }

  readLog(listener: (line: LogLine, place: number) => boolean): Promise<void> {
    return this.#queue.run(() =>
      readLog(olderAfter(this.#folder.access), this.#names, listener, this.#cutOff),
    );
  }

  end(): Promise<{ readonly epoch: string; readonly at: number }> {
    return this.#queue.run(async () => ({
      epoch: this.#epoch,
      at: this.#cutOff + (await sizeOf(this.#folder.access)),
    }));
  }

  /** Cuts the logs that are over the limit. */
  trim(limits: LogLimits): Promise<void> {
    return this.#cuts.run(async () => {
      const { access, error, output } = this.#folder;
      for (const path of [access, error, output]) {
        // Between two looks a log grows beyond its limit; that part is kept, too.
        const wide = { olderBytes: 2 * limits.maxBytes, ...limits };
        const cut = await cutLog(path, wide, (work) =>
          this.#queue.run(async () => {
            const done = work();
            if (path === access) {
              this.#accesses.wasCut(done, limits.keep);
              this.#cutOff += done.lost + (done.isKept ? statSync(olderLog(path, 1)).size : 0);
            }
            return done;
          }),
        );
        if (cut?.reason)
          this.#log.warn('a log of the core was emptied, and what it had could not be kept', {
            file: path,
            reason: cut.reason,
          });
      }
    });
  }
}

/** The names of a log and its older parts, newest first; without an end, as readers stop at the first that is missing. */
function* olderAfter(path: string): Generator<string> {
  for (let number = 0; number <= MOST_OLDER; number++) yield olderLog(path, number);
}
