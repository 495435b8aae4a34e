// Work on one thing, one after another, in the order it was asked for.

export class Lane {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** A lane per key; lanes of different keys run beside each other. */
export class Lanes<K> {
  readonly #lanes = new Map<K, Lane>();

  run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(key) ?? new Lane();
    this.#lanes.set(key, lane);
    return lane.run(work);
  }
}
