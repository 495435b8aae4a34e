// Cooperative scheduling: long work yields to other work after a few milliseconds.

/** Longest time to block the event loop in one go. */
const SLICE_MS = 10;

const waiting: (() => void)[] = [];

/** Lets one waiting task run, and then the event loop polls its sockets: many tasks together block no longer than one. */
function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** For loops over many items: `if (slice.isOver) await slice.next()` in each round. */
export class TimeSlice {
  #end = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  /** Resolves when it is this work's turn again. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(resumeNext);
    });
    this.#end = performance.now() + SLICE_MS;
  }
}
