// Hosts that callers name: each may be called only while somebody waits for its answer.

export class CalledHosts {
  /** by host, how many calls */
  readonly #calls = new Map<string, number>();

  /** for `hosts` of an `OutgoingAccess` */
  readonly list = (): readonly string[] => [...this.#calls.keys()];

  /** The host is in the list until the work is over. */
  async during<T>(host: string, work: () => Promise<T>): Promise<T> {
    this.#calls.set(host, (this.#calls.get(host) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#calls.get(host) ?? 1) - 1;
      if (left > 0) this.#calls.set(host, left);
      else this.#calls.delete(host);
    }
  }
}
