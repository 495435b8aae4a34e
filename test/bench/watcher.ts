// Asks one URL without pause, from a process of its own: what keeps us busy here is not to count.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export class Watcher {
  readonly #child = fork(fileURLToPath(new URL('./stall-process.js', import.meta.url)));

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#child.send({ url, headers });
  }
  /** The longest wait for an answer since the last question, in ms. */
  async longest(): Promise<number> {
    this.#child.send({});
    const [longest] = (await once(this.#child, 'message')) as [number];
    return longest;
  }
  stop(): void {
    this.#child.kill();
  }
}
