// How much runs at once; the rest waits in its order.

export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((go) => this.#waiting.push(go));
    try {
      return await work();
    } finally {
      // A slot goes directly to the one that waits longest.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
