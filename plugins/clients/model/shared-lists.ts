// Lists of ids of inbounds. Most clients share theirs with many others, and its memory.

export class SharedLists {
  /** by their text, `1,3` */
  readonly #known = new Map<string, readonly number[]>();

  /** Returns the ids sorted, each once. */
  of(inboundIds: readonly number[]): readonly number[] {
    const sorted = [...new Set(inboundIds)].sort((a, b) => a - b);
    const text = sorted.join();
    const known = this.#known.get(text);
    if (known) return known;
    this.#known.set(text, sorted);
    return sorted;
  }

  /** The list of a text such as `1,3`, in any order. */
  read(text: string): readonly number[] {
    return this.#known.get(text) ?? this.of(text.split(',').filter(Boolean).map(Number));
  }
}
