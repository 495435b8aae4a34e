// A part of the load in a process of its own, so that none of them waits for another. It answers each question with what it
// has seen since the last one.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Seen {
  /** ms from when a request was due until it was answered */
  readonly latencies: readonly number[];
  /** what went well: requests, messages, exchanges */
  readonly done: number;
  /** what did not, each as a sentence */
  readonly failures: readonly string[];
}

export class LoadChild<More = unknown> {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** `file` is a module beside this one. Resolves when the load runs. */
  static async start<Start, More = unknown>(file: string, start: Start): Promise<LoadChild<More>> {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)));
    const load = new LoadChild<More>(child);
    await load.#ask({ start });
    return load;
  }

  /** One question at a time. */
  #ask(question: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const child = this.#child;
      const answered = (answer: unknown): void => {
        child.off('exit', ended);
        resolve(answer);
      };
      const ended = (): void => {
        child.off('message', answered);
        reject(new Error(`${child.spawnargs.at(-1)} ended by itself`));
      };
      child.once('message', answered);
      child.once('exit', ended);
      child.send(question);
    });
  }

  tell(): Promise<Seen & More> {
    return this.#ask({ tell: true }) as Promise<Seen & More>;
  }
  /** Ends what is under way in good order, and tells the rest. */
  finish(): Promise<Seen & More> {
    return this.#ask({ finish: true }) as Promise<Seen & More>;
  }
  stop(): void {
    this.#child.kill('SIGKILL');
  }
}

/** What a child does; `tell` gives what came since it was last asked. */
export interface LoadPart<Start> {
  start(options: Start): Promise<void>;
  tell(): Seen;
  finish(): Promise<void>;
}

/** Runs in the child. */
export function serve<Start>(part: LoadPart<Start>): void {
  process.on('message', async (question: { start?: Start; finish?: boolean }) => {
    if (question.start) await part.start(question.start);
    if (question.finish) await part.finish();
    process.send?.(part.tell());
  });
  process.once('disconnect', () => process.exit());
}

/** Keeps what has happened since the last question. */
export class Tally {
  #latencies: number[] = [];
  #failures: string[] = [];
  #done = 0;

  did(ms?: number): void {
    this.#done += 1;
    if (ms !== undefined) this.#latencies.push(ms);
  }
  failed(why: string): void {
    this.#failures.push(why);
  }
  take(): Seen {
    const seen = { latencies: this.#latencies, failures: this.#failures, done: this.#done };
    this.#latencies = [];
    this.#failures = [];
    this.#done = 0;
    return seen;
  }
}

/** Calls `work` so many times a second, whether or not the last one has ended; resolves when all have, after `stop`. */
export function pace(perSecond: number, work: (n: number) => Promise<void>): { stop: () => Promise<void> } {
  const running = new Set<Promise<void>>();
  const began = performance.now();
  let n = 0;
  const timer = setInterval(() => {
    for (const due = ((performance.now() - began) * perSecond) / 1000; n < due; ) {
      const one: Promise<void> = work(n++).finally(() => running.delete(one));
      running.add(one);
    }
  }, 10);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
