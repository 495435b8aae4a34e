// Cooperative scheduling: long work yields to other work after a few milliseconds.

/** Longest time to block the event loop in one go. */
const SLICE_MS = 10;

const work: (() => void)[] = [];
/** For work that lets other work go first: however many replies are being written, others get every second slice. */
export const patient: typeof work = [];
const queues = [work, patient];

/** Lets one waiting task run, and then the event loop polls its sockets: many tasks together block no longer than one. */
function resumeNext(): void {
  (queues.reverse()[0]?.shift() ?? queues[1]?.shift())?.();
  if (work.length + patient.length > 0) setImmediate(resumeNext);
}

/** For loops over many items: `if (slice.isOver) await slice.next()` in each round. Before what takes milliseconds in one piece, `await new TimeSlice().next()`: of many such calls that arrive together, one runs in each round of the event loop. */
export class TimeSlice {
  #end = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  /** Resolves when it is this work's turn again. */
  async next(queue = work): Promise<void> {
    await new Promise<void>((resolve) => {
      queue.push(resolve);
      if (work.length + patient.length === 1) setImmediate(resumeNext);
    });
    this.#end = performance.now() + SLICE_MS;
  }
}
