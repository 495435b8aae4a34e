// A load balancer as small as can be: asks each panel for its readiness, and sends callers to those that are ready in turn.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PanelProcess } from '../../../test/harness/panel-process.js';

const LOOK_MS = 200;

export class Balancer {
  readonly #panels = new Map<PanelProcess, boolean>();
  readonly #over = new AbortController();
  readonly #looking: Promise<void>;
  #turn = 0;

  constructor() {
    this.#looking = this.#look();
  }

  /** The status of the panel's readiness; 0 where nobody answers. */
  static async statusOf(panel: PanelProcess): Promise<number> {
    // As most balancers: by the address, with a connection for each look.
    return fetch(`${panel.url}/readyz`, { headers: { connection: 'close' } }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status;
      },
      () => 0,
    );
  }

  async #look(): Promise<void> {
    while (!this.#over.signal.aborted) {
      for (const panel of this.#panels.keys())
        this.#panels.set(panel, (await Balancer.statusOf(panel)) === 200);
      await sleep(LOOK_MS);
    }
  }

  add(panel: PanelProcess): void {
    this.#panels.set(panel, false);
  }
  remove(panel: PanelProcess): void {
    this.#panels.delete(panel);
  }

  get ready(): readonly PanelProcess[] {
    return [...this.#panels].filter(([, isReady]) => isReady).map(([panel]) => panel);
  }

  /** The panel for the next caller. */
  async next(): Promise<PanelProcess> {
    for (;;) {
      const { ready } = this;
      const panel = ready[this.#turn++ % Math.max(1, ready.length)];
      if (panel) return panel;
      if (this.#over.signal.aborted) throw new Error('no panel is ready');
      await sleep(20);
    }
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#looking;
  }
}
