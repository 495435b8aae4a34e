// Collects "your copy is out of date" for a moment, so that a thousand changes become one message.
import type { Stream } from './stream.js';

export class Invalidations {
  readonly #stream: Stream;
  readonly #resources = new Set<string>();
  /** of which only this panel knows */
  readonly #ours = new Set<string>();

  constructor({ stream }: { stream: Stream }) {
    this.#stream = stream;
  }

  add(resource: string): void {
    if (this.#stream.size > 0) this.#resources.add(resource);
  }

  /** As `add`, for what other panels do not learn by themselves. */
  addOurs(resource: string): void {
    if (!this.#stream.isRead) return;
    this.#resources.add(resource);
    this.#ours.add(resource);
  }

  /** Sends what was collected. A job calls it a few times a second. */
  flush(): void {
    for (const type of this.#resources) this.#stream.invalidate(type, this.#ours.has(type));
    this.#resources.clear();
    this.#ours.clear();
  }
}
