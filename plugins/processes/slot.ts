// A place for one process: how it is marked, recorded, found again, and kept from running twice.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ProcessSlot, ProgramCall, RunningProcess, SlotOptions } from './contract.js';
import { carries, commandLine, isAlive, processesWith } from './identity.js';
import { type Recorded, RecordFile } from './record.js';
import { OneProcess } from './running.js';

/** Variable in the environment of every process that is started here. */
const MARK = 'MANAGED_BY_WEIR';

export class Slot<N extends object> implements ProcessSlot<N> {
  readonly #file: RecordFile<N>;
  readonly #argument: string | undefined;
  readonly #log: SlotOptions<N>['log'];

  constructor({ record, isNote, argument, log }: SlotOptions<N>) {
    this.#file = new RecordFile(record, isNote);
    this.#argument = argument;
    this.#log = log;
  }

  async recorded(): Promise<{ readonly note: N; readonly pid: number; readonly alive: boolean } | undefined> {
    const recorded = await this.#load();
    return recorded && { note: recorded.note, pid: recorded.identity.pid, alive: isAlive(recorded.identity) };
  }

  async adopt(): Promise<RunningProcess<N> | undefined> {
    const recorded = await this.#load();
    if (recorded === undefined || !isAlive(recorded.identity)) return undefined;
    const { pid } = recorded.identity;
    if (!(await this.#isOurs(pid))) {
      this.#log.warn('the recorded process is not one of ours; leaving it alone', {
        pid,
        record: this.#file.path,
      });
      return undefined;
    }
    return OneProcess.watch(this.#file, recorded);
  }

  async endStrays(): Promise<number> {
    const recorded = await this.#load();
    // Then the marked processes belong to it.
    if (recorded !== undefined && isAlive(recorded.identity)) return 0;
    const mark = await this.#mark().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    // Without the folder, nothing has been started in it.
    if (!mark) return 0;
    const strays = await processesWith(mark);
    for (const identity of strays) {
      this.#log.warn('found a process of ours without a record; killing it', { pid: identity.pid });
      // This record is only for `kill`; it is not saved.
      await OneProcess.watch(this.#file, { identity, startedAt: 0, note: {} as N }).kill();
    }
    return strays.length;
  }

  async start(call: ProgramCall, note: N): Promise<RunningProcess<N>> {
    const previous = await this.adopt();
    if (previous !== undefined) {
      previous.release();
      throw new Error(
        `a process (pid ${previous.identity.pid}) is in ${this.#file.path} and already runs; adopt or stop it first`,
      );
    }
    const { variable } = await this.#mark();
    const env = { ...call.env, [MARK]: variable.slice(MARK.length + 1) };
    return OneProcess.start({ ...call, env }, this.#file, note);
  }

  forget(): Promise<void> {
    return this.#file.remove();
  }

  #load(): Promise<Recorded<N> | undefined> {
    return this.#file.load((reason) =>
      this.#log.warn('cannot read the record of a process; if it still runs, it is not adopted', {
        path: this.#file.path,
        reason,
      }),
    );
  }

  /** Uses the folder's inode, not its path: a container may have a folder with the same path, and we see its processes. */
  async #mark(): Promise<{ readonly variable: string; readonly argument: string | undefined }> {
    const { dev, ino } = await stat(dirname(this.#file.path), { bigint: true });
    const name = this.#file.path.slice(dirname(this.#file.path).length + 1);
    return { variable: `${MARK}=${dev}-${ino}-${name}`, argument: this.#argument };
  }

  async #isOurs(pid: number): Promise<boolean> {
    const carried = await carries(pid, await this.#mark());
    // Its mark cannot be read, but pid, start time and boot are those of the record.
    if (carried ?? true) return true;
    // It was started by a version of the panel without marks.
    return this.#argument !== undefined && (await commandLine(pid)).includes(this.#argument);
  }
}
