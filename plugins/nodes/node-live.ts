// The live message `nodes`: the whole tree after each round of heartbeats, for those who watch.
import type { LiveOutput, LiveType } from '../realtime/contract.js';

export class NodeLive {
  #output: LiveOutput | undefined;
  #list: () => unknown = () => [];

  /** `list` is what readers get. */
  type(list: () => unknown): LiveType {
    this.#list = list;
    return { type: 'nodes', snapshot: list, start: (output) => void (this.#output = output) };
  }

  beaten(): void {
    this.#output?.send(this.#list);
  }
  /** A record was changed: pages fetch the list again. */
  changed(): void {
    this.#output?.invalidate('nodes');
    this.beaten();
  }
}
