// Reads the bodies of lists in a thread: a document of megabytes is parsed in one piece, which would hold up everybody.
import { Worker } from 'node:worker_threads';
import { SerialQueue } from '../../kernel/index.js';
import { ListProblem } from './list-problem.js';
import type { BodyItem } from './body-items.js';
import type { BodyNews, BodyTask } from './body-worker.js';

/** Entries of one list. */
export const MOST_ENTRIES = 10_000;
const LIMIT_MS = 20_000;
const LIMIT_MB = 384;

export class BodyReader {
  /** One after another: each takes as much memory as a document of 8 MiB needs. */
  readonly #queue = new SerialQueue();

  /** Resolves with the entries, at most `MOST_ENTRIES` and one. Rejects with a ListProblem where the body is no list. */
  read(body: Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<BodyItem[]> {
    return this.#queue.run(() => inThread(body, signal));
  }
}

function inThread(body: Uint8Array<ArrayBuffer>, signal: AbortSignal | undefined): Promise<BodyItem[]> {
  signal?.throwIfAborted();
  const task: BodyTask = { body, most: MOST_ENTRIES };
  const worker = new Worker(new URL('./body-worker.js', import.meta.url), {
    workerData: task,
    transferList: [body.buffer],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: LIMIT_MB },
  });
  return new Promise<BodyItem[]>((resolve, reject) => {
    const items: BodyItem[] = [];
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      void worker.terminate();
      settle();
    };
    const fail = (reason: string): void => end(() => reject(new ListProblem(reason)));
    const stop = (): void => end(() => reject(signal?.reason as Error));
    const timer = setTimeout(() => fail(`reading it takes longer than ${LIMIT_MS / 1000} s`), LIMIT_MS);
    signal?.addEventListener('abort', stop, { once: true });
    worker.on('message', (news: BodyNews) => {
      if ('items' in news) for (const item of news.items) items.push(item);
      else if ('problem' in news) fail(news.problem);
      else end(() => resolve(items));
    });
    worker.on('error', (error: NodeJS.ErrnoException) =>
      fail(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? `reading it takes more than ${LIMIT_MB} MiB of memory`
          : 'the thread that reads it failed',
      ),
    );
    worker.on('exit', () => fail('the thread that reads it ended'));
  });
}
