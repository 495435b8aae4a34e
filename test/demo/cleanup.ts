// Stops what the demo started, in reverse order, also after an error or Ctrl-C.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export class Cleanup {
  readonly #work: (() => Promise<unknown>)[] = [];
  #done: Promise<void> | undefined;
  readonly #onSignal = (): void => void this.#run().finally(() => process.exit(130));

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  add(work: () => Promise<unknown>): void {
    this.#work.push(work);
  }

  #run(): Promise<void> {
    this.#done ??= (async () => {
      for (const work of this.#work.reverse())
        await work().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    })();
    return this.#done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run();
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}
