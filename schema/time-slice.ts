// Long work in one process: whoever has worked for a few milliseconds lets the others have their turn.

/** How long the event loop may be kept at a stretch. */
const SLICE_MS = 10;

const waiting: (() => void)[] = [];

/** One of those who wait, and then the event loop looks at its sockets: many long works at once are no longer a stall than one. */
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
