// Work that must not overlap: one piece after another, in the order it was asked for.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all that was asked for before has ended, well or not. Answers as the work does; its failure is the caller's alone. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when all that was asked for until now has ended; never rejects. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

/** A serial queue for each key; work under different keys runs at the same time. A key without work costs nothing. */
export class KeyedQueue<K> {
  readonly #queues = new Map<K, { readonly queue: SerialQueue; waiting: number }>();

  run<T>(key: K, work: () => T | Promise<T>): Promise<T> {
    const entry = this.#queues.get(key) ?? { queue: new SerialQueue(), waiting: 0 };
    this.#queues.set(key, entry);
    entry.waiting++;
    return entry.queue.run(async () => {
      try {
        return await work();
      } finally {
        if (--entry.waiting === 0) this.#queues.delete(key);
      }
    });
  }

  /** Number of keys with work. */
  get size(): number {
    return this.#queues.size;
  }
}
